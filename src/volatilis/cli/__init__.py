"""The command line: arguments only, one file per command; the work is done elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis._core.terminal import stopped_by_signals
from volatilis.cli.changes import calibrate, changes
from volatilis.cli.compare import compare
from volatilis.cli.design import design
from volatilis.cli.environment import environment
from volatilis.cli.errors import reported_anywhere
from volatilis.cli.fit import fit
from volatilis.cli.help import Command
from volatilis.cli.lists import families, learners, responses
from volatilis.cli.paper import paper
from volatilis.cli.predict import predict
from volatilis.cli.recover import recover
from volatilis.cli.run import run
from volatilis.cli.separate import separate
from volatilis.cli.watch import watch

app = typer.Typer(
    help="Learning in volatile environments: tell noise from change, observation by observation.",
    epilog="Exit codes: 0 done; 2 wrong arguments or input, nothing was written; 3 watch: no line was good; "
    "130 stopped with Ctrl-C, 143 with SIGTERM, 129 with SIGHUP; 141 the reader of standard output went away.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        print(f"volatilis {version('volatilis')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Learning in volatile environments: tell noise from change, observation by observation."""


app.command(cls=Command)(run)
app.command(cls=Command)(environment)
app.command(cls=Command)(separate)
app.command(cls=Command)(watch)
app.command(cls=Command)(changes)
app.command(cls=Command)(calibrate)
app.command(cls=Command)(learners)
app.command(cls=Command)(families)
app.command(cls=Command)(fit)
app.command(cls=Command)(responses)
app.command(cls=Command)(compare)
app.command(cls=Command)(recover)
app.command(cls=Command)(paper)
app.command(cls=Command)(predict)
app.command(cls=Command)(design)


def main() -> None:
    """The command `volatilis`."""
    with stopped_by_signals(), reported_anywhere():
        app()
