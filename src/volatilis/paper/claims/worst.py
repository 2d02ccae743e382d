"""Statements about the worst cells of a grid and about Delta MSE itself, the error above that of Exact Bayes, seed by seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.paper.claims.statistics import (
    Difference,
    MissingDataError,
    Outcome,
    all_of,
    difference,
    every,
    stratified,
    weakest,
)
from volatilis.paper.claims.views import EXACT, Cells, Check, View, cell_coordinates, cell_name, grid_shape

Cell = tuple[int, int]


def delta(view: View, learner: str) -> np.ndarray:
    """Delta MSE: noise x p_c x seed."""
    return view.values("error", learner) - view.values("error", EXACT)


def at_cell(view: View, learner: str, cell: Cell) -> Difference:
    return stratified(delta(view, learner)[cell])


def worst_cell(view: View, learner: str, among: np.ndarray | None = None) -> Cell:
    """Where the mean over seeds is largest."""
    seeds = delta(view, learner)
    usable = np.isfinite(seeds).all(axis=-1) & (True if among is None else among)
    if not usable.any():
        raise MissingDataError("the cells are not in the dataset")
    means = np.where(usable, np.where(np.isfinite(seeds), seeds, 0.0).mean(axis=-1), -np.inf)
    row, column = np.unravel_index(int(np.argmax(means)), means.shape)
    return int(row), int(column)


class Published(NamedTuple):
    """A published worst case: its value, half its last digit, its standard error (NaN: taken to be ours), and its cell."""

    value: float
    rounding: float
    standard_error: float = math.nan
    noise: float = math.nan
    p_c: float = math.nan


def worst_case(learners: Sequence[str], published: Published) -> Check:
    """The largest Delta MSE (of several learners: of the worst of them) is the published one, in the published cell if given.

    Both are the largest of many noisy means, so the largest is compared with the largest, wherever ours is. The cell is right if
    no other is worse than it by a difference that counts among so many.
    """

    def check(view: View) -> Outcome:
        who = max(learners, key=lambda name: at_cell(view, name, worst_cell(view, name)).estimate)
        cell = worst_cell(view, who)
        place = find_cell(view, published.noise, published.p_c) if math.isfinite(published.noise) else cell
        worst, stated = at_cell(view, who, cell), at_cell(view, who, place)
        text = f"{who} {worst.estimate:.3g} ± {worst.standard_error:.2g} at {cell_name(view, cell)}"
        if cell != place:
            text += f"; {stated.estimate:.3g} ± {stated.standard_error:.2g} at {cell_name(view, place)}"
        test = from_published(worst, published)
        in_place = difference(worst, stated).sign(math.prod(grid_shape(view))) == 0
        truth: bool | None = in_place and test.sign() == 0
        if (truth and worst.sign() <= 0) or (not truth and in_place and from_published(stated, published).sign() == 0):
            truth = None  # the noise would hide it
        theirs = "theirs" if math.isfinite(published.standard_error) else "taken to be ours"
        return Outcome(text, truth, f"largest from largest by {test}; the published standard error is {theirs}")

    return check


def from_published(ours: Difference, published: Published) -> Difference:
    """How far ours is from the published value, beyond its rounding; Welch's test."""
    theirs = published.standard_error if math.isfinite(published.standard_error) else ours.standard_error
    gap = max(0.0, abs(ours.estimate - published.value) - published.rounding)
    return difference(ours._replace(estimate=gap), Difference(0.0, theirs, ours.freedom))


def find_cell(view: View, noise: float, p_c: float) -> Cell:
    noises, rates = cell_coordinates(view)
    cells = np.argwhere(np.isclose(noises, noise) & np.isclose(rates, p_c))
    if not len(cells):
        raise MissingDataError("the published cell is not in the dataset")
    return int(cells[0][0]), int(cells[0][1])


def worst_cases_differ(better: Sequence[str], worse: Sequence[str]) -> Check:
    """Each of the better learners has a smaller worst case than each of the worse (Welch's test, each in its own worst cell)."""

    def check(view: View) -> Outcome:
        worst = {name: at_cell(view, name, worst_cell(view, name)) for name in (*better, *worse)}
        tests = {f"{bad} above {good}": difference(worst[bad], worst[good]) for bad in worse for good in better}
        text = ", ".join(f"{name} {test.estimate:.3g}" for name, test in worst.items())
        return Outcome(f"worst cases: {text}", every(tests), f"{weakest(tests)}; Welch's t-test over seeds")

    return check


def worst_case_within(learners: Sequence[str], cells: Cells) -> Check:
    """Each learner's worst cell is among these, above the worst outside by a difference that counts."""

    def check(view: View) -> Outcome:
        inside = np.broadcast_to(cells(*cell_coordinates(view)), grid_shape(view))
        texts, answers, tests = [], [], {}
        for name in learners:
            first, second = worst_cell(view, name, inside), worst_cell(view, name, ~inside)
            test = difference(at_cell(view, name, first), at_cell(view, name, second))
            answers.append({1: True, 0: None, -1: False}[test.sign()])
            texts.append(f"{name} {at_cell(view, name, first).estimate:.3g} at {cell_name(view, first)}")
            tests[f"{name}, worst inside above worst outside"] = test
        return Outcome("; ".join(texts), all_of(answers), f"{weakest(tests)}; Welch's t-test over seeds")

    return check


def never_below_zero(learners: Sequence[str]) -> Check:
    """No Delta MSE is negative by more than its noise: values below 0 come from the finite sample."""

    def check(view: View) -> Outcome:
        tests = cell_tests(view, learners, lambda name: delta(view, name))
        negative = [name for name, test in tests.items() if test.estimate < 0.0]
        truth = not any(test.sign(len(tests)) < 0 for test in tests.values())
        text = f"{len(negative)} of {len(tests)} values below 0"
        return Outcome(text, truth, f"lowest by its noise: {weakest(tests)}")

    return check


def decomposition(learners: Sequence[str]) -> Check:
    """Delta MSE equals the mean squared distance to the estimate of Exact Bayes, in every cell."""

    def check(view: View) -> Outcome:
        tests = cell_tests(view, learners, lambda name: delta(view, name) - view.values("distance", name))
        total = stratified(np.concatenate([delta(view, n).reshape(-1, view.dataset.sizes["seed"]) for n in learners]))
        differ = sum(bool(test.sign(len(tests))) for test in tests.values())
        truth = False if differ else True if total.sign() else None  # where all is noise, nothing is shown
        least = min(tests, key=lambda name: tests[name].p)
        return Outcome(f"{differ} of {len(tests)} values differ from the distance", truth, f"furthest: {least}: {tests[least]}")

    return check


def cell_tests(view: View, learners: Sequence[str], samples: Callable[[str], np.ndarray]) -> dict[str, Difference]:
    """One test per learner and cell; cells without two seeds are left out."""
    tests = {}
    for name in learners:
        values = samples(name)
        for cell in np.ndindex(values.shape[:-1]):
            if np.isfinite(values[cell]).sum() > 1:
                tests[f"{name} at {cell_name(view, cell)}"] = stratified(values[cell])
    if not tests:
        raise MissingDataError("fewer than two seeds")
    return tests
