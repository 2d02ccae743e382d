"""Statements about ratios: who is closer to Exact Bayes and by what factor, and the paper's words of degree with their numbers.

    slightly, close, very close       by less than 10 %
    similar, comparable               by less than 25 %
    much                              by more than 25 %, where similar ends

A mean over cells is a mean of the noisiest ones: the distances of two cells may differ a million times. Where the paper compares
learners cell by cell, so does this: the ratio of two means in each cell, averaged as a logarithm, every cell alike ("typical").
After a change and in a panel the ratio is that of the means. Intervals are at 99 %.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from volatilis.paper.claims.checks import place_name
from volatilis.paper.claims.statistics import (
    Difference,
    MissingDataError,
    Outcome,
    all_of,
    below,
    degree,
    every,
    level,
    stratified,
    weakest,
)
from volatilis.paper.claims.views import (
    ALL_CELLS,
    After,
    Check,
    DistanceGrid,
    Panel,
    Source,
    View,
    cell_coordinates,
    cell_name,
    grid_shape,
)

CLOSE, SIMILAR, MUCH = 0.1, 0.25, 0.25
MOST_SHOWN = 4  # ratios in words; the one that decides stands beside the verdict


def log_ratio(larger: np.ndarray, smaller: np.ndarray) -> Difference:
    """The mean over cells of log(mean distance of one / mean distance of the other), paired by seed; noise to first order."""
    usable = np.isfinite(larger).all(axis=1) & np.isfinite(smaller).all(axis=1)
    usable &= (larger.mean(axis=1) > 0.0) & (smaller.mean(axis=1) > 0.0)
    if not usable.any() or larger.shape[1] < 2:
        raise MissingDataError("no cell with two seeds in which neither learner is exact")
    a, b = larger[usable], smaller[usable]
    logs = np.log(a.mean(axis=1) / b.mean(axis=1))
    linear = a / a.mean(axis=1, keepdims=True) - b / b.mean(axis=1, keepdims=True)
    return stratified(linear)._replace(estimate=float(logs.mean()))


def typically(*groups: Sequence[str], at: DistanceGrid = ALL_CELLS) -> Check:
    """Each member of a group is closer to Exact Bayes than each of the next, in the geometric mean of all cells."""

    def check(view: View) -> Outcome:
        tests, texts = {}, {}
        for nearer, further in itertools.pairwise(groups):
            for one, other in itertools.product(nearer, further):
                test = log_ratio(at.samples(view, other), at.samples(view, one))
                name = f"{other} / {one}"
                tests[f"log ratio {name}"] = test
                texts[f"{name} {np.exp(test.estimate):.3g} ({counts(view, at, one, other)})"] = test.estimate
        shown = sorted(texts, key=texts.__getitem__)[:MOST_SHOWN] if len(texts) > MOST_SHOWN else list(texts)
        rest = f"the least {MOST_SHOWN} of {len(texts)}: " if len(texts) > MOST_SHOWN else ""
        text = f"typical ratio of distances: {rest}{', '.join(shown)}"
        return Outcome(
            text, every(tests), f"{weakest(tests)}; t-test over seeds, stratified by cell; counts: each cell by itself"
        )

    return check


def counts(view: View, at: DistanceGrid, nearer: str, further: str) -> str:
    """In how many single cells the difference counts, each way."""
    signs = list(cell_signs(view, at, nearer, further).values())
    return f"{signs.count(1)} of {len(signs)} cells for, {signs.count(-1)} against"


def cell_signs(view: View, at: DistanceGrid, nearer: str, further: str) -> dict[str, int]:
    """+1 where the first learner is nearer in a cell by a difference that counts among so many tries, -1 where the second is."""
    chosen = np.argwhere(np.broadcast_to(at.cells(*cell_coordinates(view)), grid_shape(view)))
    rows = at.samples(view, further) - at.samples(view, nearer)
    tests = {
        cell_name(view, (int(i), int(j))): stratified(row)
        for (i, j), row in zip(chosen, rows, strict=True)
        if np.isfinite(row).sum() > 1
    }
    return {name: test.sign(len(tests)) for name, test in tests.items()}


def nearer_in_cells(nearer: str, further: str, at: DistanceGrid) -> Check:
    """One learner is closer than another in these cells: typically, and in none does the difference count against it."""

    def check(view: View) -> Outcome:
        signs = cell_signs(view, at, nearer, further)
        test = log_ratio(at.samples(view, further), at.samples(view, nearer))
        against = [name for name, sign in signs.items() if sign < 0]
        text = f"{nearer} closer in {list(signs.values()).count(1)} of {len(signs)} cells, {further} in {len(against)}"
        how_far = [f"{name} by {far(view, at, nearer, further)[name]:.3g} times" for name in against]
        text += f" ({'; '.join(how_far)})" if against else ""
        text += f"; typical ratio {further} / {nearer} {np.exp(test.estimate):.3g}"
        return Outcome(text, False if against else every({"log ratio": test}), f"log ratio {test}; each cell by itself: t-test")

    return check


def far(view: View, at: DistanceGrid, nearer: str, further: str) -> dict[str, float]:
    """How many times the first learner's distance is the second's, cell by cell."""
    chosen = np.argwhere(np.broadcast_to(at.cells(*cell_coordinates(view)), grid_shape(view)))
    ratios = at.samples(view, nearer).mean(axis=1) / at.samples(view, further).mean(axis=1)
    return {cell_name(view, (int(i), int(j))): float(r) for (i, j), r in zip(chosen, ratios, strict=True)}


def nearest(best: Sequence[str], others: Sequence[str]) -> Check:
    """`typically`, with the mean, the median and the number of cells in which each learner is the closest of all."""
    ranked = typically(best, others)

    def check(view: View) -> Outcome:
        outcome = ranked(view)
        means = {who: ALL_CELLS.samples(view, who).mean(axis=1) for who in (*best, *others)}
        winners = np.argmin(np.array(list(means.values())), axis=0)
        parts = [
            f"{who} {np.mean(m):.3g}, {np.median(m):.3g}, best in {int(np.sum(winners == i))}"
            for i, (who, m) in enumerate(means.items())
        ]
        return outcome._replace(text=f"mean and median over cells: {'; '.join(parts)}. {outcome.text}")

    return check


def worse_somewhere(worse: str, better: str) -> Check:
    """There are cells in which one learner is further from Exact Bayes than another by a difference that counts."""

    def check(view: View) -> Outcome:
        signs = cell_signs(view, ALL_CELLS, better, worse)
        further = [name for name, sign in signs.items() if sign > 0]
        nearer = list(signs.values()).count(-1)
        text = f"{worse} is further than {better} in {len(further)} of {len(signs)} cells, nearer in {nearer}"
        text += f" (further at {'; '.join(further)})" if further else ""
        truth = True if further else None if all(sign == 0 for sign in signs.values()) else False
        return Outcome(text, truth, f"paired t-tests over seeds at {level():g} / {len(signs)} each")

    return check


# --- words of degree -----------------------------------------------------------------------------------------------------


def log_error_ratio(view: View, place: Source, larger: str, smaller: str) -> Difference:
    """log(error of one / error of the other), paired by seed where seeds are kept apart; noise to first order."""
    match place:
        case DistanceGrid():
            return log_ratio(place.samples(view, larger, "error"), place.samples(view, smaller, "error"))
        case Panel():
            return ratio_of_means(place.samples(view, larger), place.samples(view, smaller))
        case After():
            a, b = place.by_seed(view, larger), place.by_seed(view, smaller)
            if a is not None and b is not None:
                return ratio_of_means(a[None, :], b[None, :])
            one, other = place.level(view, larger), place.level(view, smaller)
            noise = math.hypot(one.standard_error / one.estimate, other.standard_error / other.estimate)
            return Difference(math.log(one.estimate / other.estimate), noise, one.freedom)


def ratio_of_means(larger: np.ndarray, smaller: np.ndarray) -> Difference:
    """log(mean of one / mean of the other) over all strata that both have."""
    usable = np.isfinite(larger).all(axis=1) & np.isfinite(smaller).all(axis=1)
    larger, smaller = larger[usable], smaller[usable]
    a, b = float(larger.sum()) / max(larger.size, 1), float(smaller.sum()) / max(smaller.size, 1)
    if not (a > 0.0 and b > 0.0):
        raise MissingDataError("a mean that is not above 0 has no ratio")
    return stratified(larger / a - smaller / b)._replace(estimate=math.log(a / b))


def more(*groups: Sequence[str], at: Source = ALL_CELLS, least: float = 0.0, most: float = math.inf) -> Check:
    """Each of a group has a larger error than each of the group before: by more than the least share, by less than the most."""

    def check(view: View) -> Outcome:
        tests = {
            f"{larger} / {smaller}": log_error_ratio(view, at, larger, smaller)
            for first, second in itertools.pairwise(groups)
            for smaller, larger in itertools.product(first, second)
        }
        enough = every({name: test.above(math.log1p(degree(least))) for name, test in tests.items()})
        little = all_of(below(test, math.log1p(degree(most))) for test in tests.values()) if most < math.inf else True
        bounds = f"above {1.0 + least:g}" + (f" and below {1.0 + most:g}" if most < math.inf else "")
        return Outcome(in_words(at, tests), all_of((enough, little)), f"asked: {bounds}; {interval_method(view, at)}")

    return check


def at_most(
    learners: Sequence[str], others: Sequence[str], share: float, at: DistanceGrid = ALL_CELLS, of: str = "cells"
) -> Check:
    """The error of each learner is above that of each other by less than this share, if at all.

    of   "cells": the typical ratio, every cell alike; "means": the ratio of the mean errors over all cells, for which absolute
         differences count and cells of large error decide
    """

    def check(view: View) -> Outcome:
        tests, cells = {}, []
        for other, who in itertools.product(others, learners):
            pair = f"{who} / {other}"
            samples = [at.samples(view, name, "error") for name in (who, other)]
            tests[pair] = log_ratio(*samples) if of == "cells" else ratio_of_means(*samples)
            cells.append(f"{pair} {beyond(view, at, who, other, degree(share))}")
        truth = all_of(below(test, math.log1p(degree(share))) for test in tests.values())
        text = in_words(at, tests) if of == "cells" else "ratio of mean errors: " + in_words(at, tests).partition(": ")[2]
        asked = f"asked: a {'typical ratio' if of == 'cells' else 'ratio of means'} below {1.0 + degree(share):g}"
        return Outcome(f"{text}; {', '.join(cells)}", truth, f"{asked}; {interval_method(view, at)}")

    return check


def beyond(view: View, at: DistanceGrid, learner: str, other: str, share: float) -> str:
    """In how many single cells the ratio is larger than asked, and the largest."""
    chosen = np.argwhere(np.broadcast_to(at.cells(*cell_coordinates(view)), grid_shape(view)))
    ratios = at.samples(view, learner, "error").mean(axis=1) / at.samples(view, other, "error").mean(axis=1)
    largest = int(np.nanargmax(ratios))
    place = cell_name(view, (int(chosen[largest][0]), int(chosen[largest][1])))
    count = int(np.sum(ratios > 1.0 + share))
    return f"above {1.0 + share:g} in {count} of {len(ratios)} cells, at most {ratios[largest]:.3g} ({place})"


def in_words(at: Source, tests: dict[str, Difference]) -> str:
    what = {DistanceGrid: "typical ratio of errors", Panel: "ratio of regrets", After: "ratio of errors"}[type(at)]
    name = place_name(at)
    ratios = ", ".join(f"{pair} {interval(test)}" for pair, test in tests.items())
    return f"{what}{f', {name}' if name else ''}: {ratios}"


def interval(test: Difference) -> str:
    """The ratio, and its 99 % interval."""
    low, high = (math.exp(test.estimate + side * test.half_width) for side in (-1.0, 1.0))
    return f"{math.exp(test.estimate):.4g} ({low:.4g} to {high:.4g})"


def interval_method(view: View, at: Source) -> str:
    strata = {DistanceGrid: ", stratified by cell", Panel: ", stratified by p_c", After: ""}[type(at)]
    if isinstance(at, After) and "mean_by_seed" not in view.dataset:
        return "99 % intervals from the standard errors over changes"
    return f"99 % intervals, Student's t over {view.dataset.sizes['seed']} seeds{strata}"
