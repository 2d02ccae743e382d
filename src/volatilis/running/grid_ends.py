"""Does the truth lie beyond the values that a learner weighs (`Averaged`)? Then their weight piles up at an end of the grid.

Weight at an end is no proof: the end may be the value that is nearest to a truth between two of them. So the end is compared with
values beyond it. Data from a value within the grid make one of these 200 times as probable as the end in 1 of 200 data sets at
most (Markov's inequality; the evidence falls on both sides of its peak, so that the end is no more probable than the truth).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.learners._base import Learner
from volatilis.learners._grids import parameter_places, scale_of, with_values
from volatilis.learners.averaged import Averaged
from volatilis.learners.per_context import PerContext, Unseen
from volatilis.running.arguments import warn
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET, SKIP
from volatilis.running.pieces import ReadoutPieces
from volatilis.surprise import log_predictive

CERTAIN = math.log(200.0)
PILED = 0.5  # of the weight: with less at an end, the rest lies inside
BEYOND = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0)  # how far beyond an end to look, in steps of the grid
ALIKE = 3.0  # nats: of values beyond that are about as good the nearest is told
NEGLIGIBLE = 1e-3  # of the largest weight: such values of the other parameters are left out
KEYS = (0, 1, 2)  # of learners that sample: what only some draws say is chance
MOST_WORK = 400_000  # observations times values, of a look that has to run the learner first


class Ended(NamedTuple):
    """A sequence that `Averaged` went over: what it saw, what happened at each step, and the weights in the end."""

    values: np.ndarray
    events: np.ndarray
    shares: np.ndarray


class Pile(NamedTuple):
    """An end of a grid beyond which the truth lies: its weight, a better value, by how many nats, and of which sequences."""

    name: str
    value: float
    size: int
    highest: bool
    weight: float
    better: float
    gain: float
    sequences: tuple[int, ...]

    @property
    def message(self) -> str:
        """What was found."""
        end = "highest" if self.highest else "lowest"
        times = f"{math.exp(self.gain):,.0f}" if self.gain < 14.0 else f"e^{self.gain:,.0f}"
        return (
            f"the grid of {self.name} ends too soon: {_percent(self.weight)} of the weight lies at {self.value:.4g}, the {end} "
            f"of its {self.size} values, and {self.name} = {self.better:.3g} makes the observations {times} times as probable: "
            f"what is learned of {self.name} is wrong, its interval too"
        )

    @property
    def remedy(self) -> str:
        """What mends it."""
        often = self.name == "p_c" and self.better > 0.5
        family = ", or a family that fits: p_c above one half is rarely a rate of changes" if often else ""
        return f"Give values that reach {'higher' if self.highest else 'lower'}, beyond {self.better:.3g}{family}"

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}"


def weighed(learner: Learner) -> Averaged | None:
    """The learner that weighs parameters, itself or that of each context; None where none does."""
    inner = learner.learner if isinstance(learner, PerContext) else learner
    return inner if isinstance(inner, Averaged) else None


def run_over(learner: Learner, sequences: Sequence[np.ndarray], events: Sequence[np.ndarray]) -> list[Ended]:
    """The first of these sequences, as many as are looked at."""
    inner, runs = weighed(learner), []
    left = 0 if inner is None else max(MOST_WORK // len(inner.weights), 100)
    for values, what in zip(sequences, events, strict=True):
        values, what = values[:left], what[:left]
        left -= len(values)
        if len(values):
            pieces = ReadoutPieces(learner, 0, ("run_length",))
            pieces.advance(values, what)
            runs += ended(learner, values, what, pieces.shares())
    return runs


def ended(learner: Learner, values: np.ndarray, events: np.ndarray, shares: np.ndarray) -> list[Ended]:
    """What a learner went over: one sequence, or one for each context, as it was for that context alone."""
    if not isinstance(learner, PerContext):
        return [Ended(values, events, one) for one in shares]
    if len(values) and values[:, 0].min() < 0.0 and (events % RESET == OBSERVE)[values[:, 0] < 0.0].any():
        return []  # several contexts at one step
    kind = learner.learner.family.observations([])[0]
    values_of_rows = np.ascontiguousarray(np.nan_to_num(values[:, 1] if kind.ndim == 1 else values[:, 1:])).astype(kind.dtype)
    unseen = ELAPSE if learner.unseen == Unseen.elapse else SKIP
    what = [np.where(values[:, 0] == c, events, events // RESET * RESET + unseen) for c in range(learner.contexts)]
    return [Ended(values_of_rows, one.astype(events.dtype), share) for one, share in zip(what, shares, strict=True)]


def warn_of_grid(learner: Learner, runs: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
    """Of runs that are done: observations, events, weights in the end."""
    inner = weighed(learner)
    done = [] if inner is None else [one for run in runs for one in ended(learner, *run)]
    for pile in [] if inner is None else piles(inner, done):
        what = "contexts" if isinstance(learner, PerContext) and len(runs) == 1 else "sequences looked at"
        whom = f" (in {len(pile.sequences)} of {len(done)} {what})" if pile.sequences and len(done) > 1 else ""
        warn(f"{pile}{whom}")


def piles(learner: Averaged, runs: Sequence[Ended]) -> list[Pile]:
    """The ends of grids beyond which the truth lies: of all sequences as one, or of each alone."""
    result = []
    for name in learner.parameters():
        grid = learner.grid(name)
        for end, inner in ((0, 1), (-1, -2)) if len(grid) > 1 else ():
            pile = _pile(learner, name, float(grid[end]), float(grid[inner]), runs)
            result += [] if pile is None else [pile]
    return result


def best_point(learner: Averaged, runs: Sequence[Ended]) -> Learner:
    """The inner learner with what was learned: the means of its parameters, on their own scales, of all sequences together."""
    weights, places = _together(learner, runs), parameter_places(learner.learner)
    means = {}
    for name in learner.parameters():
        scale = scale_of(places[name])
        points = np.array([scale.to(value) for value in learner.points(name).tolist()])
        low, high = learner.grid(name)[[0, -1]].tolist()
        means[name] = min(max(scale.back(float(weights @ points)), low), high)
    return with_values(learner.learner, means)


def _pile(learner: Averaged, name: str, end: float, inner: float, runs: Sequence[Ended]) -> Pile | None:
    at_end = learner.points(name) == end
    alone = [float(run.shares[at_end].sum()) for run in runs]
    weights = _together(learner, runs)
    all_alike = float(weights[at_end].sum()) > PILED or learner.forget > 0.0
    chosen = [i for i, weight in enumerate(alone) if weight > PILED or all_alike]
    if not chosen:
        return None
    values = list(_values_beyond(learner, name, end, inner))
    if not values:
        return None
    gains = np.array([_gains(learner, name, end, values, runs[i], weights) for i in chosen])  # (sequences, values)
    prior = math.log(len(values))
    single = np.logaddexp.reduce(gains, axis=1) - prior - math.log(len(runs))
    concerned = tuple(chosen[k] for k in np.flatnonzero(single > CERTAIN))
    total = gains.sum(axis=0)
    none_differs = bool((gains[:, int(total.argmax())] > -CERTAIN).all())
    if all_alike and none_differs and np.logaddexp.reduce(total) - prior > CERTAIN:
        concerned = ()
    elif concerned:
        total = gains[single > CERTAIN].sum(axis=0)
    else:
        return None
    weight = float(np.mean([alone[i] for i in concerned or range(len(runs))]))
    best = int(np.argmax(total >= total.max() - ALIKE))
    return Pile(name, end, len(learner.grid(name)), end > inner, weight, values[best], float(total[best]), concerned)


def _values_beyond(learner: Averaged, name: str, end: float, inner: float) -> Iterator[float]:
    """Those that the parameter may have; where an end is natural there are none."""
    scale = scale_of(parameter_places(learner.learner)[name])
    step = scale.to(end) - scale.to(inner)
    for far in BEYOND:
        try:
            value = scale.back(scale.to(end) + far * step)
            moved = with_values(learner.learner, {name: value})
        except (OverflowError, ValueError):
            continue
        if 0.0 < moved.change_probability() < 1.0 and value != end:
            yield value


def _gains(learner: Averaged, name: str, end: float, values: Sequence[float], run: Ended, weights: np.ndarray) -> np.ndarray:
    """How much more probable the sequence is with each of these values than with the end of the grid, in nats.

    The others are as they were learned. Where parameters drift, each stands beside the end.
    """
    chosen = learner.points(name) == end
    chosen &= weights >= NEGLIGIBLE * weights[chosen].max()
    column = learner.parameters().index(name)
    points, shares = learner.values[chosen], learner.weights[chosen]

    def with_points(values: Sequence[float]) -> Averaged | None:
        moved = [np.where(np.arange(points.shape[1]) == column, value, points) for value in values]
        whole = np.tile(shares, len(values))
        try:
            return Averaged._make([learner.learner, learner.places, np.concatenate(moved), whole / whole.sum(), learner.forget])
        except ValueError:  # with other parameters of the family this value is not accepted
            return None

    before, drifts = with_points([end]), learner.forget > 0.0
    assert before is not None  # it is a part of the learner
    others = [with_points([end, value] if drifts else [value]) for value in values]
    gains = []
    for key in KEYS if learner.learner.samples() else KEYS[:1]:
        base = _evidence(before, run, key)
        gains.append([-math.inf if other is None else _evidence(other, run, key) - base for other in others])
    return np.min(gains, axis=0)


def _evidence(learner: Averaged, run: Ended, key: int) -> float:
    out = ReadoutPieces(learner, key, ("adaptation_rate", "change_probability")).advance(run.values, run.events)
    total = float(np.nansum(log_predictive(out.log_p, out.log_p_0, out.p_c)))
    return total if math.isfinite(total) else -math.inf


def _together(learner: Averaged, runs: Sequence[Ended]) -> np.ndarray:
    """The weights after all sequences, if their parameters are the same."""
    prior = np.log(learner.weights)
    total = prior + sum(np.log(np.maximum(run.shares, 1e-300)) - prior for run in runs)
    weights = np.exp(total - total.max())
    return weights / weights.sum()


def _percent(share: float) -> str:
    return "all" if share > 0.9995 else f"{100.0 * share:.3g} %"
