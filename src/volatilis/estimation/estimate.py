"""The environment that made observations: its family's parameters and its change probability, from the observations alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from volatilis.estimation import search
from volatilis.estimation.coordinates import Point, coordinates_of, spread_of
from volatilis.estimation.environment import METHODS, Environment, Environments, Estimate, Profile
from volatilis.estimation.evidence import Data, Evidence, joined
from volatilis.estimation.unknowns import Unknowns, unknowns_of
from volatilis.estimation.words import notes_of
from volatilis.learners._grids import Unknown
from volatilis.running.arguments import step_events
from volatilis.running.drivers import OBSERVE, RESET
from volatilis.running.pieces import Readouts

FEWEST = 3  # observations that say anything
START_P_C = (0.003, 0.03, 0.2)
LARGE = 25_000  # observations: beyond, a search begins with some of them


def estimate(
    ys: object,
    family: object,
    *,
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
        family       a class (vl.Gaussian) or a text ("gaussian:sigma=10"): every parameter that is not given is unknown;
                     a family or a learner (vl.VarSMiLe(family, m=0.1)): the parameters marked with vl.unknown are, and p_c;
                     a list of these: all are estimated and compared by their evidence
        p_c          the change probability; unknown if it is not given
        method       "map": maximum a posteriori, with weak priors that are told; "ml": maximum evidence
        learner      a text, such as "varsmile:m=unknown", whose predictions are the evidence; next to exact if not given
        reset        where a block begins, as for `volatilis.run`; for several sequences one entry each, or None
        missing      what a missing observation means: "elapse", time passes; "skip"; "error"
        check        whether the one-step errors are checked, so that a wrong family is named rather than fitted
        workers      threads; None takes one per core
        parameters   of the family or the learner, by name: a value, or vl.unknown

    Returns an Environment (of a list, Environments, the best first): `.family` and `.p_c` build learners. Raises ValueError for
    observations that say nothing: fewer than 3, or all the same.

    >>> import volatilis as vl
    >>> y, *_ = vl.ChangingEnvironment(vl.Gaussian(sigma=2.0, mu_0=30.0, sigma_0=9.0), p_c=0.05).sample(500, seed=1)
    >>> found = vl.estimate(y, vl.Gaussian)
    >>> found["sigma"].low < 2.0 < found["sigma"].high
    True
    """
    if method not in METHODS:
        raise ValueError(f"method = {method!r} is not accepted; {' and '.join(map(repr, METHODS))} are")
    given = dict(parameters) if p_c is None else {**parameters, "p_c": p_c}
    several = isinstance(family, (list, tuple)) and not hasattr(family, "_fields")
    families = list(family) if several else [family]  # type: ignore[call-overload]
    if not families:
        raise ValueError("estimate needs a family, such as vl.Gaussian")
    observed = [_observed(ys, one, given, learner, reset, missing) for one in families]
    scored = _same_observations(observed) if several else observed[0].data.scored
    found = [_found(one._replace(data=one.data._replace(scored=scored)), method, workers) for one in observed]
    found.sort(key=lambda one: -one[0].log_marginal)
    best = _checked(*found[0]) if check else found[0][0]
    return Environments((best, *(one for one, _ in found[1:]))) if several else best


class Observed(NamedTuple):
    """Observations as a model has them."""

    model: Unknowns
    data: Data


def _observed(
    ys: object, family: object, given: Mapping[str, object], learner: str | None, reset: object, missing: str
) -> Observed:
    model = unknowns_of(family, given, ys)
    model = model if learner is None else model.predicted_by(learner)
    template = model.template.family
    vector = template.observations([])[0].ndim
    sequences, many = _sequences(ys, vector)
    resets = reset if many else [reset]
    resets = [None] * len(sequences) if reset is None else list(resets)  # type: ignore[call-overload]
    if len(resets) != len(sequences):
        raise ValueError(
            f"estimate: reset has {len(resets)} entries for {len(sequences)} sequences; one per sequence is accepted"
        )
    values, events = [], []
    for i, (y, marks) in enumerate(zip(sequences, resets, strict=True)):
        try:
            encoded, absent = template.observations(y)
        except (ValueError, TypeError) as error:
            raise type(error)(f"sequence {i}: {error}" if many else str(error)) from None
        values.append(encoded)
        events.append(step_events(absent, marks, missing, i if many else None))
    return Observed(model, joined(values, events))


def _sequences(ys: object, dimensions: int) -> tuple[list[Any], bool]:
    """One sequence or many: told by how many dimensions there are beyond those of one."""
    if isinstance(ys, np.ndarray):
        return (list(ys), True) if ys.ndim > dimensions else ([ys], False)
    entries = list(ys)  # type: ignore[call-overload]
    deep = [np.ndim(one) for one in entries[:1] if one is not None]
    return (entries, True) if deep and deep[0] + 1 > dimensions else ([ys], False)


def _same_observations(observed: Sequence[Observed]) -> np.ndarray:
    """Which observations count: those that every family predicts (an autoregression is only conditioned on its first)."""
    scored = np.ones(observed[0].data.events.size, dtype=np.uint8)
    for model, data in observed:
        out = Readouts(model.template, 0, ("run_length",)).advance(data.values, data.events)
        scored &= ~np.isnan(out.log_p) | (data.events % RESET != OBSERVE)
    return scored


# --- one family --------------------------------------------------------------------------------------------------------


def _found(observed: Observed, method: str, workers: int | None) -> tuple[Environment, Data]:
    model, data = observed
    _check_data(model, data)
    sequences = data.sequences()
    template = model.from_data(sequences)
    point = Point(coordinates_of(template, model.unknown, spread_of(sequences)), template)
    evidence = Evidence(point.learner, data, workers)

    def values_on(some: Evidence) -> search.Values:
        def values(points: Sequence[np.ndarray]) -> np.ndarray:
            found = -some.of(points)
            return found - np.array([point.log_prior(u) for u in points]) if method == "map" else found

        return values

    values, starts, searches = values_on(evidence), _starts(point), 2
    if data.observations > LARGE:
        some = values_on(Evidence(point.learner, data.first(), workers))
        starts, searches = [search.highest(some, point.coordinates, starts)], 1
    peak = search.described(values, point.coordinates, search.highest(values, point.coordinates, starts, searches))
    log_evidence = float(evidence.of([peak.u])[0])
    learner = point.learner(peak.u)
    assert learner is not None  # the peak is one of the points that were tried
    environment = Environment(
        family=learner.family,
        p_c=learner.change_probability(),
        estimates=_estimates(point, peak),
        log_evidence=log_evidence,
        log_marginal=_log_marginal(point, peak, log_evidence, data.observations),
        observations=data.observations,
        sequences=data.begins,
        method=method,
        priors=tuple(one.prior_text() for one in point.coordinates) if method == "map" else (),
        notes=(*model.notes, *notes_of(point, peak, evidence, method)),
        profile_of=lambda name, count: _profile(values, point, peak, name, count),
    )
    return environment, data


def _check_data(model: Unknowns, data: Data) -> None:
    steps = data.events.size
    if data.observations == 0:
        raise ValueError(f"there is no observation: all of {steps:,} are missing" if steps else "there is no observation")
    if data.observations < FEWEST:
        raise ValueError(
            f"{data.observations} observations say nothing about an environment; {FEWEST} are the least, hundreds better"
        )
    if not model.unknown:
        raise ValueError("nothing is unknown: mark a parameter with vl.unknown, or leave p_c out")
    seen = data.values[data.events % RESET == OBSERVE]
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
    found = []
    for i, one in enumerate(point.coordinates):
        u, variance = float(peak.u[i]), float(peak.covariance[i, i])
        error = abs(one.slope(u)) * math.sqrt(variance) if variance > 0.0 else math.nan
        found.append(Estimate(one.name, one.natural(u), error, one.natural(float(peak.low[i])), one.natural(float(peak.high[i]))))
    return tuple(found)


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
    found, u = [], peak.u
    for place in places:
        value, u = search.lowest_given(values, point.coordinates, u, i, float(place))
        found.append(peak.value - value)
    return Profile(np.array([one.natural(float(place)) for place in places]), np.array(found))


def _checked(environment: Environment, data: Data) -> Environment:
    """With the check of one-step errors, where the family has one."""
    if environment.family.lacks("predictive_cdf"):
        return environment
    from volatilis.estimation.checks import check_model

    starts = np.flatnonzero(data.events >= RESET)[1:]
    found = check_model(environment.family, np.split(data.values, starts), environment.p_c, np.split(data.events, starts))
    return replace(environment, check=found, warnings=tuple(f"{misfit.kind}: {misfit}" for misfit in found.misfits))
