"""`volatilis separate`: can these measures be told apart with these outcomes?"""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported

EXAMPLES = """
Examples:

  volatilis separate trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner merge:n=20,p_c=0.1 --plot apart.png

  volatilis separate design.tsv --family bernoulli:a=2,b=1 --learner varsmile:m=0.05 --learner exact:p_c=0.05
      --measures log_bayes_factor_surprise,shannon_surprise --out pairs.csv

  volatilis separate helicopter.csv.gz --outcome x_t --by subj_num,sigma --reset new_block --prediction b_t
      --family gaussian:sigma=column:sigma,mu_0=150,sigma_0=87 --learner 'nas12*:p_c=0.1' --selections counts.csv
"""

Out = Annotated[str | None, typer.Option(metavar="FILE", help="The table of all pairs; its ending says which kind. -: CSV.")]
Selections = Annotated[str | None, typer.Option(metavar="FILE", help="The trials of the paper's two predictions, counted.")]
Plot = Annotated[str | None, typer.Option(metavar="FILE", help="The picture: .png, .svg or .pdf.")]
Measures = Annotated[str | None, typer.Option(metavar="NAME,...", help="Measures to compare, or all; surprises, if not given.")]
Prediction = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="A person's prediction of the row's outcome, made before it.")
]
Estimate = Annotated[str | None, typer.Option(metavar="COLUMN", help="The same, where it is made after the row's outcome.")]
Confidence = Annotated[str | None, typer.Option(metavar="COLUMN", help="A person's confidence, stated after the row's outcome.")]
Window = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=...",
        help="Which trials the predictions take for alike: theta=1:0.25, spread=0.5:1 or confidence=3:1 (middle and width), "
        "delta=0.1, p=0.0125 (width). In units of sigma_0 but for confidence; may be given several times.",
    ),
]
Effect = Annotated[float, typer.Option(help="How an indicator correlates with the measure it reflects, trial by trial.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no tables: the advice only.")]


def separate(
    table: options.Table,
    family: options.Family,
    learner: options.Learner,
    out: Out = None,
    plot: Plot = None,
    selections: Selections = None,
    by: options.By = None,
    subject: options.Subject = None,
    session: options.Session = None,
    block: options.Block = None,
    outcome: options.Outcome = "outcome",
    trial: options.Trial = None,
    reset: options.Reset = None,
    measures: Measures = None,
    prediction: Prediction = None,
    estimate: Estimate = None,
    confidence: Confidence = None,
    window: Window = None,
    effect: Effect = 0.2,
    missing: options.Missing = "error",
    categories: options.Categories = None,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    quiet: Quiet = False,
) -> None:
    """Can these measures be told apart? Before anyone is scanned: which measures and learners these outcomes separate."""
    with reported("separate"):
        from volatilis._core.progress import one_bar
        from volatilis.separation import Question, parse_window, separate, terminal, writing
        from volatilis.tables import check_outputs

        check_outputs({"--out": out, "--selections": selections}, plot, table)
        roles = (subject, session, block)
        order = options.order_from(
            table, family, learner, by, outcome, trial, reset, measures, missing, categories, seed, workers, *roles
        )
        question = Question(prediction, estimate, confidence, parse_window(window or ()), effect)
        with one_bar(f"comparing over {table}", quiet) as progress:
            found = separate(order, question, progress)
        if out is not None:
            writing.write_pairs(found, out)
        if selections is not None:
            writing.write_selections(found, selections)
        if plot is not None:
            writing.write_picture(found, plot)
        if out != "-" and selections != "-":
            terminal.show(found, quiet)


separate.__doc__ = f"{separate.__doc__}\n\n{EXAMPLES}"
