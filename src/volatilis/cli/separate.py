"""`volatilis separate`: can these measures be told apart with these outcomes?"""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples
from volatilis.cli.options import ConfidenceWindow, OlderWindow, Windows, with_groups

EXAMPLES = """
Examples:

  volatilis separate trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner merge:n=20,p_c=0.1 --plot apart.png

  volatilis separate design.tsv --family bernoulli:a=2,b=1 --learner varsmile:m=0.05 --learner exact:p_c=0.05
      --measures log_bayes_factor_surprise,shannon_surprise --out pairs.csv

  volatilis separate helicopter.csv.gz --outcome x_t --by subj_num,sigma --reset new_block --prediction b_t
      --family gaussian:sigma=column:sigma,mu_0=150,sigma_0=87 --learner 'nas12*:p_c=0.1' --selections counts.csv
"""

Out = Annotated[str | None, typer.Option(metavar="FILE", help="A table of all pairs; its ending sets the format. -: CSV.")]
Selections = Annotated[
    str | None, typer.Option(metavar="FILE", help="A table: how many trials the paper's two predictions can use.")
]
Plot = Annotated[str | None, typer.Option(metavar="FILE", help="A picture: .png, .svg or .pdf.")]
Measures = Annotated[
    str | None, typer.Option(metavar="NAME,...", help="Measures to compare, or all; if not given, the surprises.")
]
Prediction = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="A person's prediction of the row's outcome, made before it.")
]
Estimate = Annotated[str | None, typer.Option(metavar="COLUMN", help="A person's estimate, made after the row's outcome.")]
Confidence = Annotated[str | None, typer.Option(metavar="COLUMN", help="A person's confidence, stated after the row's outcome.")]
Effect = Annotated[float, typer.Option(help="The correlation, trial by trial, of an indicator with the measure it reflects.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no tables, only the advice.")]


@with_groups
def separate(
    *,
    table: options.Table,
    world: options.World,
    learner: options.Learner,
    out: Out = None,
    plot: Plot = None,
    selections: Selections = None,
    trials: options.TrialOptions,
    seed: options.Seed = 0,
    measures: Measures = None,
    prediction: Prediction = None,
    estimate: Estimate = None,
    confidence: Confidence = None,
    windows: Windows,
    confidence_window: ConfidenceWindow = None,
    window: OlderWindow = None,
    effect: Effect = 0.2,
    quiet: Quiet = False,
) -> None:
    """Can these measures be told apart? Before anyone is scanned: which measures and learners these outcomes separate."""
    with reported("separate"):
        from volatilis._core.terminal import one_bar
        from volatilis.separation import SeparateRequest, separate
        from volatilis.separation.display import show
        from volatilis.separation.writing import write
        from volatilis.tables import check_outputs

        check_outputs({"--out": out, "--selections": selections}, plot, table)
        first, second = windows.both(confidence_window, window or ())
        texts = world.settled(learner, lambda: trials.reading(table), quiet)
        request = SeparateRequest(
            trials.request(table, *texts, measures)._replace(seed=seed),
            prediction=prediction,
            estimate=estimate,
            confidence=confidence,
            first_window=first,
            second_window=second,
            effect=effect,
        )
        with one_bar(f"comparing over {table}", quiet) as progress:
            separation = separate(request, progress)
        write(separation, out=out, selections=selections, plot=plot)
        if out != "-" and selections != "-":
            show(separation, quiet)


separate.__doc__ = with_examples(separate.__doc__, EXAMPLES)
