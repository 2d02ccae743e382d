"""The power of an experiment over its numbers of people and trials; a chosen sequence among random ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

COLUMNS = 4
LINES = {"random": style.SOLID, "chosen": style.DASHED}
FEW_TRIALS, MANY_TRIALS = "#9ecae1", "#08306b"
CHOSEN_COLOUR = "#d7191c"
CRITERIA = ("log S_BF apart from S_Sh", "pairs for prediction 1", "spread of p for prediction 2", "score")


class Grid(Protocol):
    """The designs that are compared."""

    @property
    def subjects(self) -> tuple[int, ...]: ...
    @property
    def trials(self) -> tuple[int, ...]: ...


class Power(Protocol):
    """Shares and their intervals: finding x trials x subjects."""

    @property
    def setting(self) -> Grid: ...
    @property
    def findings(self) -> tuple[str, ...]: ...
    @property
    def share(self) -> np.ndarray: ...
    @property
    def low(self) -> np.ndarray: ...
    @property
    def high(self) -> np.ndarray: ...


class Chosen(Protocol):
    """Criteria of a chosen sequence and of random ones."""

    @property
    def criteria(self) -> np.ndarray: ...
    @property
    def random(self) -> np.ndarray: ...
    @property
    def score(self) -> float: ...
    @property
    def scores(self) -> np.ndarray: ...


def draw(powers: Mapping[str, Power], chosen: Chosen | None = None) -> Figure:
    """A panel per finding, a line per number of trials (darker: more), dashed for the chosen sequence; below, the sequences."""
    from matplotlib.figure import Figure

    findings = [name for name in next(iter(powers.values())).findings if not name.endswith("no test")]
    rows, columns = style.grid(len(findings), COLUMNS)
    extra = 0 if chosen is None else 1
    with style.apply():
        figure = Figure(figsize=(3.1 * max(columns, 4 * extra), 2.9 * (rows + extra)), layout="constrained")
        parts = figure.subfigures(1 + extra, 1, height_ratios=[rows, 1][: 1 + extra], squeeze=False)[:, 0]
        axes = parts[0].subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        for axis, finding in zip(axes, findings, strict=False):
            _draw_finding(axis, powers, finding)
        for axis in axes[len(findings) :]:
            axis.set_visible(False)
        parts[0].supxlabel("people", fontsize=10.5)
        parts[0].supylabel("share of experiments", fontsize=10.5)
        handles, labels = axes[0].get_legend_handles_labels()
        parts[0].legend(handles, labels, loc="outside right center", title="trials each")
        if chosen is not None:
            _draw_sequences(parts[1], chosen)
        figure.draw_without_rendering()  # texts are laid out in the fonts of this context
    return figure


def _draw_finding(axis: Axes, powers: Mapping[str, Power], finding: str) -> None:
    mistake = finding.endswith(("refused", "noise"))
    for level in (0.05,) if mistake else (0.8, 0.9):
        axis.axhline(level, color="0.75", linewidth=0.9, zorder=1)
    for kind, power in powers.items():
        k = power.findings.index(finding)
        subjects, trials = np.array(power.setting.subjects), power.setting.trials
        for i, count in enumerate(trials):
            colour = style.blend(FEW_TRIALS, MANY_TRIALS, i / max(len(trials) - 1, 1))
            text = str(count) if kind == "random" else f"{count}, chosen"
            axis.plot(subjects, power.share[k, i], color=colour, linestyle=LINES[kind], marker="o", markersize=3.5, label=text)
            axis.fill_between(subjects, power.low[k, i], power.high[k, i], color=colour, alpha=0.15, linewidth=0)
    axis.set(ylim=(-0.03, 1.03), xticks=next(iter(powers.values())).setting.subjects)
    axis.set_title(finding + (" (wrongly)" if mistake else ""), loc="left", fontsize=9.5)


def _draw_sequences(figure: SubFigure, chosen: Chosen) -> None:
    axes = figure.subplots(1, 4)
    values = [*zip(chosen.random.T, chosen.criteria, strict=True), (chosen.scores, chosen.score)]
    for axis, name, (random, of_design) in zip(axes, CRITERIA, values, strict=True):
        axis.hist(random, bins=24, color="0.75")
        axis.axvline(of_design, color=CHOSEN_COLOUR, linewidth=2.0)
        axis.set_xlabel(name)
        axis.set_yticks([])
    axes[0].set_title("random sequences (grey) and the chosen one (red)", loc="left", fontsize=9.5)
