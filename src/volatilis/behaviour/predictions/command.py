"""Where the results of `volatilis predict` go."""

from __future__ import annotations

from volatilis.behaviour.predictions.analysis import Analysis
from volatilis.behaviour.predictions.outputs import write_hypotheses, write_people
from volatilis.behaviour.predictions.terminal import show


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


def save_figure(figure: object, path: str) -> None:
    """PNG, SVG or PDF, by the ending; whole or not at all."""
    import pathlib

    from volatilis.tables.writing import whole_file

    ending = pathlib.Path(path).suffix.lstrip(".").lower()
    if ending not in ("png", "svg", "pdf"):
        raise ValueError(f"{path}: a picture's name ends in .png, .svg or .pdf")
    with whole_file(path) as file:
        figure.savefig(file, format=ending, dpi=130)  # type: ignore[attr-defined]
