"""Options of the commands about people's behaviour, and people and models from them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from volatilis.cli.fit import ends
from volatilis.cli.options import names

if TYPE_CHECKING:
    from volatilis.behaviour.models import Model
    from volatilis.behaviour.people import Source
    from volatilis.behaviour.scoring import Person

Family = Annotated[
    str, typer.Option(help="What is observed, such as gaussian:sigma=10,mu_0=150,sigma_0=87; sigma=free is fitted.")
]
Learners = Annotated[
    list[str],
    typer.Option("--learner", help="A learner, such as varsmile:m=free; give two or more, each with its own --learner."),
]
Response = Annotated[str, typer.Option(help="A response model, such as laplace:sd=free,lapse=0.01; see volatilis responses.")]
By = Annotated[str, typer.Option("--by", "--subject", metavar="COLUMN,...", help="Columns that make a person.")]
Outcome = Annotated[str, typer.Option(metavar="COLUMN", help="What was observed.")]
ResponseColumn = Annotated[str, typer.Option(metavar="COLUMN", help="What the person said or chose.")]
When = Annotated[str, typer.Option(help="Whether the response was given before or after the trial's outcome.")]
Block = Annotated[str | None, typer.Option(metavar="COLUMN", help="Where its value changes the learner starts anew.")]
Reset = Annotated[str | None, typer.Option(metavar="COLUMN", help="Not 0 where a block begins and the learner starts anew.")]
Catch = Annotated[str | None, typer.Option(metavar="COLUMN", help="Not 0 where the mean was shown: learned from, not scored.")]
Missing = Annotated[str, typer.Option(help="A missing outcome: error, elapse (time passes) or skip (no update).")]
Trial = Annotated[str | None, typer.Option(metavar="COLUMN", help="Numbers a person's trials; none may come twice.")]
Bounds = Annotated[str | None, typer.Option(metavar="LOW,HIGH", help="Ends of the slider; none may lie beyond.")]
Own = Annotated[list[str] | None, typer.Option(metavar="FILE.py", help="Response models of your own.")]
Categories = Annotated[
    str | None, typer.Option(metavar="NAME,...", help="Names of the categories, in order, where outcomes and choices are texts.")
]
Starts = Annotated[int, typer.Option(min=1, help="Of each search for the best parameters.")]
Seed = Annotated[int, typer.Option(min=0, help="For starts, simulated responses, and learners that sample.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; one per core if not given. The numbers are the same.")]
Store = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Keeps finished fits: the same command goes on where it was stopped.")
]
Scheduler = Annotated[str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler to fit on, such as tcp://host:8786.")]
Plot = Annotated[str | None, typer.Option(metavar="OUT.png", help="A picture; .png, .pdf or .svg.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]
PICTURES = (".png", ".pdf", ".svg")


def models_from(family: str, learners: Sequence[str], response: str, own: Sequence[str] | None) -> list[Model]:
    """One model per learner, with labels that differ."""
    from volatilis.behaviour.models import Model, parse_response
    from volatilis.behaviour.own import load_responses
    from volatilis.catalogue import parse_family, parse_learners

    for path in own or ():
        load_responses(path)
    return [Model(parse_family(family), learner, parse_response(response)) for learner in parse_learners(learners)]


def source_from(
    table: str,
    by: str,
    outcome: str,
    response_column: str,
    when: str,
    block: str | None,
    reset: str | None,
    catch: str | None,
    missing: str,
    bounds: str | None,
    categories: str | None,
    trial: str | None,
) -> Source:
    """Where trials stand."""
    from volatilis.behaviour.people import Source

    listed = () if categories is None else names(categories)
    where = (table, names(by), outcome, response_column, when, block, reset, catch, missing)
    return Source(*where, ends(bounds), listed, trial)


def read(source: Source, models: Sequence[Model], quiet: bool) -> tuple[Person, ...]:
    """People, and a word on standard error for each who cannot be fitted."""
    from volatilis.behaviour.people import read_people

    people = read_people(source, *models)
    if not quiet:
        for name, note in people.notes.items():
            print(f"{name}: {note}", file=sys.stderr)
        for reason in people.refused.values():
            print(f"left out: {reason}", file=sys.stderr)
    if not people.persons:
        raise ValueError(f"{source.table}: nobody can be fitted: {next(iter(people.refused.values()), 'there is no one')}")
    return people.persons


def check_outputs(plot: str | None, quiet: bool, *outputs: str | None) -> None:
    """Before any work is done."""
    if plot is not None and not plot.lower().endswith(PICTURES):
        raise ValueError(f"--plot {plot}: a picture ends in {', '.join(PICTURES)}")
    if quiet and plot is None and all(out is None for out in outputs):
        raise ValueError("--quiet without an output gives nothing: name one, or leave --quiet out")


def save_picture(path: str, draw: Callable[[Any, Any], None], size: tuple[float, float], dataset: Any) -> None:
    """Whole or not at all, without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from volatilis.tables.writing import whole_file

    figure = Figure(size)
    FigureCanvasAgg(figure)
    draw(dataset, figure)
    with whole_file(path) as file:
        figure.savefig(file, format=path.rsplit(".", 1)[1].lower(), dpi=150)
