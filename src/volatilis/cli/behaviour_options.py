"""Options of the commands about people's behaviour, and people and models from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from volatilis.cli.options import names

if TYPE_CHECKING:
    from volatilis.behaviour.models import Model
    from volatilis.behaviour.people import People, Source

Family = Annotated[
    str, typer.Option(help="What is observed, such as gaussian:sigma=10,mu_0=150,sigma_0=87; sigma=free is fitted.")
]
Learners = Annotated[
    list[str],
    typer.Option("--learner", help="A learner, such as varsmile:m=free; give two or more, each with its own --learner."),
]
Response = Annotated[
    str, typer.Option(help="How a response comes from the belief, such as gaussian:sd=free or softmax:beta=free.")
]
By = Annotated[str, typer.Option(metavar="COLUMN,...", help="Columns that make a person.")]
Outcome = Annotated[str, typer.Option(metavar="COLUMN", help="What was observed.")]
ResponseColumn = Annotated[str, typer.Option(metavar="COLUMN", help="What the person said or chose.")]
When = Annotated[str, typer.Option(help="Whether the response was given before or after the trial's outcome.")]
Block = Annotated[str | None, typer.Option(metavar="COLUMN", help="Where its value changes the learner starts anew.")]
Reset = Annotated[str | None, typer.Option(metavar="COLUMN", help="Not 0 where a block begins and the learner starts anew.")]
Catch = Annotated[str | None, typer.Option(metavar="COLUMN", help="Not 0 where the mean was shown: learned from, not scored.")]
Missing = Annotated[str, typer.Option(help="A missing outcome: error, elapse (time passes) or skip (no update).")]
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
SLIDERS = ("truncated", "censored")


def models_from(family: str, learners: Sequence[str], response: str) -> list[Model]:
    """One model per learner, with labels that differ."""
    from volatilis.behaviour.models import Model, parse_response
    from volatilis.catalogue import parse_family, parse_learners

    models = [Model(parse_family(family), learner, parse_response(response)) for learner in parse_learners(learners)]
    needs = {frozenset(model.columns()): model.label for model in models}
    if len(needs) > 1:
        first, second = list(needs.values())[:2]
        raise ValueError(f"{first} and {second} need different columns; models that are compared must take the same ones")
    return models


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
    categories: str | None,
    model: Model,
) -> Source:
    """Where trials stand. A response beyond the ends of a slider is an error."""
    from volatilis.behaviour.people import Source

    fields: dict[str, Any] = dict(model.response.fields) if model.response.name in SLIDERS else {}
    low, high = fields.get("low"), fields.get("high")
    bounds = (low, high) if isinstance(low, (int, float)) and isinstance(high, (int, float)) else None
    listed = () if categories is None else names(categories)
    return Source(table, names(by), outcome, response_column, when, block, reset, catch, missing, bounds, listed)


def read(source: Source, model: Model, say: Callable[[str], None]) -> People:
    """People, and a word for each who cannot be fitted."""
    from volatilis.behaviour.people import read_people

    people = read_people(source, model)
    for reason in people.refused.values():
        say(f"left out: {reason}")
    if not people.persons:
        raise ValueError(f"{source.table}: nobody can be fitted: {next(iter(people.refused.values()), 'there is no one')}")
    return people


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
