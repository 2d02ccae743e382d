"""The readouts of one observation (`Step`), and what they have in common with those of a sequence."""

from __future__ import annotations

import json
import math
import weakref
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

import numpy as np

from volatilis import surprise
from volatilis.learners._base import Learner

V = TypeVar("V", float, np.ndarray)  # a readout of one observation, of a sequence
SURPRISES = ("bayes_factor_surprise", "log_bayes_factor_surprise", "shannon_surprise", "adaptation_rate", "log_predictive")
LEARNED = ("mean", "variance", "run_length")


class Readouts(Generic[V]):
    """The measures that follow from log P(y; pi^(t)), log P(y; pi^(0)) and gamma. Subclasses hold the numbers."""

    __slots__ = ()
    _learner: Learner

    @property
    def bayes_factor_surprise(self) -> V:
        """S_BF of the observation under the belief before it; infinite beyond 1e308, its logarithm never."""
        return self._shaped(surprise.bayes_factor_surprise(self._get("log_p", "bayes_factor_surprise"), self._get("log_p_0")))

    @property
    def log_bayes_factor_surprise(self) -> V:
        """log S_BF; finite also where S_BF is not."""
        return self._shaped(
            surprise.log_bayes_factor_surprise(self._get("log_p", "log_bayes_factor_surprise"), self._get("log_p_0"))
        )

    @property
    def shannon_surprise(self) -> V:
        """-log P(y | all before) in nats, the possibility of a change included."""
        return -self._log_predictive("shannon_surprise")

    @property
    def log_predictive(self) -> V:
        """log P(y | all before), the possibility of a change included."""
        return self._log_predictive("log_predictive")

    @property
    def adaptation_rate(self) -> V:
        """gamma: how much the learner forgot."""
        return self._get("gamma", "adaptation_rate")

    @property
    def outlier_probability(self) -> V:
        """P(y is an outlier | all before, and y) = p_o Q(y) / P(y | all before), where the family has outliers."""
        self._has_outliers("outlier_probability")
        return self._shaped(np.exp(self._number("log_outlier") - self._log_predictive("outlier_probability")))

    @property
    def change_probability(self) -> V:
        """The p_c that the learner reckoned with before the observation, where it learns p_c (`Averaged`)."""
        return self._get("change_probability")

    @property
    def log_p(self) -> V:
        """log P(y; pi^(t)): of the observation under the belief before it, if nothing changed."""
        return self._get("log_p")

    @property
    def log_p_0(self) -> V:
        """log P(y; pi^(0)): of the observation under the prior."""
        return self._get("log_p_0")

    @property
    def log_outlier(self) -> V:
        """log p_o Q(y): of the observation as an outlier, where the family has outliers."""
        self._has_outliers("log_outlier")
        return self._number("log_outlier")

    @property
    def mean(self) -> V | np.ndarray:
        """E[theta] after the observation."""
        return self._get("mean")

    @property
    def variance(self) -> V | np.ndarray:
        """Var[theta] after the observation."""
        return self._get("variance")

    @property
    def run_length(self) -> V:
        """The expected number of observations since the last change."""
        return self._get("run_length")

    def _get(self, name: str, asked: str = "") -> V:
        if name not in self._learner.readouts():
            raise AttributeError(undefined(self._learner, asked or name))
        return self._number(name)

    def _has_outliers(self, asked: str) -> None:
        if not self._learner.family.splits():
            family = type(self._learner.family).__name__
            raise AttributeError(f"{family} has no outliers, so no {asked}; volatilis.Contaminated(family, p_o) has")

    def _log_predictive(self, asked: str) -> V:
        log_p, log_p_0 = self._get("log_p", asked), self._get("log_p_0", asked)
        learned = self._learner.learns_change_probability()
        p_c = self._number("change_probability") if learned else self._learner.change_probability()
        return self._shaped(surprise.log_predictive(log_p, log_p_0, p_c))

    def _number(self, name: str) -> V:
        raise NotImplementedError

    def _shaped(self, values: V) -> V:
        """What NumPy made of this object's numbers, as its own kind."""
        raise NotImplementedError

    @property
    def readouts(self) -> tuple[str, ...]:
        """The names of the readouts that are there."""
        return defined_readouts(self._learner)


def undefined(learner: Learner, name: str) -> str:
    return f"{type(learner).__name__} has no belief, so no {name}; it has {', '.join(defined_readouts(learner))}"


def defined_readouts(learner: Learner) -> tuple[str, ...]:
    """The names of the readouts that a learner defines, the divergences apart."""
    if "gamma" not in learner.readouts():
        return ("mean", "run_length")
    more = (*(("outlier_probability",) if learner.family.splits() else ()),)
    return (*LEARNED, *SURPRISES, *more, *(("change_probability",) if learner.learns_change_probability() else ()))


class Step(tuple[Any, ...], Readouts[float]):
    """The readouts of one observation, under the names of `Trace`.

    A tuple in the order of `_fields`: mean, variance, run_length, adaptation_rate, log_p, log_p_0 (and log_outlier, where
    observations may be outliers). So

        mean, variance, *_ = stream.update(y)

    Where theta has several elements, the first two items are tuples of numbers (`step.mean` and `step.variance` are arrays). What
    a learner does not define is NaN in the tuple, and no attribute. The other readouts are computed from these when asked for.
    A learner that learns p_c (`Averaged`) adds change_probability at the end.

    >>> import volatilis as vl
    >>> step = vl.Stream(vl.VarSMiLe(vl.Gaussian(sigma=0.5, sigma_0=2.0), m=0.1)).update(0.2)
    >>> round(step.mean, 3), round(step.shannon_surprise, 3)
    (0.188, 1.647)
    """

    __slots__ = ()
    _fields: tuple[str, ...] = ("mean", "variance", "run_length", "adaptation_rate", "log_p", "log_p_0")
    _within: int | None = None

    def recent_change(self, within: int | None = None) -> float:
        """P(a change lies within the newest observations): as many as the stream was made for, `Stream(learner, within=50)`."""
        if self._within is None:
            raise AttributeError("a step has a recent_change if its stream was made for it: Stream(learner, within=50)")
        if within not in (None, self._within):
            raise ValueError(f"within = {within!r} is not accepted: the stream was made with within={self._within}")
        return float(self[len(Step._fields)])

    def _number(self, name: str) -> Any:
        value = self[_ITEMS[name]]
        return np.array(value) if isinstance(value, tuple) else value

    def _shaped(self, values: float) -> float:
        return float(values)

    def _asdict(self) -> dict[str, float | list[float]]:
        """Every readout by name, first those of `_fields`: floats, and lists where theta has several elements."""
        defined = self.readouts
        names = [n for n in Step._fields if n in defined or "log_p" in self._learner.readouts()]
        values = {name: getattr(self, name) for name in dict.fromkeys((*names, *defined))}
        if self._within is not None:
            values["recent_change"] = self.recent_change()
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def to_json(self) -> str:
        """`_asdict` as one line of JSON. JSON has no NaN and no infinity: they are null."""
        return json.dumps({name: _or_null(value) for name, value in self._asdict().items()}, allow_nan=False)

    def __repr__(self) -> str:
        recent = "" if self._within is None else f", recent_change={self.recent_change()!r}"
        return f"Step({', '.join(f'{name}={getattr(self, name)!r}' for name in self.readouts)}{recent})"

    def __reduce__(self) -> tuple[Any, ...]:
        return step_of, (self._learner, tuple(self), self._within)


_ITEMS = {"mean": 0, "variance": 1, "run_length": 2, "gamma": 3, "log_p": 4, "log_p_0": 5, "log_outlier": 7}
_ITEMS["change_probability"] = -1
_step_classes: weakref.WeakValueDictionary[Hashable, type[Step]] = weakref.WeakValueDictionary()


def step_class(learner: Learner, within: int | None = None) -> type[Step]:
    """Step for one learner: the learner is part of the class, so that making a step is making a tuple."""
    key = (_identity(learner), within)
    cls = _step_classes.get(key)
    if cls is None:
        recent, learns = () if within is None else ("recent_change",), learner.learns_change_probability()
        more = (recent or ("not_asked",)) + ("log_outlier",) if learner.family.splits() or learns else recent
        fields = (*Step._fields, *more, *(("change_probability",) if learns else ()))
        cls = type("Step", (Step,), {"_learner": learner, "_within": within, "_fields": fields, "__slots__": ()})
        _step_classes[key] = cls
    return cls


def step_of(learner: Learner, items: tuple[object, ...], within: int | None = None) -> Step:
    """A step from its items: how a copy is made, also on its way to another process."""
    return step_class(learner, within)(items)


def _identity(value: object) -> Hashable:
    """A key that is equal only for the same classes and the same numbers: tuples of different classes may be equal."""
    if isinstance(value, tuple):
        return (type(value), *map(_identity, value))
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else (type(value), value)


def _or_null(value: float | list[float]) -> object:
    if isinstance(value, list):
        return [_or_null(item) for item in value]
    return value if math.isfinite(value) else None
