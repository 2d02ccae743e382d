"""What a learner believes at one moment."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from volatilis._core.seeds import seed_sequence
from volatilis.learners._base import Learner, State

Moments = float | np.ndarray  # a number, or an array where there are several


class Belief:
    """A snapshot of a learner's belief about theta: a weighted mixture of members of its family.

    weights, run_lengths     one per hypothesis, the oldest first
    mean, variance           of theta
    pdf, quantile, sample    of the mixture
    """

    def __init__(self, learner: Learner, state: State) -> None:
        self._learner, self._family = learner, learner.family
        self.weights, self.run_lengths, self._columns = state.live()

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
                return self._shaped(np.array([self._family.estimate(self._columns, 0, k) for k in self._elements]))
            return self._shaped(self._means())

    @property
    def variance(self) -> Moments:
        """Var[theta], element by element."""
        self._need_distribution("variance")
        with np.errstate(all="ignore"):
            mixture = self._family.mixture_variance
            room, means = np.zeros(self.weights.size), self._means()
            values = [mixture(self._columns, self.weights, room.size, k, means[k], room) for k in self._elements]
        return self._shaped(np.array(values))

    def pdf(self, theta: npt.ArrayLike) -> Moments:
        """The density at theta; for several parameters the last axis of theta goes over them."""
        self._need_distribution("pdf")
        return sum(w * d.pdf(theta) for w, d in self._parts())

    def quantile(self, q: npt.ArrayLike) -> Moments:
        """The theta below which there is the share q of the belief; one parameter only."""
        self._need_distribution("quantile")
        if self._family.size() != 1:
            raise TypeError(f"quantile needs one parameter; {type(self._family).__name__} has {self._family.size()}")
        levels = np.asarray(q, dtype=float)
        if not np.all((levels >= 0.0) & (levels <= 1.0)):
            raise ValueError(f"quantile: q = {q!r} is not accepted; it must be from 0 to 1")
        results = [self._quantile(level) for level in levels.ravel()]
        return float(results[0]) if levels.ndim == 0 else np.array(results).reshape(levels.shape)

    def sample(self, size: int, seed: int | np.random.SeedSequence = 0) -> np.ndarray:
        """`size` draws of theta."""
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

    def _means(self) -> np.ndarray:
        room = np.zeros(self.weights.size)
        means = [self._family.mixture_mean(self._columns, self.weights, room.size, k, room) for k in self._elements]
        return np.array(means)

    def _shaped(self, values: np.ndarray) -> Moments:
        return float(values[0]) if values.size == 1 else values

    def _parts(self) -> list[tuple[float, Any]]:
        return [(float(w), self._family.distribution(self._columns, i)) for i, w in enumerate(self.weights)]

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
