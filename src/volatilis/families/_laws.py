"""Beliefs as distributions with the methods of SciPy's: directions, means and covariances, regressions, several contexts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


class CircularLaw:
    """The von Mises distribution on [0, period), with mean direction `mean` and concentration `kappa`.

    The distribution function counts from 0 to the period.
    """

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


def full_matrix(triangle: np.ndarray, p: int) -> np.ndarray:
    matrix = np.zeros((p, p))
    matrix[np.triu_indices(p)] = triangle
    return matrix + np.triu(matrix, 1).T


class NormalInverseWishart:
    """The joint belief about (mu, S), with the methods of a SciPy distribution."""

    def __init__(self, mu: np.ndarray, kappa: float, dof: float, psi: np.ndarray) -> None:
        self.mu, self.kappa, self.dof, self.psi = mu, kappa, dof, psi

    def pdf(self, theta: npt.ArrayLike) -> np.ndarray:
        from scipy import stats

        p = self.mu.size
        theta = np.asarray(theta, dtype=float)
        flat = theta.reshape(-1, theta.shape[-1])
        values = [
            stats.multivariate_normal.pdf(row[:p], self.mu, full_matrix(row[p:], p) / self.kappa)
            * stats.invwishart.pdf(full_matrix(row[p:], p), self.dof, self.psi)
            for row in flat
        ]
        return np.array(values).reshape(theta.shape[:-1])

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        from scipy import stats

        p = self.mu.size
        covariances = stats.invwishart.rvs(self.dof, self.psi, size=size, random_state=random_state).reshape(size, p, p)
        mus = [_normal(random_state, self.mu, c / self.kappa) for c in covariances]
        upper = np.triu_indices(p)
        return np.array([np.concatenate([m, c[upper]]) for m, c in zip(mus, covariances, strict=True)])


def square_root(matrix: np.ndarray) -> np.ndarray:
    """R with R R^T = matrix: Cholesky's factor or, where rounding left the matrix not positive definite, one from eigenvalues."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        return vectors * np.sqrt(np.maximum(values, 0.0))


def _normal(rng: np.random.Generator, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """A draw from N(mean, covariance), also where the covariance is next to singular."""
    try:
        np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return mean + square_root(covariance) @ rng.standard_normal(mean.size)
    return rng.multivariate_normal(mean, covariance, method="cholesky")


def round_cauchy(p: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """n draws from it: Gaussian vectors, each over the size of one more Gaussian number."""
    return rng.standard_normal((n, p)) / np.abs(rng.standard_normal((n, 1)))


class NormalInverseGamma:
    """The joint belief about (b, v), with the methods of a SciPy distribution."""

    def __init__(self, m: np.ndarray, lower: np.ndarray, alpha: float, beta: float) -> None:
        from scipy import stats

        self._m, self._lower, self._variance = m, lower, stats.invgamma(alpha, scale=beta)

    def pdf(self, theta: npt.ArrayLike) -> np.ndarray:
        values = np.asarray(theta, dtype=float)
        b, v = values[..., :-1], values[..., -1]
        z = (b - self._m) @ self._lower / np.sqrt(v)[..., None]
        log_det = np.log(np.diagonal(self._lower)).sum()
        density = np.exp(log_det - 0.5 * (z * z).sum(axis=-1) - 0.5 * self._m.size * np.log(2.0 * math.pi * v))
        return density * self._variance.pdf(v)

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        v = self._variance.rvs(size, random_state=random_state)
        z = random_state.standard_normal((size, self._m.size)) * np.sqrt(v)[:, None]
        return np.concatenate([self._m + np.linalg.solve(self._lower.T, z.T).T, v[:, None]], axis=1)


class Independent:
    """Independent beliefs about each context, with the methods of a SciPy distribution."""

    def __init__(self, parts: list[Any], size: int) -> None:
        self._parts, self._size = parts, size

    def pdf(self, theta: npt.ArrayLike) -> np.ndarray:
        values = np.asarray(theta, dtype=float)
        density = np.ones(values.shape[:-1])
        for c, part in enumerate(self._parts):
            block = values[..., c * self._size : (c + 1) * self._size]
            density = density * part.pdf(block[..., 0] if self._size == 1 else block)
        return density

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        draws = [np.asarray(part.rvs(size=size, random_state=random_state)).reshape(size, -1) for part in self._parts]
        return np.concatenate(draws, axis=1)
