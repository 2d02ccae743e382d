"""The figures of the paper, and what is new: for each, the data it needs, its caption, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from volatilis.paper import examples, memory, predictions, robustness, steady_state, transient
from volatilis.paper.context import Context
from volatilis.paper.settings import CATEGORICAL, GAUSSIAN
from volatilis.plots import generative_model, heat_maps, summary
from volatilis.plots import memory as memory_plot
from volatilis.plots import predictions as predictions_plot
from volatilis.plots import robustness as robustness_plot
from volatilis.plots import transient as transient_plot

Data = dict[str, Any]


class Figure(NamedTuple):
    """A figure: `needs` names its datasets; `draw(data, figure)` draws it; `size` is in inches."""

    key: str
    title: str
    caption: str
    needs: tuple[str, ...]
    size: tuple[float, float]
    draw: Callable[[Data, Any], None]


class Drawn(NamedTuple):
    """A figure that was drawn: its picture, and how long its data took."""

    figure: Figure
    png: bytes
    seconds: float


SIMULATE: dict[str, Callable[[Context], Any]] = {
    "prediction1": lambda context: predictions.simulate_first(context.size.subjects),
    "prediction2": lambda context: predictions.simulate_second(context.size.subjects),
    "gaussian transient": lambda context: transient.simulate(context, GAUSSIAN),
    "categorical transient": lambda context: transient.simulate(context, CATEGORICAL),
    "memory": memory.simulate,
    "gaussian robustness": lambda context: robustness.simulate(context, GAUSSIAN),
    "categorical robustness": lambda context: robustness.simulate(context, CATEGORICAL),
    "gaussian": lambda context: steady_state.simulate(context, GAUSSIAN),
    "categorical": lambda context: steady_state.simulate(context, CATEGORICAL),
}


def _model(data: Data, figure: Any) -> None:
    generative_model.draw(examples.bridge_example(), figure)


def _transient(task: str) -> Callable[[Data, Any], None]:
    def draw(data: Data, figure: Any) -> None:
        example = examples.gaussian_example() if task == GAUSSIAN else examples.categorical_example()
        transient_plot.draw(data[f"{task} transient"], example, figure)

    return draw


def _originals_after_change(data: Data, figure: Any) -> None:
    transient_plot.draw(data["gaussian transient"], None, figure, transient_plot.NASSAR_LEARNERS)


def _present(data: Any, learners: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in learners if name in data.learner.values)


def _heat_maps(task: str, learners: tuple[str, ...]) -> Callable[[Data, Any], None]:
    def draw(data: Data, figure: Any) -> None:
        present = _present(data[task], learners)
        figure.set_size_inches(*heat_maps.size(present))
        heat_maps.draw(data[task], figure, present)

    return draw


def _summary(task: str) -> Callable[[Data, Any], None]:
    return lambda data, figure: summary.draw(data[task], figure, _present(data[task], summary.LEARNERS))


def _robustness(task: str) -> Callable[[Data, Any], None]:
    return lambda data, figure: robustness_plot.draw(data[f"{task} robustness"], figure)


_AFTER = "Squared error of the estimate n steps after a change, averaged over all changes; bands are standard errors."
_STEADY = (
    "A: mean squared error of Exact Bayes. Other panels: how much larger that of each learner is, averaged over time and seeds."
)
_ALL_CELLS = "One dot per environment: mean squared error above that of Exact Bayes, with the standard error over seeds."
_REGRET = (
    "Mean squared error above that of Exact Bayes with the true change probability, for learners tuned to the one "
    "marked by the red triangle."
)

FIGURES: tuple[Figure, ...] = (
    Figure("1", "A world that changes", "A: the generative model. B: an example.", (), generative_model.SIZE, _model),
    Figure("2", "Gaussian task: after a change", _AFTER, ("gaussian transient",), transient_plot.SIZE, _transient(GAUSSIAN)),
    Figure("3", "Gaussian task: steady state", _STEADY, (GAUSSIAN,), heat_maps.SIZE, _heat_maps(GAUSSIAN, heat_maps.LEARNERS)),
    Figure("4", "Gaussian task: all environments", _ALL_CELLS, (GAUSSIAN,), summary.SIZE, _summary(GAUSSIAN)),
    Figure(
        "5", "Categorical task: after a change", _AFTER, ("categorical transient",), transient_plot.SIZE, _transient(CATEGORICAL)
    ),
    Figure(
        "6",
        "Categorical task: steady state",
        _STEADY,
        (CATEGORICAL,),
        heat_maps.SIZE,
        _heat_maps(CATEGORICAL, heat_maps.LEARNERS),
    ),
    Figure("7", "Categorical task: all environments", _ALL_CELLS, (CATEGORICAL,), summary.SIZE, _summary(CATEGORICAL)),
    Figure("8", "Gaussian task: a wrong p_c", _REGRET, ("gaussian robustness",), robustness_plot.SIZE, _robustness(GAUSSIAN)),
    Figure(
        "9", "Categorical task: a wrong p_c", _REGRET, ("categorical robustness",), robustness_plot.SIZE, _robustness(CATEGORICAL)
    ),
    Figure(
        "10",
        "Prediction 1",
        "Surprise against the absolute prediction error, for predictions that were too large (sign -1) and too small (sign +1) "
        "in absolute value; 20 simulated subjects, bands are standard errors.",
        ("prediction1",),
        predictions_plot.SIZE,
        lambda data, figure: predictions_plot.draw_first(data["prediction1"], figure),
    ),
    Figure(
        "11",
        "Prediction 2",
        "Surprise of observations that belief and prior give the same probability p; 20 simulated subjects.",
        ("prediction2",),
        predictions_plot.SIZE,
        lambda data, figure: predictions_plot.draw_second(data["prediction2"], figure),
    ),
    Figure(
        "S1",
        "The original Nas10 and Nas12: after a change",
        _AFTER,
        ("gaussian transient",),
        transient_plot.SIZE_WITHOUT_EXAMPLE,
        _originals_after_change,
    ),
    Figure(
        "S2",
        "The original Nas10 and Nas12: steady state",
        _STEADY,
        (GAUSSIAN,),
        heat_maps.SIZE,
        _heat_maps(GAUSSIAN, heat_maps.NASSAR_LEARNERS),
    ),
    Figure(
        "memory",
        "Error against memory",
        "Mean squared distance between a learner's estimate and that of Exact Bayes, against the number of hypotheses kept.",
        ("memory",),
        memory_plot.SIZE,
        lambda data, figure: memory_plot.draw(data["memory"], figure),
    ),
)
