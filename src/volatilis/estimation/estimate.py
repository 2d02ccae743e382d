"""The environment that made observations: its family's parameters and its change probability, from the observations alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from volatilis.estimation import search
from volatilis.estimation.coordinates import Point, coordinates_of, spread_of, unit_of
from volatilis.estimation.environment import METHODS, Environment, Environments, Estimate, Profile
from volatilis.estimation.evidence import Data, Evidence
from volatilis.estimation.observed import (
    Door,
    Observed,
    counted_once,
    families_of,
    is_auto,
    observed_as,
    same_observations,
    with_a_past,
)
from volatilis.estimation.unknowns import Unknowns
from volatilis.estimation.unseen import cautious
from volatilis.estimation.words import PRIOR_SHARE, notes_of, warnings_of, without_digits
from volatilis.learners._grids import Unknown
from volatilis.running.drivers import OBSERVE, RESET

FEWEST = 3  # observations that say anything
START_P_C = (0.003, 0.03, 0.2)
SMALLEST, LARGEST = 1e-120, 1e120  # that the largest observation may be
LARGE = 25_000  # observations: beyond, a search begins with some of them


def estimate(
    ys: object,
    family: object = "auto",
    *,
    given: object = None,
    p_c: float | Unknown | None = None,
    method: str = "map",
    learner: str | None = None,
    reset: object = None,
    missing: str = "elapse",
    check: bool = True,
    workers: int | None = None,
    **parameters: object,
) -> Any:
    """The environment that made these observations: values, errors and 95 % intervals of what is not known of it.

        ys           one sequence of observations, or several of one environment (a list of sequences, or an array of them)
        family       a class (vl.Gaussian) or a text ("gaussian:sigma=10", "contaminated:gaussian", "ar:1"): every parameter
                     that is not given is unknown;
                     a family or a learner (vl.VarSMiLe(family, m=0.1)): the parameters marked with vl.unknown are, and p_c;
                     a list of these: all are estimated and compared by their evidence;
                     "auto": those that observations of this kind may come from, compared likewise
        given        the context of each observation, as for `volatilis.run`; for several sequences one entry each, or None
        p_c          the change probability; unknown if it is not given
        method       "map": maximum a posteriori, with weak priors that are told; "ml": maximum evidence
        learner      a text, such as "varsmile:m=unknown", whose predictions are the evidence; next to exact if not given
        reset        where a block begins, as for `volatilis.run`; for several sequences one entry each, or None
        missing      what a missing observation means: "elapse", time passes; "skip"; "error"
        check        whether the one-step errors are checked, so that a wrong family is named rather than fitted
        workers      threads; None takes one per core
        parameters   of the family or the learner, by name: a value, or vl.unknown

    Returns an Environment: `.family` and `.p_c` build learners. Of a list, and of "auto", Environments, the best first, with
    `.best`, and its `.family` and `.p_c`. Families are compared on the same observations: those that an autoregression only
    conditions on count for none.

    Raises ValueError for observations that say nothing: fewer than 3, or all the same.

    >>> import volatilis as vl
    >>> y, *_ = vl.ChangingEnvironment(vl.Gaussian(sigma=2.0, mu_0=30.0, sigma_0=9.0), p_c=0.05).sample(500, seed=1)
    >>> found = vl.estimate(y, vl.Gaussian)
    >>> found["sigma"].low < 2.0 < found["sigma"].high
    True
    """
    if method not in METHODS:
        raise ValueError(f"method = {method!r} is not accepted; {' and '.join(map(repr, METHODS))} are")
    several = is_auto(family) or (isinstance(family, (list, tuple)) and not hasattr(family, "_fields"))
    chosen = families_of(ys, family, given) if several else [family]
    known = dict(parameters) if p_c is None else {**parameters, "p_c": p_c}
    door = Door(ys, given, reset, missing)
    made = [observed_as(door, chosen[0], known, learner)]
    made += [observed_as(door, one, known, learner, made[0].kept) for one in chosen[1:]]
    repeated = counted_once(made[0])
    made, left_out = with_a_past(made) if is_auto(family) else (made, ())
    scored = same_observations(made)
    made = [one._replace(data=one.data._replace(scored=scored)) for one in made]
    ranked = sorted(_compared(made, method, workers), key=lambda one: -one.log_marginal)
    first, notes = ranked[0], (*repeated, *left_out)
    if first.data.observations < made[0].data.observations:
        notes = (*notes, f"families were compared on the first {first.data.observations:,} observations")
        first = _found(next(one for one in made if one.model is first.model), method, workers)
    best = first.environment(searched=True)
    best = _checked(best, first.data) if check else best
    best = replace(best, notes=(*best.notes, *notes))
    if not several:
        return best
    behind = tuple(ranked[0].log_marginal - one.log_marginal for one in ranked)
    return Environments((best, *(one.environment(searched=False) for one in ranked[1:])), behind)


# --- one family --------------------------------------------------------------------------------------------------------


class FittedFamily(NamedTuple):
    """The highest point of one family's evidence."""

    model: Unknowns
    data: Data
    method: str
    point: Point
    evidence: Evidence
    values: search.Values
    peak: search.Peak
    log_evidence: float
    log_marginal: float

    def environment(self, searched: bool) -> Environment:
        """Its parameters; without a search their intervals are quadratic, and what data cannot tell is not said."""
        point, values = self.point, self.values
        draws = _draws(point, self.peak.u, self.data)
        informed = [searched and not self._is_prior(i) for i in range(len(point.coordinates))]
        peak = search.with_intervals(values, point.coordinates, self.peak, draws, informed)
        learner = point.learner(peak.u)
        assert learner is not None  # the peak is one of the points that were tried
        result = Environment(
            family=learner.family,
            p_c=learner.change_probability(),
            estimates=_estimates(point, peak),
            log_evidence=self.log_evidence,
            log_marginal=self.log_marginal,
            observations=self.data.observations,
            sequences=self.data.begins,
            method=self.method,
            priors=tuple(one.prior_text() for one in point.coordinates) if self.method == "map" else (),
            notes=(*self.model.notes, *(notes_of(point, peak, self.evidence, self.method) if searched else ())),
            warnings=(*warnings_of(point, peak), *self._without_digits()) if searched else (),
            profile_of=lambda name, count: _profile(values, point, peak, name, count),
        )
        return cautious(result, learner) if searched else result

    def _without_digits(self) -> Iterator[str]:
        family = self.model.template.family
        return without_digits(family, [family.as_observed(one) for one in self.data.sequences()])

    def _is_prior(self, i: int) -> bool:
        """Whether what is known of a parameter is the weak prior's, which is a parabola."""
        return self.method == "map" and bool(self.peak.covariance[i, i] > (PRIOR_SHARE * self.point.coordinates[i].prior_sd) ** 2)


def _compared(made: Sequence[Observed], method: str, workers: int | None) -> list[FittedFamily]:
    """Each family; of several those of a large table on some of it, which tells them apart."""
    some = len(made) > 1 and made[0].data.observations > LARGE
    return [_found(one._replace(data=one.data.first()) if some else one, method, workers) for one in made]


def _found(observed: Observed, method: str, workers: int | None) -> FittedFamily:
    model, data = observed.model, observed.data
    _check_data(model, data)
    sequences = data.sequences()
    template = model.from_data(sequences)
    spread = unit_of(template, spread_of([template.family.as_observed(one) for one in sequences]))
    point = Point(coordinates_of(template, model.unknown, spread), template)
    evidence = Evidence(point.learner, data, workers)

    def values_on(some: Evidence) -> search.Values:
        def values(points: Sequence[np.ndarray]) -> np.ndarray:
            log_values = -some.of(points)
            return log_values - np.array([point.log_prior(u) for u in points]) if method == "map" else log_values

        return values

    values = values_on(evidence)
    rough = values_on(Evidence(point.roughly().learner, data.first() if data.observations > LARGE else data, workers))
    peak = search.described(values, point.coordinates, search.highest(values, point.coordinates, _starts(point), rough=rough))
    log_evidence = float(evidence.of([peak.u])[0])
    log_marginal = _log_marginal(point, peak, log_evidence, data.observations)
    return FittedFamily(model, data, method, point, evidence, values, peak, log_evidence, log_marginal)


def _draws(point: Point, u: np.ndarray, data: Data) -> float:
    """How many draws of the prior the observations had: beginnings, and the changes to expect."""
    learner = point.learner(u)
    return data.begins + (0.0 if learner is None else learner.change_probability()) * data.observations


def _check_data(model: Unknowns, data: Data) -> None:
    steps = data.events.size
    if data.observations == 0:
        raise ValueError(f"there is no observation: all of {steps:,} are missing" if steps else "there is no observation")
    if data.observations < FEWEST:
        raise ValueError(
            f"{'1 observation says' if data.observations == 1 else '2 observations say'} nothing about an environment; "
            f"{FEWEST} are the least, hundreds better"
        )
    if not model.unknown:
        raise ValueError("nothing is unknown: mark a parameter with vl.unknown, or leave p_c out")
    seen = model.template.family.as_observed(data.values[data.events % RESET == OBSERVE])
    size = float(np.abs(seen).max(initial=0.0))
    if seen.dtype.kind == "f" and size > 0.0 and not SMALLEST < size < LARGEST:
        raise ValueError(
            f"observations of the size {size:.3g} have squares that no number can hold; multiply them by something, so that "
            f"their largest lies between {SMALLEST:g} and {LARGEST:g}"
        )
    if seen.dtype.kind == "f" and np.all(seen == seen[0]):
        value = seen[0] if seen.ndim == 1 else seen[0].tolist()
        raise ValueError(f"all {len(seen):,} observations are {value}: data that do not vary say nothing about their noise")


def _starts(point: Point) -> list[np.ndarray]:
    """What the data suggest, with several p_c; and from there each parameter up and down."""
    names = [one.name for one in point.coordinates]
    middle = np.zeros(len(names))
    if "p_c" not in names:
        changes = [middle]
    else:
        at = names.index("p_c")
        changes = [np.where(np.arange(len(names)) == at, math.log(p / (1.0 - p)), middle) for p in START_P_C]
    around = [
        changes[len(changes) // 2] + sign * e for k, e in enumerate(np.eye(len(names))) if names[k] != "p_c" for sign in (1, -1)
    ]
    return [*changes, *around]


def _estimates(point: Point, peak: search.Peak) -> tuple[Estimate, ...]:
    result = []
    for i, one in enumerate(point.coordinates):
        u, variance = float(peak.u[i]), float(peak.covariance[i, i])
        error = abs(one.slope(u)) * math.sqrt(variance) if variance > 0.0 else math.nan
        result.append(
            Estimate(one.name, one.natural(u), error, one.natural(float(peak.low[i])), one.natural(float(peak.high[i])))
        )
    return tuple(result)


def _log_marginal(point: Point, peak: search.Peak, log_evidence: float, observations: int) -> float:
    """log of the evidence averaged over the weak priors: Laplace's approximation; BIC's where the evidence is flat somewhere."""
    size = peak.u.size
    sign, log_det = np.linalg.slogdet(peak.covariance) if np.isfinite(peak.covariance).all() else (0.0, 0.0)
    if not sign > 0.0:
        return log_evidence - 0.5 * size * math.log(max(observations, 2))
    width = sum(math.log(one.prior_sd) for one in point.coordinates)
    return log_evidence + point.log_prior(peak.u) + 0.5 * float(log_det) - width


def _profile(values: search.Values, point: Point, peak: search.Peak, name: str, count: int) -> Profile:
    """From beyond one end of the interval to beyond the other."""
    i = [one.name for one in point.coordinates].index(name)
    one, low, high = point.coordinates[i], float(peak.low[i]), float(peak.high[i])
    margin = 0.6 * (high - low)
    places = np.linspace(max(low - margin, one.low), min(high + margin, one.high), max(count, 3))
    drops, u = [], peak.u
    for place in places:
        value, u = search.lowest_given(values, point.coordinates, peak, u, i, float(place))
        drops.append(peak.value - value)
    return Profile(np.array([one.natural(float(place)) for place in places]), np.array(drops))


def _checked(environment: Environment, data: Data) -> Environment:
    """With the check of one-step errors, where the family has one."""
    if environment.family.lacks("predictive_cdf"):
        return environment
    from volatilis.estimation.checks import check_model

    starts = np.flatnonzero(data.events >= RESET)[1:]
    check = check_model(environment.family, np.split(data.values, starts), environment.p_c, np.split(data.events, starts))
    return replace(environment, check=check, warnings=(*environment.warnings, *(f"{one.kind}: {one}" for one in check.misfits)))
