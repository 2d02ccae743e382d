"""`volatilis learners`, `families` and `responses`, `--version` and `--help`."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import subprocess
import sys
import termios

import pytest

from tests.helpers.command_line import volatilis
from tests.helpers.processes import COMMAND
from volatilis.cli import app

wide = functools.partial(volatilis, width=200)


@pytest.mark.parametrize("words", ["families", "learners", "responses"])
def test_lists_read_whole_at_80_columns(words: str) -> None:
    """No line is longer, and every word that stands in a wide list stands in this one, in the same order."""
    code, narrow, _ = volatilis(words, width=80)
    assert code == 0
    assert max(map(len, narrow.splitlines())) <= 80
    assert "…" not in narrow
    assert narrow.split() == volatilis(words, width=1000)[1].split()


def test_lists_read_whole_on_a_terminal_of_80_columns() -> None:
    import pty

    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 80))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen([*COMMAND, "families"], stdout=follower, stdin=follower, env=environment) as process:
        os.close(follower)
        shown = b""
        with contextlib.suppress(OSError):  # where the other end is closed
            while piece := os.read(leader, 4096):
                shown += piece
        assert process.wait(60) == 0
    os.close(leader)
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    assert max(map(len, text.splitlines())) <= 80
    assert text.split() == volatilis("families", width=1000)[1].split()


def test_lists() -> None:
    code, out, _ = wide("learners")
    assert code == 0
    for word in ("merge", "exact-bayes", "nas12-star", "p_c: a number above 0 and below 1", "cutoff", "1e-16 if not given"):
        assert word in out
    code, out, _ = wide("families")
    assert code == 0
    for word in ("gaussian", "categorical", "sigma_0: a finite number above 0; 1.0 if not given", "y ~ N(mu, sigma^2)"):
        assert word in out
    assert "Written contaminated:FAMILY:...;p_o=..." in out
    assert "Also called ar." in out


def test_forms_in_lists_are_accepted() -> None:
    """What a list says of how to write what is made of another: with a name in place of the placeholder it is parsed."""
    from volatilis import catalogue

    for names, parse, example in (
        (
            catalogue.FAMILIES.built_in,
            catalogue.parse_family,
            "FAMILY:...",
        ),
        (catalogue.LEARNERS.built_in, catalogue.parse_learner, "LEARNER:..."),
    ):
        inner = "bernoulli:a=2" if example.startswith("FAMILY") else "merge:n=3"
        forms = [form for name in names if (form := catalogue.form(name)) is not None]
        assert len(forms) == 2
        for form in forms:
            text = form.replace(example, inner).replace("p_o=...", "p_o=0.1").replace("contexts=...", "contexts=2")
            text = text if "unknown" in text or example.startswith("FAMILY") else text.replace("n=3", "n=3,p_c=0.1")
            assert "..." not in text
            assert parse(text).inner is not None


def test_a_list_whose_reader_goes_away() -> None:
    with subprocess.Popen([*COMMAND, "learners"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_version_and_help() -> None:
    from importlib.metadata import version

    assert wide("--version") == (0, f"volatilis {version('volatilis')}\n", "")
    for words in (["--help"], ["run", "--help"], ["learners", "--help"]):
        code, out, _ = wide(*words)
        assert code == 0
        assert "Usage" in out
    assert "volatilis run trials.csv" in wide("run", "--help")[1]


def test_all_help_reads_whole_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.main import get_command
    from typer.testing import CliRunner

    monkeypatch.setenv("COLUMNS", "80")
    for name in ("", *get_command(app).commands):
        shown = CliRunner().invoke(app, [*filter(None, [name]), "--help"])
        assert shown.exit_code == 0
        for line in shown.output.splitlines():
            assert len(line) <= 80, (name, line)
            assert "…" not in line
            assert not re.search(r"[a-z]\.\.\.$", line), (name, line)  # the list of commands is not cut
            assert not re.search(r"<(bool|str|int|float|list|path)", line), (name, line)
        options = [opt for p in (get_command(app).commands[name].params if name else []) for opt in p.opts if not p.hidden]
        for option in options:
            assert option in shown.output or not option.startswith("-"), (name, option)


def test_options_are_named_as_their_parameters() -> None:
    """A metavar that is a parameter's name in capitals becomes the option's name in Typer up to 0.27: --OUT instead of --out."""
    from typer.main import get_command

    commands = get_command(app).commands
    assert {"run", "watch", "fit", "design", "predict", "paper"} <= set(commands)
    for command in commands.values():
        for parameter in command.params:
            if parameter.opts[0].startswith("--"):
                assert parameter.metavar != parameter.name.upper(), (command.name, parameter.name)


def test_help_imports_next_to_nothing() -> None:
    """So that it answers at once."""
    heavy = ("numpy", "numba", "matplotlib", "pandas", "pyarrow", "scipy", "xarray")
    code = f"import sys, volatilis, volatilis.cli; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
