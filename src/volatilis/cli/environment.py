"""`volatilis environment`: noise, prior and change probability from a table of outcomes alone."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples
from volatilis.cli.options import with_groups

EXAMPLES = """
Examples:

  volatilis environment trials.csv --family gaussian --by subject --out environment.json --plot p_c.png

  volatilis environment trials.csv --family gaussian:sigma=10 --family exponential --by subject,block

  volatilis run trials.csv --environment environment.json --learner merge:n=20 --out surprise.csv

  volatilis run trials.csv --family gaussian:auto --learner merge:n=20,p_c=auto --out surprise.csv
"""


@with_groups
def environment(
    *,
    table: options.Table,
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="What is observed, such as gaussian or gaussian:sigma=10; parameters that are not given are estimated. Several "
            "are compared; if none is given, all that are possible for these outcomes."
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="The learner whose predictions are the evidence, such as varsmile:m=unknown; nearly exact if not given."
        ),
    ] = None,
    p_c: Annotated[float | None, typer.Option(help="The change probability, where it is known.")] = None,
    method: Annotated[str, typer.Option(help="map (maximum a posteriori, weak priors) or ml (maximum evidence).")] = "map",
    check: Annotated[bool, typer.Option("--check/--no-check", help="Check the one-step errors of the best family.")] = True,
    out: Annotated[str | None, typer.Option(metavar="OUT.json", help="A file for --environment of other commands.")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="OUT.png", help="A picture of the profile of p_c: .png, .pdf or .svg.")
    ] = None,
    trials: options.TrialOptions,
    quiet: options.Quiet = False,
) -> None:
    """What environment made these outcomes? Parameters with errors, what the data cannot tell, and whether the family fits."""
    with reported("environment"):
        from volatilis.estimation import Environments
        from volatilis.tables import check_outputs, save_figure
        from volatilis.trials.sequences import EnvironmentRequest, environment_of

        check_outputs({"--out": out}, plot, table, (".json",))
        if out is not None and not out.endswith(".json"):
            raise ValueError(f"--out {out}: not accepted; an environment is a JSON file, such as environment.json")
        request = EnvironmentRequest(trials.reading(table), tuple(family or ()), learner, p_c, method, check)
        result = environment_of(request)
        best = result.best if isinstance(result, Environments) else result
        if plot is not None:
            save_figure(best.plot("p_c" if p_c is None else best.estimates[0].name), plot)
        if out is not None:
            best.save(out)
        if not quiet:
            print(result)


environment.__doc__ = with_examples(environment.__doc__, EXAMPLES)
