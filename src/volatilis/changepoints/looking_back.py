"""Where did it change? Change points of a whole sequence, with their uncertainty (`changes`)."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from volatilis._core.seeds import generator_key, seed_sequence
from volatilis.changepoints.blocks import Block, Change, binomial, found_changes, look_at, numbers
from volatilis.families._kinds import UndefinedError
from volatilis.learners import ExactBayes, MessagePassing, StratifiedResampling
from volatilis.learners._base import Learner
from volatilis.running.arguments import Seed, checked_learner, labelled, step_events, warn_of_mismatch
from volatilis.running.drivers import RESET, SKIP

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

LEVEL = 0.95
MOST_NUMBERS = 50_000_000  # observations times numbers of changes: beyond, the law of the number takes too much memory
DEFINED = (ExactBayes, MessagePassing, StratifiedResampling)  # each of their hypotheses is one time of the last change


def changes(
    y: object,
    learner: Learner,
    *,
    reset: npt.ArrayLike | None = None,
    missing: str = "error",
    given: object = None,
) -> Changes:
    """Look back over a whole sequence: where did it change, and how sure is that?

    y         the observations; a pandas or polars Series keeps its index in the tables
    learner   ExactBayes(family, p_c); MessagePassing and StratifiedResampling approximate it. Learners that merge hypotheses or
              hold one belief do not know times of changes: UndefinedError
    reset     where a new block begins: a boolean per observation, or positions. A reset is no change, nor is the start
    missing   what a missing observation means: "error"; "elapse", time passes and nothing is seen; "skip"
    given     the context of each observation, for a family with contexts

    Returns Changes: the probability of a change at each time, the most probable segmentation, and how sure each change is.

    Warns with ModelMismatchWarning, as `run` does, where the prior expects next to nothing where the observations are. What a
    wrong family takes for changes may be none (autocorrelation, outliers, angles): `volatilis.check(learner, y)` looks for that.

    Raises UndefinedError for a learner that does not keep the times of changes, ValueError for observations that the family does
    not accept.

    >>> import volatilis as vl
    >>> found = vl.changes([0.1, -0.2, 0.3, 5.0, 5.2, 4.9], vl.ExactBayes(vl.Gaussian(sigma=0.5, sigma_0=3.0), p_c=0.1))
    >>> found.points, found.probability.round(3)
    (array([3]), array([0.   , 0.022, 0.026, 1.   , 0.006, 0.006]))
    """
    learner = checked_learner(learner)
    check_defined(learner)
    values, index = labelled(y)
    observed, absent = learner.family.observations(values) if given is None else learner.family.observations(values, given)
    learner.check_observations(observed)
    result = look_back_over(learner, observed, absent, step_events(absent, reset, missing), index)
    warn_of_mismatch(learner, observed, absent, result.log_p_0)
    return result


def check_defined(learner: Learner) -> None:
    """Raises UndefinedError for a learner that cannot look back."""
    if not isinstance(learner, DEFINED):
        raise UndefinedError(
            f"{type(learner).__name__} does not keep the times of changes, so it cannot look back; "
            "ExactBayes(family, p_c) does, and a larger cutoff makes it faster"
        )


def look_back_over(learner: Learner, values: np.ndarray, absent: np.ndarray, events: np.ndarray, index: object = None) -> Changes:
    """The same of observations as the family encodes them."""
    edges = [*np.unique(np.append(0, np.flatnonzero(events >= RESET))).tolist(), len(events)]
    blocks = [
        look_at(learner, values[start:stop], events[start:stop] % RESET, start)
        for start, stop in itertools.pairwise(edges)
        if stop > start
    ]
    return Changes(learner, values, absent, events, blocks, index)


class Changes:
    """Where a sequence changed, given all of it.

    probability         P(a change at t | all observations), one number per step of time; 0 at the start and at resets
    points              the most probable segmentation: positions of the first observations after its changes
    expected_number     the expected number of changes
    found               one `Change` per point, with its credible set
    log_probability     of the most probable segmentation
    to_pandas()         a table, one row per change;  segments(): one row per segment, with level and uncertainty
    credible(level)     the same changes with credible sets of another level
    draw(n, seed)       n whole segmentations, drawn from their posterior
    number()            P(k changes in all), k = 0, 1, ...
    to_xarray(), plot()

    >>> import volatilis as vl
    >>> found = vl.changes([0.1, -0.2, 0.3, 5.0, 5.2, 4.9], vl.ExactBayes(vl.Gaussian(sigma=0.5, sigma_0=3.0), p_c=0.1))
    >>> found.points, round(found.expected_number, 2)
    (array([3]), 1.06)
    """

    def __init__(
        self, learner: Learner, values: np.ndarray, absent: np.ndarray, events: np.ndarray, blocks: list[Block], index: object
    ) -> None:
        self._learner, self._values, self._absent, self._events = learner, values, absent, events
        self._blocks, self._index = blocks, index
        self.probability = self._probability()
        places = [block.first + block.passes.steps[block.starts[1:]] for block in blocks]
        self.points: np.ndarray = np.concatenate([np.zeros(0, dtype=np.int64), *places])
        self.log_probability = float(sum(block.passes.log_map for block in blocks))

    def __repr__(self) -> str:
        return f"Changes({len(self)} observations by {self._learner!r}: points={self.points.tolist()})"

    def __len__(self) -> int:
        return len(self._events)

    @property
    def log_p_0(self) -> np.ndarray:
        """The log of what the prior predicts of each observation, those that are missing left out."""
        return np.concatenate([np.zeros(0), *(block.passes.log_p_0 for block in self._blocks)])

    @property
    def learner(self) -> Learner:
        """The learner that looked back."""
        return self._learner

    @property
    def observations(self) -> np.ndarray:
        """The observations, a missing one as NaN."""
        values = np.array(self._learner.family.as_observed(self._values), dtype=float)
        values[self._absent] = np.nan
        return values

    @property
    def index(self) -> np.ndarray:
        """What the positions are called: the index of the Series that was given, else the positions."""
        return np.arange(len(self)) if self._index is None else np.asarray(self._index)

    @functools.cached_property
    def found(self) -> list[Change]:
        """One `Change` per point, with its 95 % credible set."""
        return self.credible(LEVEL)

    @property
    def expected_number(self) -> float:
        """The expected number of changes; the start and resets are none."""
        return float(self.probability.sum())

    def _probability(self) -> np.ndarray:
        """Between two observations k steps apart there is a change with a(o); at each of the k steps with a share of that."""
        p_c, result = self._learner.change_probability(), np.zeros(len(self))
        for block in self._blocks:
            shares = np.full(block.passes.seen, p_c)
            later = slice(1, None)
            with np.errstate(divide="ignore", invalid="ignore"):
                shares[later] = block.a[1:-1] * (p_c / -np.expm1(block.gaps[later] * np.log1p(-p_c)))
            steps = self._events[block.first : block.first + block.length] % RESET != SKIP
            steps[np.argmax(steps)] = False  # the start
            places = np.flatnonzero(steps)
            repeated = np.append(np.repeat(shares, block.gaps), np.full(block.trailing, p_c))
            result[block.first + places] = np.minimum(repeated, 1.0)
        return result

    def credible(self, level: float = LEVEL) -> list[Change]:
        """The changes found, each with the smallest set of times that has the probability `level`, given its neighbours."""
        if not isinstance(level, (int, float)) or not 0.0 < level < 1.0:
            raise ValueError(f"level = {level!r} is not accepted; it must be above 0 and below 1")
        return [change for block in self._blocks for change in found_changes(block, float(level))]

    def draw(self, n: int, seed: Seed = 0) -> list[np.ndarray]:
        """n whole segmentations from their posterior: the positions of the first observations after the changes of each.

        The same `seed` gives the same ones. Raises ValueError for an n below 1.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"n = {n!r} is not accepted; it must be a whole number, 1 or more")
        keys = [generator_key(child) for child in seed_sequence(seed).spawn(len(self._blocks))]
        drawn: list[list[np.ndarray]] = [[] for _ in range(int(n))]
        for block, key in zip(self._blocks, keys, strict=True):
            for parts, changed in zip(drawn, block.passes.draws(int(n), key), strict=True):
                parts.append(block.first + block.passes.steps[changed])
        return [np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64) for parts in drawn]

    def number(self, most: int | None = None) -> np.ndarray:
        """P(k changes in all | all observations) for k = 0, 1, ...; computed when asked for, from the filter alone.

        most   the largest k; None takes one beyond which there is next to nothing
        """
        result, p_c = np.ones(1), self._learner.change_probability()
        for block in self._blocks:
            expected = float(self.probability[block.first : block.first + block.length].sum())
            limit = int(expected + 12.0 * np.sqrt(expected + 1.0) + 20.0) if most is None else int(most)
            limit = min(limit, block.length)
            if (block.passes.seen + 1) * (limit + 1) > MOST_NUMBERS:
                raise ValueError(
                    f"{block.passes.seen:,} observations with up to {limit:,} changes are too many to compute how probable "
                    "each number of changes is; draw(1000) gives segmentations whose changes can be counted"
                )
            gaps = np.append(block.gaps, 0)
            law = numbers(block.passes, np.where(np.arange(gaps.size) == 0, 0, gaps), p_c, limit)
            free = int(block.gaps[0] if block.passes.seen else 0) + block.trailing  # before and after all observations
            result = np.convolve(np.convolve(result, law), binomial(free, p_c))
        return result[: most + 1] if most is not None else np.trim_zeros(result, "b")

    # --- tables -----------------------------------------------------------------------------------------------------------------

    def to_pandas(self) -> pd.DataFrame:
        """One row per change: position, label, where it may lie, its probability, and the levels before and after."""
        import pandas as pd

        names, index = self._learner.family.parameter_names(), self.index
        rows = []
        segments = self._segments()
        for change, before, after in zip(self.found, *self._sides(segments), strict=True):
            row: dict[str, Any] = {
                "position": change.position,
                "time": index[change.position],
                "earliest": index[change.earliest],
            }
            row |= {"low": index[change.low], "high": index[change.high], "probability": change.probability}
            row["probability_at"] = self.probability[change.position]
            for k, name in enumerate(names):
                row |= {f"{name}_before": before[2][k], f"{name}_after": after[2][k]}
            rows.append(row)
        columns = ["position", "time", "earliest", "low", "high", "probability", "probability_at"]
        columns += [f"{name}_{side}" for name in names for side in ("before", "after")]
        return pd.DataFrame(rows, columns=columns)

    def segments(self) -> pd.DataFrame:
        """One row per segment: where it begins and ends (`stop` is not in it), and mean and standard deviation of theta."""
        import pandas as pd

        names, index = self._learner.family.parameter_names(), self.index
        rows = []
        for start, stop, mean, variance, count in self._segments():
            row: dict[str, Any] = {
                "start": start,
                "stop": stop,
                "first": index[start],
                "last": index[stop - 1],
                "observations": count,
            }
            for k, name in enumerate(names):
                row |= {name: mean[k], f"{name}_sd": float(np.sqrt(variance[k]))}
            rows.append(row)
        columns = ["start", "stop", "first", "last", "observations", *(c for name in names for c in (name, f"{name}_sd"))]
        return pd.DataFrame(rows, columns=columns)

    def _segments(self) -> list[tuple[int, int, np.ndarray, np.ndarray, int]]:
        result = []
        for block in self._blocks:
            if not block.passes.seen:
                continue
            steps = block.first + block.passes.steps
            firsts = np.append(block.first, steps[block.starts[1:]])
            stops = np.append(firsts[1:], block.first + block.length)
            counts = np.diff(np.append(block.starts, block.passes.seen))
            result += list(zip(firsts.tolist(), stops.tolist(), block.means, block.variances, counts.tolist(), strict=True))
        return result

    def _sides(self, segments: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The segments before and after each change."""
        inner = [k for k, segment in enumerate(segments) if segment[0] in set(self.points.tolist())]
        return [segments[k - 1] for k in inner], [segments[k] for k in inner]

    def to_xarray(self) -> xr.Dataset:
        """A Dataset: over t the probability of a change and whether one is found there; over `change` the table of changes."""
        import xarray as xr

        is_change = np.zeros(len(self), dtype=bool)
        is_change[self.points] = True
        table = {name: ("change", column.to_numpy()) for name, column in self.to_pandas().items()}
        data = {
            "probability": ("t", self.probability),
            "is_change": ("t", is_change),
            **{f"change_{k}": v for k, v in table.items()},
        }
        return xr.Dataset(data, {"t": self.index}, {"learner": repr(self._learner)})

    def plot(self) -> Figure:
        """Observations, segments with level and uncertainty, changes with credible sets, and the probability of a change."""
        from volatilis.plots.changes import draw_changes

        return draw_changes(self)
