"""Where the results of `volatilis predict` go."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

from volatilis.behaviour.predictions.analysis import Analysis
from volatilis.behaviour.predictions.outputs import write_hypotheses, write_people
from volatilis.behaviour.predictions.terminal import show
from volatilis.tables import kind_of
from volatilis.tables.writing import whole_file

PICTURES = ("png", "svg", "pdf")


def deliver(found: Analysis, indicator: str, out: str | None, people: str | None, plot: str | None, quiet: bool) -> None:
    """Tables, picture, and what is shown; where a table goes to standard output, the rest goes to standard error."""
    if out is not None:
        write_hypotheses(out, found)
    if people is not None:
        write_people(people, found)
    if plot is not None:
        from volatilis.plots.observed_predictions import draw

        save_figure(draw(found, indicator), plot)
    if not quiet:
        from rich.console import Console

        show(found, indicator, Console(stderr="-" in (out, people), highlight=False))


def check_outputs(tables: Sequence[str | None], plot: str | None) -> None:
    """Names that cannot be written are said before anything is computed."""
    for path in tables:
        if path is not None and path != "-":
            kind_of(path)
    if plot is not None:
        _picture_kind(plot)


def save_figure(figure: Any, path: str) -> None:
    """PNG, SVG or PDF, by the ending; whole or not at all."""
    with whole_file(path) as file:
        figure.savefig(file, format=_picture_kind(path), dpi=110)


def _picture_kind(path: str) -> str:
    ending = pathlib.Path(path).suffix.lstrip(".").lower()
    if ending not in PICTURES:
        raise ValueError(f"{path}: a picture's name ends in .png, .svg or .pdf")
    return ending
