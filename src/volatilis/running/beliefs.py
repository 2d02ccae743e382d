"""What a learner believes at one moment; and what a learner that weighs parameters (`Averaged`) knows of one of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from volatilis._compiler import Call
from volatilis._core.seeds import seed_sequence
from volatilis.learners._base import Learner, State
from volatilis.learners._grids import parameter_places, scale_of
from volatilis.learners.averaged import Averaged
from volatilis.running.drivers import Array, advance

LEVELS = (0.025, 0.975)
PIECE = 1 << 14  # steps whose weights are kept at a time
Moments = float | np.ndarray  # a number, or an array where there are several


class Belief:
    """A snapshot of a learner's belief about theta: a weighted mixture of members of its family.

    weights, run_lengths     one per hypothesis, the oldest first; of `Averaged` those of each value of the parameters in turn
    mean, variance           of theta
    pdf, quantile, sample    of the mixture

    >>> import volatilis as vl
    >>> stream = vl.Stream(vl.Merge(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_c=0.1, n=5))
    >>> _ = stream.update(0.2)
    >>> round(stream.belief.quantile(0.5), 3)
    0.188
    """

    def __init__(self, learner: Learner, state: State) -> None:
        self._learner, self._family = learner, learner.family
        parts = [(share, family, live) for share, family, live in learner.parts(state) if share > 0.0]
        self.weights = np.concatenate([share * weights for share, _, (weights, _, _) in parts])
        self.run_lengths = np.concatenate([run_lengths for _, _, (_, run_lengths, _) in parts])
        self._shares = np.array([share for share, _, _ in parts])
        self._mixtures = [(family, weights, beliefs) for _, family, (weights, _, beliefs) in parts]

    def __repr__(self) -> str:
        count = f"{self.weights.size} hypothes{'i' if self.weights.size == 1 else 'e'}s"
        return f"Belief(mean={self.mean!r}, {count}, {self._learner!r})"

    @property
    def mean(self) -> Moments:
        """E[theta]: a number, or an array where theta has several elements."""
        if "variance" not in self._learner.readouts() and self.run_lengths[0] == 0.0:
            return self._shaped(np.full(self._family.size(), np.nan))
        with np.errstate(all="ignore"):
            if "variance" not in self._learner.readouts():
                family, _, beliefs = self._mixtures[0]
                return self._shaped(np.array([family.estimate(beliefs, 0, k) for k in self._elements]))
            return self._shaped(np.array([self._moments(k)[0] for k in self._elements]))

    @property
    def variance(self) -> Moments:
        """Var[theta], element by element."""
        self._need_distribution("variance")
        with np.errstate(all="ignore"):
            return self._shaped(np.array([self._moments(k)[1] for k in self._elements]))

    def pdf(self, theta: npt.ArrayLike) -> Moments:
        """The density at theta; for several parameters the last axis of theta goes over them.

        theta   a number, or an array of them

        Returns as many densities. Raises AttributeError for a learner that has an estimate but no belief.
        """
        self._need_distribution("pdf")
        return sum(w * d.pdf(theta) for w, d in self._parts())

    def quantile(self, q: npt.ArrayLike) -> Moments:
        """The theta below which there is the share q of the belief; one parameter only.

        q   from 0 to 1: a number, or an array of them

        Returns as many quantiles. Raises ValueError for a q outside, TypeError where theta has several elements.
        """
        self._need_distribution("quantile")
        if self._family.size() != 1:
            raise TypeError(f"quantile needs one parameter; {type(self._family).__name__} has {self._family.size()}")
        levels = np.asarray(q, dtype=float)
        if not np.all((levels >= 0.0) & (levels <= 1.0)):
            raise ValueError(f"quantile: q = {q!r} is not accepted; it must be from 0 to 1")
        results = [self._quantile(level) for level in levels.ravel()]
        return float(results[0]) if levels.ndim == 0 else np.array(results).reshape(levels.shape)

    def sample(self, size: int, seed: int | np.random.SeedSequence = 0) -> np.ndarray:
        """`size` draws of theta.

        size   how many
        seed   a whole number, 0 or more, or a NumPy SeedSequence

        Returns an array of draws, a row each where theta has several elements. Raises ValueError for a seed that is not accepted.
        """
        self._need_distribution("sample")
        rng = np.random.default_rng(seed_sequence(seed))
        counts = rng.multinomial(size, self.weights / self.weights.sum())
        draws = [
            np.asarray(d.rvs(size=n, random_state=rng)).reshape(n, -1)
            for n, (_, d) in zip(counts, self._parts(), strict=True)
            if n
        ]
        joined = np.concatenate(draws) if draws else np.empty((0, self._family.size()))
        rng.shuffle(joined)
        return joined[:, 0] if self._family.size() == 1 else joined

    @property
    def _elements(self) -> range:
        return range(self._family.size())

    def _moments(self, k: int) -> tuple[float, float]:
        """Mean and variance of theta_k."""
        moments = []
        for family, weights, beliefs in self._mixtures:
            room = np.zeros(weights.size)
            mean = family.mixture_mean(beliefs, weights, room.size, k, room)
            moments.append((mean, family.mixture_variance(beliefs, weights, room.size, k, mean, room)))
        if len(moments) == 1:
            return moments[0]
        means, variances = np.array(moments).T
        mean = self._family.pooled_mean(means, variances, self._shares, means.size)
        return mean, self._family.pooled_variance(means, variances, self._shares, means.size, mean)

    def _shaped(self, values: np.ndarray) -> Moments:
        return float(values[0]) if values.size == 1 else values

    def _parts(self) -> list[tuple[float, Any]]:
        laws = [family.distribution(beliefs, i) for family, weights, beliefs in self._mixtures for i in range(weights.size)]
        return list(zip(self.weights.tolist(), laws, strict=True))

    def _quantile(self, q: float) -> float:
        """By bisection between the hypotheses' own quantiles."""
        from scipy.optimize import brentq

        parts = self._parts()
        quantiles = [float(d.ppf(q)) for _, d in parts]
        low, high = min(quantiles), max(quantiles)
        if low == high:
            return low
        return float(
            brentq(lambda x: sum(w * d.cdf(x) for w, d in parts) - q, low, high, xtol=1e-14 * max(abs(low), abs(high), 1e-300))
        )

    def _need_distribution(self, what: str) -> None:
        if "variance" not in self._learner.readouts():
            raise AttributeError(f"{type(self._learner).__name__} has an estimate but no belief, so no {what}")


# --- parameters that are learned ------------------------------------------------------------------------------------------


class LearnedParameter(NamedTuple):
    """The mean of a parameter and the ends of its 95 % interval: numbers, or one array each.

    Between the values of the grid the interval's ends are interpolated on the parameter's own scale, so they are as sharp as the
    grid is fine.
    """

    mean: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray


def run_parameter(learner: Learner, key: int, name: str, values: np.ndarray, events: np.ndarray) -> LearnedParameter:
    """One more run, for what is known of a parameter after each step."""
    grid = Marginal(learner, name)
    state, results = learner.init(key), []
    for start in range(0, len(values), PIECE):
        ys, what = values[start : start + PIECE], events[start : start + PIECE]
        shares, progress = np.zeros((len(ys), len(grid.values))), np.zeros(1, dtype=np.int64)
        while progress[0] < len(ys):
            if not learner.has_room(state):
                state = learner.grow(state)
            Call(run_shares, learner, state, ys, what, progress, grid.group, shares, release_gil=True)()
        results.append(grid.summary(shares))
    return LearnedParameter(*(np.concatenate(parts) for parts in zip(*results, strict=True))) if results else _nothing()


def parameter_now(learner: Learner, state: State, name: str) -> LearnedParameter:
    """What a state knows of a parameter."""
    grid = Marginal(learner, name)
    shares = np.bincount(grid.group, state.kept_arrays()["shares"], len(grid.values))
    return LearnedParameter(*(float(np.ravel(part)[0]) for part in grid.summary(shares[None])))


def _nothing() -> LearnedParameter:
    return LearnedParameter(np.empty(0), np.empty(0), np.empty(0))


class Marginal:
    """One parameter's values, and which of them each point of the grid has."""

    def __init__(self, learner: Learner, name: str) -> None:
        if not isinstance(learner, Averaged):
            raise ValueError(
                f"{type(learner).__name__} knows its parameters; volatilis.Averaged(learner, {name}=...) learns them"
            )
        self.values, self.group = np.unique(learner.points(name), return_inverse=True)
        scale = scale_of(parameter_places(learner.learner)[name])
        self._back = scale.back
        places = np.array([scale.to(value) for value in self.values])
        self._edges = np.concatenate([places[:1], 0.5 * (places[1:] + places[:-1]), places[-1:]])

    def summary(self, shares: np.ndarray) -> LearnedParameter:
        """From the weights of the values, (T, n). The weight of a value lies evenly half way to those beside it."""
        below = np.concatenate([np.zeros((len(shares), 1)), np.cumsum(shares, axis=1)], axis=1)
        below /= below[:, -1:]
        ends = [np.array([self._back(x) for x in self._quantiles(below, level)]) for level in LEVELS]
        mean = np.sum(shares * self.values, axis=1)  # a product of matrices rounds by their shape
        return LearnedParameter(mean, np.minimum(ends[0], mean), np.maximum(ends[1], mean))  # all weight may be at an end

    def _quantiles(self, below: np.ndarray, level: float) -> np.ndarray:
        rows, last = np.arange(len(below)), below.shape[1] - 1
        right = np.clip((below <= level).sum(axis=1), 1, last)
        low, high = below[rows, right - 1], below[rows, right]
        share = (level - low) / np.where(high > low, high - low, 1.0)
        return self._edges[right - 1] + np.clip(share, 0.0, 1.0) * (self._edges[right] - self._edges[right - 1])


def run_shares(learner: Learner, state: Any, ys: Array, events: Array, progress: Array, group: Array, shares: Array) -> None:
    """The weight of each value of one parameter after each step, from step progress[0]."""
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        advance(learner, state, ys[t], events[t])
        for k in range(group.size):
            shares[t, group[k]] += state.shares[k]
    progress[0] = events.size
