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
    def log_p(self) -> V:
        """log P(y; pi^(t)): of the observation under the belief before it, if nothing changed."""
        return self._get("log_p")

    @property
    def log_p_0(self) -> V:
        """log P(y; pi^(0)): of the observation under the prior."""
        return self._get("log_p_0")

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

    def _log_predictive(self, asked: str) -> V:
        log_p, log_p_0 = self._get("log_p", asked), self._get("log_p_0", asked)
        return self._shaped(surprise.log_predictive(log_p, log_p_0, self._learner.change_probability()))

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
    return LEARNED + SURPRISES if "gamma" in learner.readouts() else ("mean", "run_length")


class Step(tuple[Any, ...], Readouts[float]):
    """The readouts of one observation, under the names of `Trace`.

    A tuple in the order of `_fields`: mean, variance, run_length, adaptation_rate, log_p, log_p_0. So

        mean, variance, *_ = stream.update(y)

    Where theta has several elements, the first two items are tuples of numbers (`step.mean` and `step.variance` are arrays). What
    a learner does not define is NaN in the tuple, and no attribute. The other readouts are computed from these when asked for.
    """

    __slots__ = ()
    _fields = ("mean", "variance", "run_length", "adaptation_rate", "log_p", "log_p_0")

    def _number(self, name: str) -> Any:
        value = self[_ITEMS[name]]
        return np.array(value) if isinstance(value, tuple) else value

    def _shaped(self, values: float) -> float:
        return float(values)

    def _asdict(self) -> dict[str, float | list[float]]:
        """Every readout by name, first those of `_fields`: floats, and lists where theta has several elements."""
        defined = self.readouts
        names = [n for n in self._fields if n in defined or "log_p" in self._learner.readouts()]
        values = {name: getattr(self, name) for name in dict.fromkeys((*names, *defined))}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def to_json(self) -> str:
        """`_asdict` as one line of JSON. JSON has no NaN and no infinity: they are null."""
        return json.dumps({name: _or_null(value) for name, value in self._asdict().items()}, allow_nan=False)

    def __repr__(self) -> str:
        return f"Step({', '.join(f'{name}={getattr(self, name)!r}' for name in self.readouts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return step_of, (self._learner, tuple(self))


_ITEMS = {"mean": 0, "variance": 1, "run_length": 2, "gamma": 3, "log_p": 4, "log_p_0": 5}
_step_classes: weakref.WeakValueDictionary[Hashable, type[Step]] = weakref.WeakValueDictionary()


def step_class(learner: Learner) -> type[Step]:
    """Step for one learner: the learner is part of the class, so that making a step is making a tuple."""
    key = _identity(learner)
    cls = _step_classes.get(key)
    if cls is None:
        cls = type("Step", (Step,), {"_learner": learner, "__slots__": ()})
        _step_classes[key] = cls
    return cls


def step_of(learner: Learner, items: tuple[object, ...]) -> Step:
    """A step from its items: how a copy is made, also on its way to another process."""
    return step_class(learner)(items)


def _identity(value: object) -> Hashable:
    """A key that is equal only for the same classes and the same numbers: tuples of different classes may be equal."""
    if isinstance(value, tuple):
        return (type(value), *map(_identity, value))
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else (type(value), value)


def _or_null(value: float | list[float]) -> object:
    if isinstance(value, list):
        return [_or_null(item) for item in value]
    return value if math.isfinite(value) else None
