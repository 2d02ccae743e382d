"""Commands of volatilis, run in this process. As processes of their own: `processes`."""

from __future__ import annotations

from typing import NamedTuple

from typer.testing import CliRunner

from volatilis.cli import app


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def volatilis(*words: object, width: int | None = None) -> Done:
    """A command that prints into a pipe, so many columns wide if given; an exception that it does not handle is raised."""
    environment = {"COLUMNS": None if width is None else str(width)}  # None: it is not set, whatever the terminal of the tests
    result = CliRunner(env=environment).invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def succeeded(done: Done) -> str:
    """What a command that went well told on standard error."""
    assert done.exit_code == 0, done.output
    return done.stderr


def refused(done: Done) -> str:
    """Why a command refused its input."""
    assert done.exit_code == 2, f"exit code {done.exit_code}: {done.output}"
    return done.stderr
