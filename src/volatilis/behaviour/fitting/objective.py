"""What a search makes as small as it can: minus the log likelihood, less the log prior, of a point on the real line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from volatilis._core.seeds import generator_key
from volatilis.behaviour.fitting.parameters import Searched
from volatilis.behaviour.fitting.priors import Prior
from volatilis.behaviour.likelihood import Likelihood
from volatilis.behaviour.models import Model, noise_alone
from volatilis.behaviour.people import Person

COPIES = 64  # of a learner that samples
PRECISE = 0.03  # noise below this share of the noise tried leaves too few digits of the likelihood


class Objective:
    """Infinite where it is not a number. `free` says what the point's coordinates are."""

    def __init__(
        self, model: Model, person: Person, fixed: Mapping[str, Any], free: Sequence[Searched], prior: Prior | None, seed: int
    ) -> None:
        self.free, self.prior, self.samples = tuple(free), prior, model.samples()
        ends = {one.name: (one.natural(one.low), one.natural(one.high)) for one in free}
        copies = COPIES if self.samples else 1  # the same random numbers at every point
        keys = tuple(generator_key(np.random.SeedSequence([seed, copy])) for copy in range(copies))
        self._likelihood = Likelihood(lambda values: model.make({**values, **fixed}), person, ends, keys)
        self.evaluations = 0

    def __call__(self, x: np.ndarray) -> float:
        self.evaluations += 1
        result = -self._likelihood([one.natural(value) for one, value in zip(self.free, x.tolist(), strict=True)])
        if self.prior is not None:
            result -= self.prior.log_density(x)
        return result if math.isfinite(result) else math.inf

    def whole(self, x: np.ndarray) -> np.ndarray:
        """All coordinates, of those that are searched."""
        return x


class WithoutNoise:
    """The same with the response noise at its best for whatever the other parameters are: one dimension less to search.

    Where the noise sd is all there is, minus the log likelihood is A / sd^p + n log sd + n c, with A what the other parameters
    decide: one evaluation at any sd tells A, and the best sd is known without a search (with a prior, but for Newton's method).
    """

    def __init__(self, full: Objective, responses: int, power: float, constant: float) -> None:
        self._full, self._n, self._p, self._c = full, responses, power, constant
        self._at = [one.name for one in full.free].index("sd")
        self.free = (*full.free[: self._at], *full.free[self._at + 1 :])
        self._sd, self.samples = full.free[self._at], full.samples
        self._others = np.array([i for i in range(len(full.free)) if i != self._at], dtype=int)

    def __call__(self, x: np.ndarray) -> float:
        return self._best(x)[0]

    def whole(self, x: np.ndarray) -> np.ndarray:
        return self._with(x, self._best(x)[1])

    def _with(self, x: np.ndarray, u: float) -> np.ndarray:
        point = np.empty(len(self._full.free))
        point[self._others], point[self._at] = x, u
        return point

    def _best(self, x: np.ndarray) -> tuple[float, float]:
        """The least value over all noise, and log sd there."""
        tried = max(self._sd.first, self._sd.last)
        value, u = self._from(x, tried)
        return self._from(x, u) if u < tried + math.log(PRECISE) else (value, u)

    def _from(self, x: np.ndarray, tried: float) -> tuple[float, float]:
        point, prior = self._with(x, tried), self._full.prior
        value = self._full(point)
        if not math.isfinite(value):
            return value, tried
        rest = prior.log_density(point) if prior is not None else 0.0
        a = max((value + rest - self._n * (tried + self._c)) * math.exp(self._p * tried), 1e-300)
        u = math.log(self._p * a / self._n) / self._p
        if prior is not None:
            u = self._with_prior(a, u, float(prior.mean[self._at]), float(prior.sd[self._at]) ** -2)
        u = min(max(u, self._sd.low), self._sd.high)
        value = a * math.exp(-self._p * u) + self._n * (u + self._c)
        return value - (prior.log_density(self._with(x, u)) if prior is not None else 0.0), u

    def _with_prior(self, a: float, u: float, mean: float, precision: float) -> float:
        """Where the slope -p A e^(-p u) + n + (u - mean) / sd^2 is 0: it only rises, ever less steeply, so Newton gets there."""
        for _ in range(100):
            steep = self._p * a * math.exp(-self._p * u)
            step = (self._n - steep + (u - mean) * precision) / (self._p * steep + precision)
            u -= step
            if abs(step) < 1e-13 * max(abs(u), 1.0):
                break
        return u


def to_search(model: Model, person: Person, full: Objective) -> Objective | WithoutNoise:
    """What is to be searched: without the noise where that can be found without a search."""
    known = noise_alone(model)
    return full if known is None else WithoutNoise(full, person.responses, *known)
