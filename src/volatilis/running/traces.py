"""What a learner made of a sequence, one array per readout (`Trace`); and of many (`Traces`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from volatilis.learners._base import Learner
from volatilis.running.arguments import checked_within
from volatilis.running.beliefs import LearnedParameter
from volatilis.running.drivers import Outputs
from volatilis.running.steps import Readouts, defined_readouts, undefined
from volatilis.running.weights import Weights

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.projections.polar import PolarAxes

DIVERGENCES = ("bayesian_surprise", "confidence_corrected_surprise")
FIELDS = {"mean": "means", "variance": "variances", "change_probability": "p_c", "log_outlier": "log_outliers"}  # of `Outputs`


class Trace(Readouts[np.ndarray]):
    """The readouts of a sequence, one array each, index t = observation t.

    After observation t: `mean`, `variance`, `run_length`. Under the belief before it: `bayes_factor_surprise`,
    `log_bayes_factor_surprise`, `shannon_surprise`, `adaptation_rate`, `log_predictive` and, computed when first asked for,
    `bayesian_surprise` and `confidence_corrected_surprise`. Where an observation is missing its surprise is NaN.

    >>> import volatilis as vl
    >>> trace = vl.run(vl.VarSMiLe(vl.Gaussian(sigma=0.5, sigma_0=2.0), m=0.1), [0.2, -0.1, 3.0])
    >>> trace.mean.round(3), trace.adaptation_rate.round(3)
    (array([0.188, 0.046, 2.819]), array([0.091, 0.035, 0.999]))
    """

    def __init__(
        self,
        learner: Learner,
        outputs: Outputs,
        values: np.ndarray,
        missing: np.ndarray,
        divergences: Callable[[str], np.ndarray],
        recent: Callable[[int, bool], Outputs] | None = None,
        parameters: Callable[[str], LearnedParameter] | None = None,
        index: Any = None,
        weights: Callable[[float], Weights] | None = None,
    ) -> None:
        self._learner, self._outputs, self._divergences = learner, outputs, divergences
        self._again, self._parameters, self._weigh = recent, parameters, weights
        self._index = index
        self._values, self._missing = values, missing
        self._computed: dict[str, np.ndarray] = {}
        self._recent: dict[tuple[int, bool], Outputs] = {}
        self._weights: dict[float, Weights] = {}

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

    def recent_change(self, within: int) -> np.ndarray:
        """P(a change lies within the newest `within` observations), after each observation; computed when first asked for.

        The start of the sequence and a reset are no change. Raises UndefinedError for a learner with a single belief.

        >>> import volatilis as vl
        >>> vl.run(vl.Merge(vl.Gaussian(sigma=1.0), p_c=0.01, n=5), [0.1, -0.2, 0.3, 5.0, 5.2]).recent_change(within=3).round(2)
        array([0.  , 0.01, 0.02, 0.26, 0.97])
        """
        return self._recent_readouts(within, False).recent

    def recent_onset(self, within: int) -> np.ndarray:
        """When the change was that lies within the newest `within` observations: median and 90 % interval, as positions, (T, 3).

        NaN where such a change is hardly probable.
        """
        out = self._recent_readouts(within, True)
        return onset_places(out.onset.reshape(-1, 3), ~np.isnan(out.gamma))

    def _recent_readouts(self, within: int, onset: bool) -> Outputs:
        asked = (checked_within(within), onset)
        if asked not in self._recent:
            if self._again is None:
                raise AttributeError("this trace came in pieces, so it has no recent_change; run(learner, y) gives one that has")
            self._recent[asked] = self._again(*asked)
        return self._recent[asked]

    def weights(self, least: float = 0.0) -> Weights:
        """What the filter gave to each time of the last change, after each step; computed when first asked for, then kept.

        least   smaller weights are left out: fewer take less memory, 12 bytes each. 0 keeps all

        Returns `Weights`: `at(t)` has the times and their weights, `to_array()` and `to_xarray()` are dense. Raises
        UndefinedError for a learner that does not weigh times of changes, ValueError for more than 50,000,000 weights.

        >>> import volatilis as vl
        >>> weights = vl.run(vl.ExactBayes(vl.Gaussian(sigma=0.5, sigma_0=3.0), p_c=0.1), [0.1, -0.2, 5.0, 5.2]).weights()
        >>> weights.to_array(longest=3).round(3)[-1]  # P(0, 1, 2, 3 or more observations since the last change)
        array([0.   , 0.007, 0.993, 0.   ])
        """
        if least not in self._weights:
            if self._weigh is None:
                raise AttributeError("this trace came in pieces, so it has no weights; run(learner, y) gives one that has")
            self._weights[least] = self._weigh(least)
        return self._weights[least]

    def _divergence(self, name: str) -> np.ndarray:
        if "gamma" not in self._learner.readouts():
            raise AttributeError(undefined(self._learner, name))
        if name not in self._computed:
            self._computed[name] = self._divergences(name)
        return self._computed[name]

    @property
    def readouts(self) -> tuple[str, ...]:
        """The names of the readouts that were computed."""
        out = self._outputs
        arrays = {"mean": out.means, "variance": out.variances, "run_length": out.run_length}
        arrays["outlier_probability"] = out.log_outliers
        return tuple(n for n in defined_readouts(self._learner) if len(self) == 0 or n not in arrays or len(arrays[n]))

    def parameter(self, name: str) -> LearnedParameter:
        """What is known after each observation of the parameter `name`, such as p_c, which the learner learns (`Averaged`).

        Returns its `mean` and the ends `low` and `high` of the 95 % interval, one array each; computed when asked for.
        Raises ValueError for a parameter that it does not learn.
        """
        if self._parameters is None:
            raise AttributeError("this trace is a part of a longer one, and has no parameters")
        return self._parameters(name)

    def _number(self, name: str) -> np.ndarray:
        values = getattr(self._outputs, FIELDS.get(name, name))
        if len(values) != len(self):
            raise AttributeError(f"{name} was not among the readouts asked for: {', '.join(self.readouts)}")
        return values[..., 0] if name in ("mean", "variance") and values.shape[-1] == 1 else values

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame, one row per observation; an element of theta per column where there are several."""
        import pandas as pd

        columns: dict[str, np.ndarray] = {}
        for name in (*self.readouts, *self._computed):
            values = getattr(self, name)
            if values.ndim == 1:
                columns[name] = values
            else:
                columns |= {f"{name}_{p}": values[:, k] for k, p in enumerate(self._learner.family.parameter_names())}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self), name="t") if self._index is None else self._index)

    def to_xarray(self) -> xr.Dataset:
        """A Dataset over t and, where theta has several elements, parameter."""
        import xarray as xr

        data = {}
        for name in (*self.readouts, *self._computed):
            values = getattr(self, name)
            data[name] = (("t",) if values.ndim == 1 else ("t", "parameter"), values)
        names = list(self._learner.family.parameter_names())
        times = np.arange(len(self)) if self._index is None else np.asarray(self._index)
        coordinates = {"t": times} | ({"parameter": names} if len(names) > 1 else {})
        return xr.Dataset(data, coordinates, {"learner": repr(self._learner)})

    def plot(self, axes: Sequence[Axes] | np.ndarray | None = None, theta: npt.ArrayLike | None = None) -> Figure:
        """Draw observations, estimate with its uncertainty, surprise and adaptation rate; returns the figure.

        axes    three to draw into, one below the other; made if not given
        theta   the truth at each step, if it is known
        """
        from volatilis.plots import draw_trace

        return draw_trace(self, axes, theta)

    def plot_circle(
        self, axes: PolarAxes | None = None, theta: npt.ArrayLike | None = None, responses: npt.ArrayLike | None = None
    ) -> Figure:
        """Draw places on a circle, from the centre out: observations and the estimate; returns the figure.

        axes        polar ones to draw into; made if not given
        theta       the truth at each step, if it is known
        responses   what a person predicted, if there is one
        """
        from volatilis.plots import draw_on_circle

        return draw_on_circle(self, axes, theta, responses)


def onset_places(ago: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Positions of changes of which it is known how many observations ago they were, (T, 3): median, earliest, latest."""
    before, places = np.cumsum(observed), np.full(ago.shape, np.nan)
    rows, columns = np.nonzero(~np.isnan(ago))
    since = ago[rows, columns].astype(int)
    first = np.append(np.flatnonzero(observed), len(observed))[before[rows] - since]
    places[rows, columns] = np.where(since == 0, rows, first)  # nothing was observed since: now
    return places[:, (0, 2, 1)]


class Traces(Sequence[Trace]):
    """The traces of many sequences: indexing gives a Trace.

    >>> import volatilis as vl
    >>> traces = vl.run_many(vl.VarSMiLe(vl.Gaussian(sigma=0.5, sigma_0=2.0), m=0.1), [[0.2, -0.1], [3.0]])
    >>> len(traces), traces[1].mean.round(3)
    (2, array([2.824]))
    """

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
