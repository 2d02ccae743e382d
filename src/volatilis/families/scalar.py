"""A family from scalar formulas: write five methods for one belief, get all that learners need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar, overload

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs, Family, Observation
from volatilis.families._kinds import FamilyRecord, family
from volatilis.families._wishart import cholesky, solve_lower, solve_upper
from volatilis.special import log

C = TypeVar("C", bound=type)
_REQUIRED = ("prior_chi", "prior_nu", "sufficient_statistic", "log_normalizer", "log_base_measure", "mean", "variance")


@overload
def scalar_family(record: FamilyRecord, /) -> Callable[[C], C]: ...
@overload
def scalar_family(cls: C, /) -> C: ...
def scalar_family(given: FamilyRecord | type, /) -> Callable[[type], type] | type:
    """Make a NamedTuple class with scalar methods a family for every learner. It stands above the class alone, or with a record.

    For a likelihood h(y) exp(eta(theta) . phi(y) - A(theta)) and its conjugate prior, proportional to
    exp(eta(theta) . chi - nu A(theta)), the class gives, for one belief with chi (an array) and nu:

        prior_chi(row), prior_nu()             the prior
        sufficient_statistic(y, row)           phi(y)
        log_normalizer(chi, nu)                log of the integral of exp(eta . chi - nu A) over theta
        log_base_measure(y)                    log h(y)
        mean(chi, nu, k), variance(chi, nu, k) of theta_k

    and may give rows() (1 if absent), size() (1), flat_chi(row) and flat_nu() (the parameters of a density that is constant
    in theta: for SMiLe and confidence-corrected surprise), and any method of `volatilis.families` to replace what is
    derived here by numerical derivatives of log_normalizer (`divergence`, `merge`).

    given   the class, or a FamilyRecord (what lists and tables say about it)

    Returns the class, or with a record the decorator of the class. Raises TypeError for a class that lacks one of the methods.

    >>> import typing, volatilis as vl
    >>> class Incomplete(typing.NamedTuple):
    ...     rate: float
    ...     def prior_nu(self): return 0.0
    >>> vl.scalar_family(Incomplete)
    Traceback (most recent call last):
    TypeError: Incomplete lacks prior_chi, sufficient_statistic, log_normalizer, ...
    """
    if isinstance(given, FamilyRecord):
        return lambda cls: family(given)(_with_banks(cls))
    return family(_with_banks(given))


def _with_banks(cls: C) -> C:
    missing = [name for name in _REQUIRED if name not in vars(cls)]
    if missing:
        raise TypeError(f"{cls.__name__} lacks {', '.join(missing)}; a scalar family gives {', '.join(_REQUIRED)}")
    for name, short in (("rows", "chi_rows"), ("mean", "scalar_mean"), ("variance", "scalar_variance")):
        if name in vars(cls):
            setattr(cls, short, vars(cls)[name])
            delattr(cls, name)
    flat = "flat_chi" in vars(cls) and "flat_nu" in vars(cls)
    for name, method in vars(_FromScalars).items():
        if callable(method) and name not in vars(cls) and (flat or name != "scaled_likelihood"):
            setattr(cls, name, method)
    return cls


class ScalarFamily(Family, Protocol):
    """What a class gives for one belief; its `rows`, `mean` and `variance` under names of their own."""

    def chi_rows(self) -> int: ...
    def prior_chi(self, row: int) -> float: ...
    def prior_nu(self) -> float: ...
    def sufficient_statistic(self, y: Observation, row: int) -> float: ...
    def log_normalizer(self, chi: np.ndarray, nu: float) -> float: ...
    def log_base_measure(self, y: Observation) -> float: ...
    def scalar_mean(self, chi: np.ndarray, nu: float, k: int) -> float: ...
    def scalar_variance(self, chi: np.ndarray, nu: float, k: int) -> float: ...
    def flat_chi(self, row: int) -> float: ...
    def flat_nu(self) -> float: ...


class _FromScalars:
    """The bank form. Rows of chi: the statistics, room for changed statistics, room for Newton's method."""

    def chi_rows(self: ScalarFamily) -> int:
        return 1

    def size(self: ScalarFamily) -> int:
        return 1

    def rows(self: ScalarFamily) -> int:
        d = self.chi_rows()
        return 2 * d + 4 * (d + 1) + (d + 1) * (d + 1)

    def prior(self: ScalarFamily, beliefs: Beliefs, i: int) -> None:
        for row in range(self.chi_rows()):
            beliefs.chi[row, i] = self.prior_chi(row)
        beliefs.nu[i] = self.prior_nu()

    def log_predictive(self: ScalarFamily, beliefs: Beliefs, i: int, y: Observation) -> float:
        """log h(y) + log Z(chi + phi(y), nu + 1) - log Z(chi, nu)."""
        d = self.chi_rows()
        for row in range(d):
            beliefs.chi[d + row, i] = beliefs.chi[row, i] + self.sufficient_statistic(y, row)
        after = self.log_normalizer(beliefs.chi[d : 2 * d, i], beliefs.nu[i] + 1.0)
        return self.log_base_measure(y) + after - self.log_normalizer(beliefs.chi[:d, i], beliefs.nu[i])

    def absorb(self: ScalarFamily, beliefs: Beliefs, i: int, y: Observation) -> None:
        for row in range(self.chi_rows()):
            beliefs.chi[row, i] += self.sufficient_statistic(y, row)
        beliefs.nu[i] += 1.0

    def mean(self: ScalarFamily, beliefs: Beliefs, i: int, k: int) -> float:
        return self.scalar_mean(beliefs.chi[: self.chi_rows(), i], beliefs.nu[i], k)

    def variance(self: ScalarFamily, beliefs: Beliefs, i: int, k: int) -> float:
        return self.scalar_variance(beliefs.chi[: self.chi_rows(), i], beliefs.nu[i], k)

    def estimate(self: ScalarFamily, beliefs: Beliefs, i: int, k: int) -> float:
        return self.mean(beliefs, i, k)

    def scaled_likelihood(self: ScalarFamily, beliefs: Beliefs, i: int, y: Observation) -> None:
        for row in range(self.chi_rows()):
            beliefs.chi[row, i] = self.flat_chi(row) + self.sufficient_statistic(y, row)
        beliefs.nu[i] = self.flat_nu() + 1.0

    def dissimilarity(self: ScalarFamily, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """|m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j); nu times a belief's variance estimates the inverse Fisher metric."""
        apart, spread_i, spread_j = 0.0, 0.0, 0.0
        for k in range(self.size()):
            variance_i, variance_j = self.variance(beliefs, i, k), self.variance(beliefs, j, k)
            unit = 0.5 * (beliefs.nu[i] * variance_i + beliefs.nu[j] * variance_j)
            difference = self.mean(beliefs, i, k) - self.mean(beliefs, j, k)
            apart += difference * (difference / unit)
            spread_i += variance_i / unit
            spread_j += variance_j / unit
        ratio = log(spread_i / spread_j)
        return apart + (spread_i + spread_j) * ratio * ratio

    def divergence(self: ScalarFamily, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        """(x_i - x_j) . E_i - log Z(x_i) + log Z(x_j), x = (chi, nu), E_i the gradient of log Z at x_i."""
        d = self.chi_rows()
        result = _log_z(self, others, j, d, -1, 0.0) - _log_z(self, beliefs, i, d, -1, 0.0)
        for row in range(d):
            result += (beliefs.chi[row, i] - others.chi[row, j]) * _slope(self, beliefs, i, d, row)
        return result + (beliefs.nu[i] - others.nu[j]) * _slope(self, beliefs, i, d, d)

    def merge(self: ScalarFamily, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps the pair's expected sufficient statistics E[eta] and E[A]: the nearest member (Kullback-Leibler).

        The gradient of log Z at the result is the pair's; log Z is convex, so Newton's method with halving finds it.
        """
        d = self.chi_rows()
        target, gradient, step, matrix = 2 * d, 2 * d + (d + 1), 2 * d + 2 * (d + 1), 2 * d + 4 * (d + 1)
        for row in range(d + 1):
            beliefs.chi[target + row, i] = a * _slope(self, beliefs, i, d, row) + b * _slope(self, beliefs, j, d, row)
        for row in range(d):  # start from the blend of natural parameters
            beliefs.chi[row, i] = a * beliefs.chi[row, i] + b * beliefs.chi[row, j]
        beliefs.nu[i] = a * beliefs.nu[i] + b * beliefs.nu[j]
        value = _objective(self, beliefs, i, d, target)
        for _ in range(60):
            for row in range(d + 1):
                beliefs.chi[gradient + row, i] = beliefs.chi[target + row, i] - _slope(self, beliefs, i, d, row)
            _curvature(self, beliefs, i, d, matrix)
            cholesky(beliefs.chi, matrix, d + 1, i)
            for row in range(d + 1):
                beliefs.chi[step + row, i] = beliefs.chi[gradient + row, i]
            solve_lower(beliefs.chi, matrix, d + 1, i, step)
            solve_upper(beliefs.chi, matrix, d + 1, i, step)
            largest_move = 0.0
            for row in range(d + 1):
                largest_move = max(
                    largest_move, abs(beliefs.chi[step + row, i]) / (abs(_coordinate(beliefs, i, d, row)) + 1e-300)
                )
            if not largest_move > 1e-9:
                break
            scale, moved = 1.0, False
            for _ in range(60):
                _move(beliefs, i, d, step, scale)
                proposal = _objective(self, beliefs, i, d, target)
                if proposal >= value - 1e-12 * abs(value):
                    value, moved = proposal, True
                    break
                _move(beliefs, i, d, step, -scale)
                scale *= 0.5
            if not moved:
                break


@compiled_function
def _coordinate(beliefs: Beliefs, i: int, d: int, row: int) -> float:
    return beliefs.nu[i] if row == d else beliefs.chi[row, i]


@compiled_function
def _move(beliefs: Beliefs, i: int, d: int, step: int, scale: float) -> None:
    for row in range(d):
        beliefs.chi[row, i] += scale * beliefs.chi[step + row, i]
    beliefs.nu[i] += scale * beliefs.chi[step + d, i]


@compiled_function
def _log_z(family: ScalarFamily, beliefs: Beliefs, i: int, d: int, row: int, change: float) -> float:
    """log Z with coordinate `row` of (chi, nu) changed; row = -1 changes none."""
    for r in range(d):
        beliefs.chi[d + r, i] = beliefs.chi[r, i] + (change if r == row else 0.0)
    return family.log_normalizer(beliefs.chi[d : 2 * d, i], beliefs.nu[i] + (change if row == d else 0.0))


@compiled_function
def _slope(family: ScalarFamily, beliefs: Beliefs, i: int, d: int, row: int) -> float:
    """The derivative of log Z by coordinate `row`: central differences of fourth order, smaller where the domain ends."""
    h = 1e-3 * abs(_coordinate(beliefs, i, d, row)) + 1e-12
    result = np.nan
    for _ in range(6):
        near = _log_z(family, beliefs, i, d, row, h) - _log_z(family, beliefs, i, d, row, -h)
        far = _log_z(family, beliefs, i, d, row, 2.0 * h) - _log_z(family, beliefs, i, d, row, -2.0 * h)
        result = (8.0 * near - far) / (12.0 * h)
        if abs(result) < np.inf:
            break
        h *= 0.1
    return result


@compiled_function
def _curvature(family: ScalarFamily, beliefs: Beliefs, i: int, d: int, matrix: int) -> None:
    """The lower triangle of the Hessian of log Z, by differences of slopes."""
    for column in range(d + 1):
        here = _coordinate(beliefs, i, d, column)
        h = 1e-4 * abs(here) + 1e-12
        for sign in range(2):
            _set(beliefs, i, d, column, here + h if sign == 0 else here - h)
            for row in range(column, d + 1):
                slope = _slope(family, beliefs, i, d, row) / (2.0 * h)
                at = matrix + row * (d + 1) + column
                beliefs.chi[at, i] = slope if sign == 0 else beliefs.chi[at, i] - slope
        _set(beliefs, i, d, column, here)


@compiled_function
def _set(beliefs: Beliefs, i: int, d: int, row: int, value: float) -> None:
    if row == d:
        beliefs.nu[i] = value
    else:
        beliefs.chi[row, i] = value


@compiled_function
def _objective(family: ScalarFamily, beliefs: Beliefs, i: int, d: int, target: int) -> float:
    """x . E - log Z(x), which is largest where the gradient of log Z is E; -inf outside the domain."""
    result = beliefs.nu[i] * beliefs.chi[target + d, i]
    for row in range(d):
        result += beliefs.chi[row, i] * beliefs.chi[target + row, i]
    result -= _log_z(family, beliefs, i, d, -1, 0.0)
    return result if abs(result) < np.inf else -np.inf
