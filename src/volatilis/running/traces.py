"""What a learner made of a sequence: one array per readout; and of one observation: a step."""

from __future__ import annotations

import json
import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from volatilis import surprise
from volatilis.learners._base import Learner
from volatilis.running.drivers import Outputs

SURPRISES = ("bayes_factor_surprise", "log_bayes_factor_surprise", "shannon_surprise", "adaptation_rate", "log_predictive")
LEARNED = ("mean", "variance", "run_length")
DIVERGENCES = ("bayesian_surprise", "confidence_corrected_surprise")


class _Readouts:
    """The measures that follow from log P(y; pi^(t)), log P(y; pi^(0)) and gamma. Subclasses hold the numbers."""

    __slots__ = ()
    _learner: Learner

    @property
    def bayes_factor_surprise(self) -> Any:
        """S_BF of the observation under the belief before it; infinite beyond 1e308, its logarithm never."""
        return self._shaped(surprise.bayes_factor_surprise(self._get("log_p", "bayes_factor_surprise"), self._get("log_p_0")))

    @property
    def log_bayes_factor_surprise(self) -> Any:
        """log S_BF; finite also where S_BF is not."""
        return self._shaped(
            surprise.log_bayes_factor_surprise(self._get("log_p", "log_bayes_factor_surprise"), self._get("log_p_0"))
        )

    @property
    def shannon_surprise(self) -> Any:
        """-log P(y | all before) in nats, the possibility of a change included."""
        return -self._log_predictive("shannon_surprise")

    @property
    def log_predictive(self) -> Any:
        """log P(y | all before), the possibility of a change included."""
        return self._log_predictive("log_predictive")

    @property
    def adaptation_rate(self) -> Any:
        """gamma: how much the learner forgot."""
        return self._get("gamma", "adaptation_rate")

    @property
    def log_p(self) -> Any:
        """log P(y; pi^(t)): of the observation under the belief before it, if nothing changed."""
        return self._get("log_p")

    @property
    def log_p_0(self) -> Any:
        """log P(y; pi^(0)): of the observation under the prior."""
        return self._get("log_p_0")

    @property
    def mean(self) -> Any:
        """E[theta] after the observation."""
        return self._get("mean")

    @property
    def variance(self) -> Any:
        """Var[theta] after the observation."""
        return self._get("variance")

    @property
    def run_length(self) -> Any:
        """The expected number of observations since the last change."""
        return self._get("run_length")

    def _get(self, name: str, asked: str = "") -> Any:
        if name not in self._learner.readouts():
            raise AttributeError(_undefined(self._learner, asked or name))
        return self._number(name)

    def _log_predictive(self, asked: str) -> Any:
        log_p, log_p_0 = self._get("log_p", asked), self._get("log_p_0", asked)
        return self._shaped(surprise.log_predictive(log_p, log_p_0, self._learner.change_probability()))

    def _number(self, name: str) -> Any:
        raise NotImplementedError

    def _shaped(self, values: Any) -> Any:
        return values

    @property
    def readouts(self) -> tuple[str, ...]:
        """The names of the readouts that are there."""
        return defined_readouts(self._learner)


def _undefined(learner: Learner, name: str) -> str:
    return f"{type(learner).__name__} has no belief, so no {name}; it has {', '.join(defined_readouts(learner))}"


def defined_readouts(learner: Learner) -> tuple[str, ...]:
    """The names of the readouts that a learner defines, the divergences apart."""
    return LEARNED + SURPRISES if "gamma" in learner.readouts() else ("mean", "run_length")


class Step(tuple[Any, ...], _Readouts):
    """The readouts of one observation, under the names of `Trace`.

    A tuple in the order of `_fields`: mean, variance, run_length, adaptation_rate, log_p, log_p_0. So

        mean, variance, *_ = stream.update(y)

    Where theta has several elements, the first two items are tuples of numbers (`step.mean` and `step.variance` are arrays). What
    a learner does not define is NaN in the tuple, and no attribute. The other readouts are computed from these when asked for.
    """

    __slots__ = ()
    _fields = ("mean", "variance", "run_length", "adaptation_rate", "log_p", "log_p_0")
    _size: int

    def _number(self, name: str) -> Any:
        value = self[_ITEMS[name]]
        return np.array(value) if isinstance(value, tuple) else value

    def _shaped(self, values: Any) -> float:
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

    def __hash__(self) -> int:
        return hash(tuple(self))  # not the one that Python 3.14 keeps in a tuple, since native code makes steps

    def __reduce__(self) -> tuple[Any, ...]:
        return step_of, (self._learner, tuple(self))


_ITEMS = {"mean": 0, "variance": 1, "run_length": 2, "gamma": 3, "log_p": 4, "log_p_0": 5}
_step_classes: weakref.WeakValueDictionary[Any, type[Step]] = weakref.WeakValueDictionary()


def step_class(learner: Learner) -> type[Step]:
    """Step for one learner: the learner is part of the class, so that making a step is making a tuple."""
    key = _identity(learner)
    cls = _step_classes.get(key)
    if cls is None:
        cls = type("Step", (Step,), {"_learner": learner, "_size": learner.family.size(), "__slots__": ()})
        _step_classes[key] = cls
    return cls


def step_of(learner: Learner, items: tuple[Any, ...]) -> Step:
    """A step from its items: how a copy is made, also on its way to another process."""
    return step_class(learner)(items)


def _identity(value: Any) -> Any:
    """A key that is equal only for the same classes and the same numbers: tuples of different classes may be equal."""
    if isinstance(value, tuple):
        return (type(value), *map(_identity, value))
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _or_null(value: float | list[float]) -> Any:
    if isinstance(value, list):
        return [_or_null(item) for item in value]
    return value if math.isfinite(value) else None


class Trace(_Readouts):
    """The readouts of a sequence, one array each, index t = observation t.

    After observation t: `mean`, `variance`, `run_length`. Under the belief before it: `bayes_factor_surprise`,
    `log_bayes_factor_surprise`, `shannon_surprise`, `adaptation_rate`, `log_predictive` and, computed when first asked for,
    `bayesian_surprise` and `confidence_corrected_surprise`. Where an observation is missing its surprise is NaN.
    """

    def __init__(
        self,
        learner: Learner,
        outputs: Outputs,
        values: np.ndarray,
        missing: np.ndarray,
        divergences: Callable[[str], np.ndarray],
    ) -> None:
        self._learner, self._outputs, self._divergences = learner, outputs, divergences
        self._values, self._missing = values, missing
        self._computed: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Trace of {len(self)} observations by {self._learner!r}: {', '.join(self.readouts)}"

    @property
    def learner(self) -> Learner:
        """The learner that made it."""
        return self._learner

    @property
    def observations(self) -> np.ndarray:
        """The observations, a missing one as NaN."""
        values = np.array(self._learner.family.as_observed(self._values), dtype=float)
        values[self._missing] = np.nan
        return values

    @property
    def bayesian_surprise(self) -> np.ndarray:
        """KL[belief before || belief after] in nats."""
        return self._divergence("bayesian_surprise")

    @property
    def confidence_corrected_surprise(self) -> np.ndarray:
        """KL[belief before || scaled likelihood of the observation] in nats."""
        return self._divergence("confidence_corrected_surprise")

    def _divergence(self, name: str) -> np.ndarray:
        if "gamma" not in self._learner.readouts():
            raise AttributeError(_undefined(self._learner, name))
        if name not in self._computed:
            self._computed[name] = self._divergences(name)
        return self._computed[name]

    @property
    def readouts(self) -> tuple[str, ...]:
        """The names of the readouts that were computed."""
        there = {"mean": self._outputs.means, "variance": self._outputs.variances, "run_length": self._outputs.run_length}
        return tuple(n for n in defined_readouts(self._learner) if len(self) == 0 or n not in there or len(there[n]))

    def _number(self, name: str) -> np.ndarray:
        values = getattr(self._outputs, {"mean": "means", "variance": "variances"}.get(name, name))
        if len(values) != len(self):
            raise AttributeError(f"{name} was not among the readouts asked for: {', '.join(self.readouts)}")
        return values[..., 0] if name in ("mean", "variance") and values.shape[-1] == 1 else values

    def to_pandas(self) -> Any:
        """A DataFrame, one row per observation; an element of theta per column where there are several."""
        import pandas as pd

        columns: dict[str, np.ndarray] = {}
        for name in (*self.readouts, *self._computed):
            values = getattr(self, name)
            if values.ndim == 1:
                columns[name] = values
            else:
                columns |= {f"{name}_{p}": values[:, k] for k, p in enumerate(self._learner.family.parameter_names())}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self), name="t"))

    def to_xarray(self) -> Any:
        """A Dataset over t and, where theta has several elements, parameter."""
        import xarray as xr

        data = {}
        for name in (*self.readouts, *self._computed):
            values = getattr(self, name)
            data[name] = (("t",) if values.ndim == 1 else ("t", "parameter"), values)
        names = list(self._learner.family.parameter_names())
        coordinates = {"t": np.arange(len(self))} | ({"parameter": names} if len(names) > 1 else {})
        return xr.Dataset(data, coordinates, {"learner": repr(self._learner)})

    def plot(self, axes: Any = None, theta: Any = None) -> Any:
        """Observations, estimate with its uncertainty, surprise and adaptation rate in one picture; returns the figure."""
        from volatilis.plots import draw_trace

        return draw_trace(self, axes, theta)


class Traces(Sequence[Trace]):
    """The traces of many sequences: indexing gives a Trace."""

    def __init__(self, make: Callable[[int], Trace], count: int) -> None:
        self._make, self._count = make, count

    @overload
    def __getitem__(self, index: int) -> Trace: ...
    @overload
    def __getitem__(self, index: slice) -> list[Trace]: ...
    def __getitem__(self, index: int | slice) -> Trace | list[Trace]:
        if isinstance(index, slice):
            return [self._make(i) for i in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(f"there are {self._count} traces, so no trace {index}")
        return self._make(index % self._count)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Trace]:
        return (self._make(i) for i in range(self._count))

    def __repr__(self) -> str:
        return f"Traces of {self._count} sequences"
