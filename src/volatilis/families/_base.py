"""What a family is: a likelihood with its conjugate prior, and what every learner asks of it.

A bank of n beliefs is two arrays of columns, `chi` (d, n) and `nu` (n,). A family's methods work on column i of a bank, so
that a learner's loop over hypotheses is flat and vectorises. `nu` counts observations, the prior's worth included; `chi`
holds the sums of sufficient statistics (or, where sums would cancel, the same in centred form).

Compiled, called by learners (`beliefs` is a bank, `i` its column):

    whole(n)                                   how far a loop over n columns runs: to the next multiple of eight, or just to n
    rows()                                     d, the number of rows of chi
    size()                                     how many numbers the estimated parameter theta has
    prior(beliefs, i)                          column i becomes pi^(0)
    log_predictive(beliefs, i, y)              log P(y; pi_i)
    log_prior_predictive(pi_0, y)              the same of the prior, a bank of one
    predictives(beliefs, w, n, y, out)         out[i] = w[i] P(y; pi_i) / e^scale for i < n; returns their sum, and scale
    bayes_factor(beliefs, i, others, j, y)     P(y; pi_j) / P(y; pi_i), infinite where it overflows
    absorb(beliefs, i, y)                      chi += phi(y), nu += 1
    blend(beliefs, i, others, j, a, b)         natural parameters: pi_i <- a pi_i + b pi_j
    mean(beliefs, i, k), variance(beliefs, i, k)    of theta_k
    estimate(beliefs, i, k)                    theta_k from the observations alone (a column that never had a prior)
    merge(beliefs, i, j, a, b)                 pi_i becomes the family's member nearest to a pi_i + b pi_j (a + b = 1)
    dissimilarity(beliefs, i, j, a, b)         how far apart they are, in the likelihood's Fisher metric
    dissimilarities(beliefs, w, n, out)        the same of columns i and i + 1 by their shares of weight, for i < n - 1
    divergence(beliefs, i, others, j)          Kullback-Leibler divergence KL[pi_i || pi_j]
    divergence_parts(beliefs, i, others, j)    (a_i, rest) such that it is a_j - a_i + rest; a_i depends on pi_i alone
    scaled_likelihood(beliefs, i, y)           column i becomes P_Y(y | theta) / integral of P_Y(y | theta') d theta'
    log_density(beliefs, i, x), lower(beliefs, i), upper(beliefs, i)
                                               one-dimensional theta only: the density of its unconstrained coordinate x, and
                                               bounds that leave out less than 1e-16 of the belief on each side

Python only: `observations(ys)` validates and encodes, `as_observed(values)` decodes, `distribution(beliefs, i)`,
`sample_parameter(rng)`, `sample_observations(theta, n, rng)`, `parameter_names()`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods, python_only
from volatilis._core.fields import validated
from volatilis.special import exp, largest, total

C = TypeVar("C", bound=type)


@compiled_methods
class Beliefs(NamedTuple):
    """A bank of beliefs, one per column."""

    chi: np.ndarray
    nu: np.ndarray


def zeros(*shape: int) -> np.ndarray:
    """Like `np.zeros`, and no vector register of eight numbers that a row holds lies across two lines of the cache."""
    size = math.prod(shape)
    room = np.zeros(size + 7)
    start = -room.__array_interface__["data"][0] % 64 // 8
    return room[start : start + size].reshape(shape)


def empty_beliefs(family: Any, n: int) -> Beliefs:
    """n columns that hold nothing: no prior, no observation."""
    return Beliefs(zeros(family.rows(), n), zeros(n))


@compiled_function
def copy_column(source: Beliefs, i: int, target: Beliefs, j: int) -> None:
    for row in range(source.chi.shape[0]):
        target.chi[row, j] = source.chi[row, i]
    target.nu[j] = source.nu[i]


def prior_beliefs(family: Any, n: int = 1) -> Beliefs:
    """n columns that hold the prior."""
    beliefs = empty_beliefs(family, n)
    family.prior(beliefs, 0)
    beliefs.chi[:] = beliefs.chi[:, :1]
    beliefs.nu[:] = beliefs.nu[0]
    return beliefs


def family(cls: C) -> C:
    """Make a NamedTuple class a family: validate its fields, fill in what follows from the rest, let it be compiled."""
    for name, default in vars(_Defaults).items():
        if callable(default) and not hasattr(cls, name):
            setattr(cls, name, default)
    cls._is_family = True  # type: ignore[attr-defined]
    return compiled_methods(validated(cls))


class UndefinedError(TypeError):
    """A family does not have what was asked of it."""


@compiled_function
def in_eights(n: int) -> int:
    """n or the next multiple of eight: a loop that takes eight at a time has nothing left to do one by one."""
    return (n + 7) & -8


class _Defaults:
    """Methods that follow from a family's other methods."""

    def whole(self: Any, n: int) -> int:
        return in_eights(n)

    def predictives(self: Any, beliefs: Beliefs, w: np.ndarray, n: int, y: Any, out: np.ndarray) -> tuple[float, float]:
        for i in range(n):
            out[i] = self.log_predictive(beliefs, i, y) if w[i] > 0.0 else -np.inf
        scale = largest(out, n)
        for i in range(n):
            out[i] = w[i] * exp(out[i] - scale)
        return total(out, n), scale

    def log_prior_predictive(self: Any, pi_0: Beliefs, y: Any) -> float:
        return self.log_predictive(pi_0, 0, y)

    def dissimilarities(self: Any, beliefs: Beliefs, w: np.ndarray, n: int, out: np.ndarray) -> None:
        for i in range(n - 1):
            both = w[i] + w[i + 1]
            out[i] = self.dissimilarity(beliefs, i, i + 1, w[i] / both, w[i + 1] / both)

    def bayes_factor(self: Any, beliefs: Beliefs, i: int, others: Beliefs, j: int, y: Any) -> float:
        return exp(self.log_predictive(others, j, y) - self.log_predictive(beliefs, i, y))

    def blend(self: Any, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        for row in range(beliefs.chi.shape[0]):
            beliefs.chi[row, i] = a * beliefs.chi[row, i] + b * others.chi[row, j]
        beliefs.nu[i] = a * beliefs.nu[i] + b * others.nu[j]

    def divergence_parts(self: Any, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> tuple[float, float]:
        return 0.0, self.divergence(beliefs, i, others, j)

    @python_only
    def parameter_names(self: Any) -> tuple[str, ...]:
        return ("theta",) if self.size() == 1 else tuple(f"theta[{k}]" for k in range(self.size()))

    @python_only
    def observations(self: Any, ys: Any) -> tuple[np.ndarray, np.ndarray]:
        return real_observations(type(self).__name__, ys)

    @python_only
    def as_observed(self: Any, values: np.ndarray) -> np.ndarray:
        return values

    @python_only
    def sample_parameter(self: Any, rng: np.random.Generator) -> np.ndarray:
        raise UndefinedError(f"{type(self).__name__} does not define sample_parameter(rng), which this needs")

    @python_only
    def sample_observations(self: Any, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        raise UndefinedError(f"{type(self).__name__} does not define sample_observations(theta, n, rng), which this needs")

    @python_only
    def distribution(self: Any, beliefs: Beliefs, i: int) -> Any:
        raise UndefinedError(f"{type(self).__name__} does not define distribution(beliefs, i), which this needs")


def row_by_row(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """rows @ matrix.T in one fixed order: a matrix product would round differently for one row and for many."""
    result = np.zeros((len(rows), len(matrix)))
    for k in range(matrix.shape[1]):
        result += rows[:, k : k + 1] * matrix[:, k]
    return result


def real_observations(
    owner: str, ys: Any, accepts: Callable[[np.ndarray], np.ndarray] | None = None, words: str = "a finite number"
) -> tuple[np.ndarray, np.ndarray]:
    """A sequence of numbers as float64, and which of them are missing (NaN, None or masked)."""
    values, missing = _numbers(owner, ys, words)
    if values.ndim != 1:
        raise ValueError(
            f"{owner}: observations have shape {values.shape}; a sequence of T single numbers, shape (T,), is accepted"
        )
    if not _surely_finite(values):
        _refuse(owner, values, ~missing & ~np.isfinite(values), words)
    if accepts is not None:
        with np.errstate(invalid="ignore"):
            _refuse(owner, values, ~(missing | accepts(values)), words)
    return values, missing


def whole_observations(
    owner: str, ys: Any, accepts: Callable[[np.ndarray], np.ndarray], words: str
) -> tuple[np.ndarray, np.ndarray]:
    """A sequence of whole numbers as int64, and which of them are missing; a missing one reads 0."""
    if type(ys) is np.ndarray and np.can_cast(ys.dtype, np.int64) and ys.ndim == 1 and accepts(ys).all():
        return ys.astype(np.int64), np.zeros(ys.size, dtype=bool)
    values, missing = real_observations(owner, ys, lambda v: (v == np.floor(v)) & accepts(v), words)
    return np.where(missing, 0.0, values).astype(np.int64), missing


def vector_observations(owner: str, ys: Any, p: int) -> tuple[np.ndarray, np.ndarray]:
    """A sequence of vectors as float64 (T, p), and which of them are missing (any element NaN)."""
    if isinstance(ys, (list, tuple)):
        ys = [[np.nan] * p if _is_absent(y) else y for y in ys]
    values, missing = _numbers(owner, ys, "a vector of finite numbers")
    if values.size == 0 and values.ndim == 1:
        values, missing = values.reshape(0, p), missing.reshape(0, p)
    if values.ndim != 2 or values.shape[1] != p:
        raise ValueError(
            f"{owner}: observations have shape {values.shape}; T vectors of {p} numbers, shape (T, {p}), are accepted"
        )
    absent = np.asarray(missing.any(axis=1))
    _refuse(owner, values, ~absent & ~np.isfinite(values).all(axis=1), "a vector of finite numbers")
    return np.ascontiguousarray(values), absent


def _numbers(owner: str, ys: Any, words: str) -> tuple[np.ndarray, np.ndarray]:
    masked = np.ma.getmaskarray(ys) if isinstance(ys, np.ma.MaskedArray) else None
    if hasattr(ys, "to_numpy"):  # pandas, xarray, polars
        ys = ys.to_numpy()
    if isinstance(ys, (list, tuple)) and any(y is np.ma.masked for y in ys):
        ys = [np.nan if y is np.ma.masked else y for y in ys]
    try:
        array = np.asarray(ys)
    except ValueError:
        raise ValueError(f"{owner}: observations are ragged; rows of one length are accepted") from None
    if array.dtype == object:
        flat = [np.nan if _is_absent(v) else v for v in array.ravel()]
        for position, value in enumerate(flat):
            if not isinstance(value, (numbers.Real, np.number)) or isinstance(value, np.complexfloating):
                raise TypeError(f"{owner}: observation {position} is {value!r} ({type(value).__name__}); it must be {words}")
            if isinstance(value, int) and abs(value) > 1 << 1000:
                raise ValueError(f"{owner}: observation {position} has {len(str(abs(value)))} digits; it must be {words}")
        array = np.array([float(v) for v in flat]).reshape(array.shape)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"{owner}: observations have dtype {array.dtype}; numbers are accepted, each {words}")
    values = np.array(array, dtype=np.float64, order="C")
    missing = np.zeros(values.shape, dtype=bool) if _surely_finite(values) else np.isnan(values)
    return values, missing if masked is None else missing | masked


def _surely_finite(values: np.ndarray) -> bool:
    """True only if all are finite: one fast pass (a sum of finite numbers that overflows is looked at again, slowly)."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()))


def _is_absent(value: Any) -> bool:
    return value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")


def _refuse(owner: str, values: np.ndarray, bad: np.ndarray, words: str) -> None:
    if bad.any():
        position = int(np.argmax(bad))
        shown = values[position].tolist()
        raise ValueError(f"{owner}: observation {position} is {shown!r}; it must be {words}")
