"""Kinds of statements about single cells of a grid: who is closer in which, and by what factor in a typical one.

A mean over cells is a mean of the noisiest ones: the distances of two cells may differ a million times. Where the paper compares
learners cell by cell, so does this: the ratio of two mean distances in each cell, averaged as a logarithm, every cell alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from volatilis.paper.claims.statistics import LEVEL, Estimate, NotThere, Outcome, every, stratified, weakest
from volatilis.paper.claims.views import ALL_CELLS, Check, Grid, View, cell_coordinates, cell_name, grid_shape

MOST_SHOWN = 4  # ratios in words; the one that decides stands beside the verdict


def log_ratio(larger: np.ndarray, smaller: np.ndarray) -> Estimate:
    """The mean over cells of log(mean distance of one / mean distance of the other), paired by seed; noise to first order."""
    usable = np.isfinite(larger).all(axis=1) & np.isfinite(smaller).all(axis=1)
    usable &= (larger.mean(axis=1) > 0.0) & (smaller.mean(axis=1) > 0.0)
    if not usable.any() or larger.shape[1] < 2:
        raise NotThere("no cell with two seeds in which neither learner is exact")
    a, b = larger[usable], smaller[usable]
    logs = np.log(a.mean(axis=1) / b.mean(axis=1))
    linear = a / a.mean(axis=1, keepdims=True) - b / b.mean(axis=1, keepdims=True)
    return stratified(linear)._replace(estimate=float(logs.mean()))


def typically(*groups: Sequence[str], at: Grid = ALL_CELLS) -> Check:
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


def counts(view: View, at: Grid, nearer: str, further: str) -> str:
    """In how many single cells the difference counts, each way."""
    signs = list(cell_signs(view, at, nearer, further).values())
    return f"{signs.count(1)} of {len(signs)} cells for, {signs.count(-1)} against"


def cell_signs(view: View, at: Grid, nearer: str, further: str) -> dict[str, int]:
    """+1 where the first learner is nearer in a cell by a difference that counts among so many tries, -1 where the second is."""
    chosen = np.argwhere(np.broadcast_to(at.cells(*cell_coordinates(view)), grid_shape(view)))
    rows = at.samples(view, further) - at.samples(view, nearer)
    tests = {
        cell_name(view, (int(i), int(j))): stratified(row)
        for (i, j), row in zip(chosen, rows, strict=True)
        if np.isfinite(row).sum() > 1
    }
    return {name: test.sign(LEVEL / len(tests)) for name, test in tests.items()}


def nearer_in_cells(nearer: str, further: str, at: Grid) -> Check:
    """One learner is closer than another in these cells: typically, and in none does the difference count against it."""

    def check(view: View) -> Outcome:
        signs = cell_signs(view, at, nearer, further)
        test = log_ratio(at.samples(view, further), at.samples(view, nearer))
        against = [name for name, sign in signs.items() if sign < 0]
        text = f"{nearer} closer in {list(signs.values()).count(1)} of {len(signs)} cells, {further} in {len(against)}"
        text += f" ({'; '.join(against)})" if against else ""
        text += f"; typical ratio {further} / {nearer} {np.exp(test.estimate):.3g}"
        return Outcome(text, False if against else every({"log ratio": test}), f"log ratio {test}; each cell by itself: t-test")

    return check


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
        found = [name for name, sign in signs.items() if sign > 0]
        text = (
            f"{worse} is further than {better} in {len(found)} of {len(signs)} cells, nearer in {list(signs.values()).count(-1)}"
        )
        text += f" (further at {'; '.join(found)})" if found else ""
        truth = True if found else None if all(sign == 0 for sign in signs.values()) else False
        return Outcome(text, truth, f"paired t-tests over seeds at {LEVEL:g} / {len(signs)} each")

    return check
