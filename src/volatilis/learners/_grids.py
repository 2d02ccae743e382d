"""Which parameters a learner and its family have, and the values that are weighed where one is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from volatilis._core.fields import Rule, rules_of
from volatilis._core.records import LINEAR, LOGIT, Parameter, Range, Scale, parameters_of
from volatilis.families._kinds import RECORDS as FAMILIES
from volatilis.learners._base import Learner
from volatilis.learners._kinds import RECORDS
from volatilis.learners.per_context import PerContext

COUNT = 20  # values of a default grid: docs/how-to/unknown-environment.md says what another number costs
LOWEST, HIGHEST = 1e-5, 0.5  # of a probability
MOST_POINTS = 100_000
REACH = 10.0  # of any other: from the learner's own value divided by this to that times this


class Unknown(NamedTuple):
    """A parameter that is not known: its values are a grid of `count` from low to high, on its own scale.

        count   how many values; None is 20
        low     the lowest; None is 1e-5 for a probability, and a tenth of the learner's own value for another parameter
        high    the highest; None is 0.5 for a probability, and ten times the learner's own value for another parameter

    >>> import volatilis as vl
    >>> learner = vl.Averaged(vl.Merge(vl.Gaussian(sigma=1.0), p_c=0.1, n=10), p_c=vl.Unknown(count=3, low=0.01, high=0.5))
    >>> learner.grid("p_c").round(3)
    array([0.01 , 0.091, 0.5  ])
    """

    count: int | None = None  # type: ignore[assignment]
    low: float | None = None
    high: float | None = None


unknown = Unknown()


class FieldPath(NamedTuple):
    """Where a parameter stands: the names of the fields that lead to it."""

    path: tuple[str, ...]
    parameter: Parameter
    rule: Rule


def parameter_places(learner: Learner) -> dict[str, FieldPath]:
    """The parameters that are single numbers, of the learner first and then of its family; the outermost of a name counts."""
    places: dict[str, FieldPath] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), learner)]
    for path, owner in waiting:
        kind: type = type(owner)
        rules = rules_of(kind)
        for parameter in parameters_of(kind):
            value = getattr(owner, parameter.name)
            if isinstance(value, float) and parameter.name not in places:
                places[parameter.name] = FieldPath((*path, parameter.name), parameter, rules[parameter.name])
        inner = [(name, getattr(owner, name)) for name in owner._fields]
        waiting += [((*path, name), value) for name, value in inner if type(value) in FAMILIES]
    return places


def with_values(learner: Learner, values: Mapping[str, float]) -> Learner:
    """The same learner with other values of some of its parameters, or its family's."""
    places = parameter_places(learner)
    replaced: Learner = _replaced(learner, {places[name].path: value for name, value in values.items()})
    return replaced


def _replaced(owner: Any, values: Mapping[tuple[str, ...], float]) -> Any:
    """All of one owner's at once, the innermost first."""
    direct: dict[str, Any] = {path[0]: value for path, value in values.items() if len(path) == 1}
    for name in {path[0]: None for path in values if len(path) > 1}:
        within = {path[1:]: value for path, value in values.items() if len(path) > 1 and path[0] == name}
        direct[name] = _replaced(getattr(owner, name), within)
    return owner._replace(**direct) if direct else owner


def value_of(learner: Learner, name: str) -> float:
    """The learner's own value of a parameter."""
    value: Any = learner
    for field in parameter_places(learner)[name].path:
        value = getattr(value, field)
    return float(value)


def scale_of(place: FieldPath) -> Scale:
    """The scale on which equal steps of a parameter matter equally."""
    return place.parameter.search.scale if isinstance(place.parameter.search, Range) else LINEAR


def grid_of(learner: Learner, name: str, given: str | Unknown | npt.ArrayLike) -> np.ndarray:
    """The values of a parameter, in their order; checked one by one as the learner itself would."""
    place = parameter_places(learner)[name]
    if isinstance(given, str):
        if given != "unknown":
            raise ValueError(f'Averaged: {name} = {given!r} is not accepted; "unknown" is, or values')
        given = unknown
    if isinstance(given, Unknown):
        return _default(place, value_of(learner, name), given)
    values = np.asarray(given)
    if values.dtype.kind not in "iuf" or values.ndim > 1 or values.size == 0:
        raise TypeError(f'Averaged: {name} = {given!r} is not accepted; a list of numbers is, or "unknown"')
    values = np.atleast_1d(values).astype(float)
    for value in values.tolist():
        if not place.rule.accepts(value):
            raise ValueError(f"Averaged: {name} = {value!r} is not accepted; it must be {place.rule.words}")
    if len(np.unique(values)) < values.size:
        raise ValueError(f"Averaged: {name} has a value twice: {values.tolist()}")
    return values


def _default(place: FieldPath, center: float, given: Unknown) -> np.ndarray:
    scale, count = scale_of(place), COUNT if given.count is None else given.count
    if scale.name == LINEAR.name and (given.low is None or given.high is None):
        raise ValueError(f"Averaged: {place.path[-1]} has no range of its own; give values, or vl.Unknown(low=..., high=...)")
    low, high = (LOWEST, HIGHEST) if scale.name == LOGIT.name else (center / REACH, center * REACH)
    low, high = low if given.low is None else given.low, high if given.high is None else given.high
    if not (isinstance(count, int) and count >= 2 and place.rule.accepts(low) and place.rule.accepts(high) and low < high):
        raise ValueError(
            f"Averaged: {place.path[-1]} from {low!r} to {high!r} in {count!r} values is not accepted; "
            f"low and high must be {place.rule.words}, low below high, and count a whole number, 2 or more"
        )
    ends = scale.to(low), scale.to(high)
    return np.array([low, *(scale.back(x) for x in np.linspace(*ends, count)[1:-1]), high])


def points_of(
    learner: Learner, parameters: Mapping[str, str | Unknown | npt.ArrayLike], counts: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which parameters of the learner these are, all combinations of their values, and how much each counts beforehand.

    counts   of the Beta prior of p_c, changes and steps without one; both 0 where all values count alike
    """
    check_averageable(learner)
    names = list(parameter_places(learner))
    if not parameters:
        raise TypeError(f"Averaged: nothing is unknown; give values of {' or '.join(names)}, such as {names[0]}=[...]")
    for name in parameters:
        if name not in names:
            raise TypeError(f"Averaged: {type(learner).__name__} has no parameter {name!r}; it has {', '.join(names)}")
    prior = beta_prior(parameters, counts)
    grids = [prior[0] if prior and name == "p_c" else grid_of(learner, name, values) for name, values in parameters.items()]
    shares = [prior[1] if prior and name == "p_c" else np.ones(len(grid)) for name, grid in zip(parameters, grids, strict=True)]
    points, weights = (np.stack([axis.ravel() for axis in np.meshgrid(*one, indexing="ij")], axis=1) for one in (grids, shares))
    return np.array([names.index(name) for name in parameters], dtype=np.int64), points, weights.prod(axis=1)


def beta_prior(
    parameters: Mapping[str, str | Unknown | npt.ArrayLike], counts: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Values of p_c for a Beta prior, and their weights; None where there is no such prior."""
    for name, count in zip(("prior_changes", "prior_stays"), counts, strict=True):
        if not (isinstance(count, (int, float, np.number)) and 0.0 <= count < np.inf):
            raise ValueError(f"Averaged: {name} = {count!r} is not accepted; it must be a finite number, 0 or more")
    if not any(counts):
        return None
    if not all(counts):
        raise ValueError("Averaged: a prior of p_c needs both prior_changes and prior_stays, above 0")
    given = parameters.get("p_c")
    grid = unknown if isinstance(given, str) and given == "unknown" else given
    if not isinstance(grid, Unknown) or grid.low is not None or grid.high is not None:
        raise ValueError('Averaged: with prior_changes and prior_stays p_c must be "unknown": they choose its values')
    return beta_nodes(COUNT if grid.count is None else grid.count, float(counts[0]), float(counts[1]))


def beta_nodes(count: int, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Values and weights whose sums are integrals over Beta(a, b), for polynomials up to degree 2 count - 1 (Gauss-Jacobi)."""
    from scipy.linalg import eigvalsh_tridiagonal

    # the recurrence of the orthonormal polynomials on (-1, 1), from its middles and steps; with s = a + b - 2
    k, s = np.arange(1.0, count), a + b - 2.0
    middles = np.array([(a - b) / (s + 2.0), *((a - b) * s / ((2.0 * k + s) * (2.0 * k + s + 2.0)))])
    ratio = np.array([1.0, *((k[1:] + s) / (2.0 * k[1:] + s - 1.0))])[: k.size]
    steps = np.sqrt(4.0 * k * (k + a - 1.0) * (k + b - 1.0) * ratio / ((2.0 * k + s) ** 2 * (2.0 * k + s + 1.0)))
    nodes = eigvalsh_tridiagonal(middles, steps)
    before, here, squares = np.zeros(count), np.ones(count), np.ones(count)
    for i, step in enumerate(steps):
        back = steps[i - 1] * before if i else 0.0
        before, here = here, ((nodes - middles[i]) * here - back) / step
        squares += here**2
    return np.clip(0.5 * (1.0 + nodes), 1e-12, 1.0 - 1e-12), 1.0 / squares


def checked_names(learner: Learner, places: np.ndarray, values: np.ndarray, weights: np.ndarray) -> list[str]:
    """The names of the parameters, once everything fits together."""
    check_averageable(learner)
    names = list(parameter_places(learner))
    if len(values) > MOST_POINTS:
        raise ValueError(f"Averaged: {len(values):,} points are too many; at most {MOST_POINTS:,} are accepted")
    if values.shape[1] != len(places) or len(set(places)) < len(places) or not all(0 <= p < len(names) for p in places):
        raise ValueError("Averaged: values and the places of their parameters do not fit")
    if weights.shape != (len(values),) or not (weights > 0.0).all():
        raise ValueError(f"Averaged: weights must be {len(values)} numbers above 0, one for each point of the grid")
    return [names[place] for place in places]


def check_averageable(learner: Learner) -> None:
    if type(learner) not in RECORDS:
        raise TypeError(f"Averaged: {learner!r} is not a learner, such as volatilis.Merge(family, p_c, n)")
    if isinstance(learner, PerContext):
        raise TypeError("Averaged: PerContext has surprises of one context at a time; PerContext(Averaged(...), ...) is accepted")
    if "gamma" not in learner.readouts():
        raise TypeError(f"Averaged: {type(learner).__name__} does not predict, so its parameters cannot be weighed")
    if learner.learns_change_probability():
        raise TypeError("Averaged: a learner that learns its parameters is not averaged again; give one Averaged all of them")
