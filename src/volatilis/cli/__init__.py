"""The command line: arguments only, one file per command; the work is done elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis._core.signals import stopped_by_signals
from volatilis.cli.compare import compare
from volatilis.cli.design import design
from volatilis.cli.errors import reported_anywhere
from volatilis.cli.fit import fit
from volatilis.cli.lists import families, learners, responses
from volatilis.cli.paper import paper
from volatilis.cli.predict import predict
from volatilis.cli.recover import recover
from volatilis.cli.run import run
from volatilis.cli.separate import separate
from volatilis.cli.watch import watch

app = typer.Typer(
    help="Learning in volatile environments: tell noise from change, observation by observation.",
    epilog="Exit codes: 0 done; 2 wrong arguments or input, nothing was written; 130 stopped with Ctrl-C, "
    "143 with SIGTERM, 129 with SIGHUP; 141 the reader of standard output went away.",
    no_args_is_help=True,
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


app.command()(run)
app.command()(separate)
app.command()(watch)
app.command()(learners)
app.command()(families)
app.command()(fit)
app.command()(responses)
app.command()(compare)
app.command()(recover)
app.command()(paper)
app.command()(predict)
app.command()(design)


def main() -> None:
    """The command `volatilis`."""
    with stopped_by_signals(), reported_anywhere():
        app()
