"""Statements in words of degree, each with its number: the ratio of two learners' errors (or regrets), with its 99 % interval.

    slightly, close, very close       by less than 10 %
    similar, comparable               by less than 25 %
    much                              by more than 25 %, where similar ends

After a change and in a panel the ratio is that of the means; over the cells of a grid it is the typical one, every cell alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from volatilis.paper.claims.cells import log_ratio
from volatilis.paper.claims.checks import place_name
from volatilis.paper.claims.statistics import Estimate, NotThere, Outcome, all_of, below, every, stratified
from volatilis.paper.claims.views import (
    ALL_CELLS,
    After,
    Check,
    Grid,
    Panel,
    Source,
    View,
    cell_coordinates,
    cell_name,
    grid_shape,
)

CLOSE, SIMILAR, MUCH = 0.1, 0.25, 0.25


def log_error_ratio(view: View, place: Source, larger: str, smaller: str) -> Estimate:
    """log(error of one / error of the other), paired by seed where seeds are kept apart; noise to first order."""
    match place:
        case Grid():
            return log_ratio(place.samples(view, larger, "error"), place.samples(view, smaller, "error"))
        case Panel():
            return ratio_of_means(place.samples(view, larger), place.samples(view, smaller))
        case After():
            a, b = place.by_seed(view, larger), place.by_seed(view, smaller)
            if a is not None and b is not None:
                return ratio_of_means(a[None, :], b[None, :])
            one, other = place.level(view, larger), place.level(view, smaller)
            noise = math.hypot(one.standard_error / one.estimate, other.standard_error / other.estimate)
            return Estimate(math.log(one.estimate / other.estimate), noise, one.freedom)


def ratio_of_means(larger: np.ndarray, smaller: np.ndarray) -> Estimate:
    """log(mean of one / mean of the other) over all strata that both have."""
    usable = np.isfinite(larger).all(axis=1) & np.isfinite(smaller).all(axis=1)
    larger, smaller = larger[usable], smaller[usable]
    a, b = float(larger.sum()) / max(larger.size, 1), float(smaller.sum()) / max(smaller.size, 1)
    if not (a > 0.0 and b > 0.0):
        raise NotThere("a mean that is not above 0 has no ratio")
    return stratified(larger / a - smaller / b)._replace(estimate=math.log(a / b))


def more(*groups: Sequence[str], at: Source = ALL_CELLS, least: float = 0.0, most: float = math.inf) -> Check:
    """Each of a group has a larger error than each of the group before: by more than the least share, by less than the most."""

    def check(view: View) -> Outcome:
        tests = {
            f"{larger} / {smaller}": log_error_ratio(view, at, larger, smaller)
            for first, second in itertools.pairwise(groups)
            for smaller, larger in itertools.product(first, second)
        }
        enough = every({name: test.above(math.log1p(least)) for name, test in tests.items()})
        little = all_of(below(test, math.log1p(most)) for test in tests.values()) if most < math.inf else True
        asked = f"above {1.0 + least:g}" + (f" and below {1.0 + most:g}" if most < math.inf else "")
        return Outcome(in_words(at, tests), all_of((enough, little)), f"asked: {asked}; {interval_method(view, at)}")

    return check


def at_most(learners: Sequence[str], others: Sequence[str], share: float, at: Grid = ALL_CELLS) -> Check:
    """The error of each learner is typically above that of each other by less than this share, if at all."""

    def check(view: View) -> Outcome:
        tests, together, cells = {}, {}, []
        for other, who in itertools.product(others, learners):
            pair = f"{who} / {other}"
            tests[pair] = log_error_ratio(view, at, who, other)
            together[pair] = ratio_of_means(at.samples(view, who, "error"), at.samples(view, other, "error"))
            cells.append(f"{pair} {beyond(view, at, who, other, share)}")
        truth = all_of(below(test, math.log1p(share)) for test in tests.values())
        means = ", ".join(f"{pair} {interval(test)}" for pair, test in together.items())
        text = f"{in_words(at, tests)}; {', '.join(cells)}; for comparison, ratio of the means over all cells: {means}"
        return Outcome(text, truth, f"asked: a typical ratio below {1.0 + share:g}; {interval_method(view, at)}")

    return check


def beyond(view: View, at: Grid, learner: str, other: str, share: float) -> str:
    """In how many single cells the ratio is larger than asked, and the largest."""
    chosen = np.argwhere(np.broadcast_to(at.cells(*cell_coordinates(view)), grid_shape(view)))
    ratios = at.samples(view, learner, "error").mean(axis=1) / at.samples(view, other, "error").mean(axis=1)
    largest = int(np.nanargmax(ratios))
    place = cell_name(view, (int(chosen[largest][0]), int(chosen[largest][1])))
    count = int(np.sum(ratios > 1.0 + share))
    return f"above {1.0 + share:g} in {count} of {len(ratios)} cells, at most {ratios[largest]:.3g} ({place})"


def in_words(at: Source, tests: dict[str, Estimate]) -> str:
    what = {Grid: "typical ratio of errors", Panel: "ratio of regrets", After: "ratio of errors"}[type(at)]
    name = place_name(at)
    ratios = ", ".join(f"{pair} {interval(test)}" for pair, test in tests.items())
    return f"{what}{f', {name}' if name else ''}: {ratios}"


def interval(test: Estimate) -> str:
    """The ratio, and its 99 % interval."""
    low, high = (math.exp(test.estimate + side * test.half_width) for side in (-1.0, 1.0))
    return f"{math.exp(test.estimate):.3g} ({low:.3g} to {high:.3g})"


def interval_method(view: View, at: Source) -> str:
    strata = {Grid: ", stratified by cell", Panel: ", stratified by p_c", After: ""}[type(at)]
    if isinstance(at, After) and "mean_by_seed" not in view.dataset:
        return "99 % intervals from the standard errors over changes"
    return f"99 % intervals, Student's t over {view.dataset.sizes['seed']} seeds{strata}"
