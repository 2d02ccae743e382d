"""The figures of the paper, and what is new: for each, the data it needs, its caption, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from volatilis.paper import examples, memory, predictions, robustness, steady_state, transient
from volatilis.paper.context import Context
from volatilis.paper.settings import CATEGORICAL, GAUSSIAN

Data = dict[str, Any]


class Figure(NamedTuple):
    """A figure: `needs` names its datasets; `draw(data, figure)` draws it; `size(data)` is in inches."""

    key: str
    title: str
    caption: str
    needs: tuple[str, ...]
    size: Callable[[], tuple[float, float]]
    draw: Callable[[Data, Any], None]


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
    from volatilis.plots import generative_model

    generative_model.draw(examples.bridge_example(), figure)


def _model_size() -> tuple[float, float]:
    from volatilis.plots import generative_model

    return generative_model.SIZE


def _transient(task: str) -> Callable[[Data, Any], None]:
    def draw(data: Data, figure: Any) -> None:
        from volatilis.plots import transient as plot

        example = examples.gaussian_example() if task == GAUSSIAN else examples.categorical_example()
        plot.draw(data[f"{task} transient"], example, figure)

    return draw


def _transient_size() -> tuple[float, float]:
    from volatilis.plots import transient as plot

    return plot.SIZE


def _originals_after_change(data: Data, figure: Any) -> None:
    from volatilis.plots import transient as plot

    plot.draw(data["gaussian transient"], None, figure, plot.NASSAR_LEARNERS)


def _originals_after_change_size() -> tuple[float, float]:
    from volatilis.plots import transient as plot

    return plot.SIZE_WITHOUT_EXAMPLE


def _present(data: Any, learners: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in learners if name in data.learner.values)


def _heat_maps(task: str) -> Callable[[Data, Any], None]:
    def draw(data: Data, figure: Any) -> None:
        from volatilis.plots import heat_maps

        learners = _present(data[task], heat_maps.LEARNERS)
        figure.set_size_inches(*heat_maps.size(learners))
        heat_maps.draw(data[task], figure, learners)

    return draw


def _original_heat_maps(data: Data, figure: Any) -> None:
    from volatilis.plots import heat_maps

    figure.set_size_inches(*heat_maps.size(heat_maps.NASSAR_LEARNERS))
    heat_maps.draw(data[GAUSSIAN], figure, heat_maps.NASSAR_LEARNERS)


def _heat_map_size() -> tuple[float, float]:
    from volatilis.plots import heat_maps

    return heat_maps.SIZE


def _summary(task: str) -> Callable[[Data, Any], None]:
    def draw(data: Data, figure: Any) -> None:
        from volatilis.plots import summary

        summary.draw(data[task], figure, _present(data[task], summary.LEARNERS))

    return draw


def _summary_size() -> tuple[float, float]:
    from volatilis.plots import summary

    return summary.SIZE


def _robustness(task: str) -> Callable[[Data, Any], None]:
    def draw(data: Data, figure: Any) -> None:
        from volatilis.plots import robustness as plot

        plot.draw(data[f"{task} robustness"], figure)

    return draw


def _robustness_size() -> tuple[float, float]:
    from volatilis.plots import robustness as plot

    return plot.SIZE


def _prediction(number: int) -> Callable[[Data, Any], None]:
    def draw(data: Data, figure: Any) -> None:
        from volatilis.plots import predictions as plot

        (plot.draw_first if number == 1 else plot.draw_second)(data[f"prediction{number}"], figure)

    return draw


def _prediction_size() -> tuple[float, float]:
    from volatilis.plots import predictions as plot

    return plot.SIZE


def _memory(data: Data, figure: Any) -> None:
    from volatilis.plots import memory as plot

    plot.draw(data["memory"], figure)


def _memory_size() -> tuple[float, float]:
    from volatilis.plots import memory as plot

    return plot.SIZE


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
    Figure("1", "A world that changes", "A: the generative model. B: an example.", (), _model_size, _model),
    Figure("2", "Gaussian task: after a change", _AFTER, ("gaussian transient",), _transient_size, _transient(GAUSSIAN)),
    Figure("3", "Gaussian task: steady state", _STEADY, (GAUSSIAN,), _heat_map_size, _heat_maps(GAUSSIAN)),
    Figure("4", "Gaussian task: all environments", _ALL_CELLS, (GAUSSIAN,), _summary_size, _summary(GAUSSIAN)),
    Figure("5", "Categorical task: after a change", _AFTER, ("categorical transient",), _transient_size, _transient(CATEGORICAL)),
    Figure("6", "Categorical task: steady state", _STEADY, (CATEGORICAL,), _heat_map_size, _heat_maps(CATEGORICAL)),
    Figure("7", "Categorical task: all environments", _ALL_CELLS, (CATEGORICAL,), _summary_size, _summary(CATEGORICAL)),
    Figure("8", "Gaussian task: a wrong p_c", _REGRET, ("gaussian robustness",), _robustness_size, _robustness(GAUSSIAN)),
    Figure(
        "9", "Categorical task: a wrong p_c", _REGRET, ("categorical robustness",), _robustness_size, _robustness(CATEGORICAL)
    ),
    Figure(
        "10",
        "Prediction 1",
        "Surprise against the absolute prediction error, for predictions that were too large (sign -1) and too small (sign +1) "
        "in absolute value; 20 simulated subjects, bands are standard errors.",
        ("prediction1",),
        _prediction_size,
        _prediction(1),
    ),
    Figure(
        "11",
        "Prediction 2",
        "Surprise of observations that belief and prior give the same probability p; 20 simulated subjects.",
        ("prediction2",),
        _prediction_size,
        _prediction(2),
    ),
    Figure(
        "S1",
        "The original Nas10 and Nas12: after a change",
        _AFTER,
        ("gaussian transient",),
        _originals_after_change_size,
        _originals_after_change,
    ),
    Figure(
        "S2",
        "The original Nas10 and Nas12: steady state",
        _STEADY,
        (GAUSSIAN,),
        _heat_map_size,
        _original_heat_maps,
    ),
    Figure(
        "memory",
        "Error against memory",
        "Mean squared distance between a learner's estimate and that of Exact Bayes, against the number of hypotheses kept.",
        ("memory",),
        _memory_size,
        _memory,
    ),
)
