"""Where the results of `volatilis predict` go."""

from __future__ import annotations

from volatilis.behaviour.fitting.outputs import save_figure
from volatilis.behaviour.indicators.analysis import Analysis
from volatilis.behaviour.indicators.outputs import write_hypotheses, write_people
from volatilis.behaviour.indicators.terminal import show

DPI = 110


def deliver(found: Analysis, indicator: str, out: str | None, people: str | None, plot: str | None, quiet: bool) -> None:
    """Tables, picture, and what is shown; where a table goes to standard output, the rest goes to standard error."""
    if out is not None:
        write_hypotheses(out, found)
    if people is not None:
        write_people(people, found)
    if plot is not None:
        from volatilis.plots.observed_predictions import draw

        save_figure(draw(found, indicator), plot, DPI)
    if not quiet:
        from volatilis._core.terminal import console_of

        show(found, indicator, console_of(stderr="-" in (out, people)))
