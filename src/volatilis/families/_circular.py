"""The von Mises distribution on [0, period), as SciPy's distributions are: density, distribution function, quantiles, draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


class CircularLaw:
    """Mean direction `mean`, concentration `kappa`. The distribution function counts from 0 to the period."""

    def __init__(self, mean: float, kappa: float, period: float) -> None:
        self.direction, self.kappa, self.period = mean, kappa, period

    def logpdf(self, x: npt.ArrayLike) -> Any:
        from scipy.special import i0e

        half = np.sin(math.pi * (np.asarray(x, dtype=float) - self.direction) / self.period)
        return -2.0 * self.kappa * half * half - np.log(self.period * i0e(self.kappa))

    def pdf(self, x: npt.ArrayLike) -> Any:
        return np.exp(self.logpdf(x))

    def cdf(self, x: npt.ArrayLike) -> Any:
        """The share of the distribution from 0 to x, which is within the period: Gauss-Legendre, piece by piece."""
        points = np.asarray(x, dtype=float)
        shares = np.array([self._share(min(max(float(point), 0.0), self.period)) for point in points.ravel()])
        return shares.reshape(points.shape)[()]

    def ppf(self, q: npt.ArrayLike) -> Any:
        """The x with cdf(x) = q."""
        from scipy.optimize import brentq

        def one(level: float) -> float:
            if level <= 0.0 or level >= 1.0:
                return 0.0 if level <= 0.0 else self.period
            return float(brentq(lambda x: self._share(x) - level, 0.0, self.period, xtol=1e-15 * self.period, rtol=1e-15))

        levels = np.asarray(q, dtype=float)
        return np.array([one(float(level)) for level in levels.ravel()]).reshape(levels.shape)[()]

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        unit = self.period / (2.0 * math.pi)
        draws = np.mod(self.direction + random_state.vonmises(0.0, self.kappa, size) * unit, self.period)
        return np.where(draws >= self.period, 0.0, draws)

    def _share(self, x: float) -> float:
        """The integral of the density from 0 to x, cut around the peaks so that 40 nodes are enough for each piece."""
        spread = self.period / (2.0 * math.pi * math.sqrt(max(self.kappa, 1.0)))
        around = [
            self.direction + turn * self.period + k * spread for turn in (-1, 0, 1) for k in (-40, -12, -6, -2, 0, 2, 6, 12, 40)
        ]
        edges = np.array([0.0, *sorted(point for point in around if 0.0 < point < x), x])
        half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
        return float((self.pdf(middle[:, None] + half[:, None] * NODES) @ WEIGHTS) @ half)
