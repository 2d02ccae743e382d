"""The measures that a table can get for each learner: names, units and what they mean, in words that can be cited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from volatilis.learners._base import Learner
from volatilis.running.steps import defined_readouts
from volatilis.running.traces import DIVERGENCES
from volatilis.surprise import check_divergence


class Measure(NamedTuple):
    """What a column means; `of` says whether it stands for the belief after the outcome or for the outcome given what came
    before."""

    name: str
    units: str
    of: str
    description: str


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("mean", "of the outcome's parameter", "after", "Mean of the belief about the hidden parameter."),
        Measure("variance", "of the outcome's parameter, squared", "after", "Variance of the belief about the hidden parameter."),
        Measure("run_length", "observations", "after", "Expected number of observations since the last change."),
        Measure(
            "bayes_factor_surprise",
            "none",
            "before",
            "Bayes Factor Surprise: probability of the outcome under the prior divided by that under the belief before it.",
        ),
        Measure("log_bayes_factor_surprise", "nats", "before", "Natural logarithm of the Bayes Factor Surprise."),
        Measure(
            "shannon_surprise",
            "nats",
            "before",
            "Minus the logarithm of the outcome's probability given all before, the possibility of a change included.",
        ),
        Measure("adaptation_rate", "none, 0 to 1", "before", "How much the learner forgot at this outcome."),
        Measure(
            "log_predictive",
            "nats",
            "before",
            "Logarithm of the outcome's probability given all before, the possibility of a change included.",
        ),
        Measure(
            "outlier_probability", "none, 0 to 1", "before", "Probability that the outcome is an outlier, which tells nothing."
        ),
        Measure(
            "change_probability",
            "none, 0 to 1",
            "before",
            "Probability of a change before the outcome, where the learner learns it from the outcomes so far.",
        ),
        Measure(
            "bayesian_surprise",
            "nats",
            "before",
            "Kullback-Leibler divergence from the belief before the outcome to the belief after it.",
        ),
        Measure(
            "confidence_corrected_surprise",
            "nats",
            "before",
            "Kullback-Leibler divergence from the belief before the outcome to the scaled likelihood of the outcome.",
        ),
    )
}


class Column(NamedTuple):
    """A computed column: of which learner, which measure, and which element of the parameter (None where there is one)."""

    name: str
    label: str
    measure: str
    element: int | None


def columns_for(label: str, learner: Learner, chosen: Sequence[str] | None) -> list[Column]:
    """The columns of one learner. A measure that it does not define is left out; `check_chosen` says when none does."""
    defined = [*defined_readouts(learner), *(name for name in DIVERGENCES if _divergence(learner, name))]
    if chosen is None:
        quick = set(DIVERGENCES) if _has_one_belief(learner) else set()
        names = [name for name in defined if name not in DIVERGENCES or name in quick]
    else:
        names = [name for name in MEASURES if name in defined and ("all" in chosen or name in chosen)]
    columns = []
    for name in names:
        size = learner.family.size() if name in ("mean", "variance") else 1
        if size == 1:
            columns.append(Column(f"{label}_{name}", label, name, None))
        else:
            columns += [Column(f"{label}_{name}_{k}", label, name, k) for k in range(size)]
    return columns


def left_out(columns: Sequence[Column], label: str, learner: Learner) -> list[str]:
    """The measures that a learner defines and that are not among the columns."""
    present = {column.measure for column in columns if column.label == label}
    return [name for name in DIVERGENCES if name not in present and _divergence(learner, name)]


def check_chosen(chosen: Sequence[str] | None, columns: Sequence[Column]) -> None:
    for name in chosen or ():
        if name != "all" and name not in MEASURES:
            raise ValueError(f"there is no measure {name!r}; accepted are {', '.join(MEASURES)}, and all")
        if name != "all" and all(column.measure != name for column in columns):
            raise ValueError(f"none of the learners defines {name} with this family")


def _divergence(learner: Learner, name: str) -> bool:
    if "gamma" not in learner.readouts():
        return False
    try:
        check_divergence(learner, name)
    except TypeError:
        return False
    return True


def _has_one_belief(learner: Learner) -> bool:
    """Whether divergences have a closed form; those of mixtures take a thousand times as long, so they must be requested."""
    return not learner.is_mixture()
