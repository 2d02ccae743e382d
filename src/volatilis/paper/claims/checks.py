"""Kinds of statements about learners in some place: who is better, who is the same, who is close to optimal, who is steady.

A place is a set of cells (DistanceGrid), a panel of a robustness figure (Panel) or a stretch of time after a change (After).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from volatilis.paper.claims.statistics import (
    Difference,
    MissingDataError,
    Outcome,
    all_of,
    below,
    degree,
    difference,
    every,
    none_differ,
    spread,
    spread_difference,
    stratified,
    weakest,
)
from volatilis.paper.claims.views import ALL_CELLS, EXACT, After, Check, DistanceGrid, Panel, Source, View

Group = Sequence[str]


def levels_text(view: View, place: Source, groups: Sequence[Group]) -> str:
    """Everybody's mean, group by group; the first is claimed to be the smaller."""
    return " against ".join(", ".join(f"{who} {place.level(view, who).estimate:.3g}" for who in group) for group in groups)


def place_name(place: Source) -> str:
    match place:
        case Panel(panel, side):
            return f"panel {panel}" + ("" if side == "all" else f", p_c {side} p_c'")
        case After(setting, phase):
            return ("left", "right")[setting] + ("" if phase == "all" else f", {phase}")
    return ""


def ranking(*groups: Group, at: Source | Sequence[Source] = ALL_CELLS) -> Check:
    """Each member of a group has a smaller mean than each member of the next, in each place."""
    places = (at,) if isinstance(at, (DistanceGrid, Panel, After)) else tuple(at)

    def check(view: View) -> Outcome:
        tests: dict[str, Difference] = {}
        for place in places:
            for smaller_group, larger_group in itertools.pairwise(groups):
                for smaller in smaller_group:
                    for larger in larger_group:
                        label = " ".join(filter(None, (place_name(place), f"{larger} above {smaller}")))
                        tests[label] = place.compare(view, smaller, larger)
        text = "; ".join(": ".join(filter(None, (place_name(place), levels_text(view, place, groups)))) for place in places)
        counts = cells_for_and_against(view, places[0], groups)
        return Outcome(text, every(tests), f"{weakest(tests)}{counts}; {places[0].method(view)}")

    return check


def cells_for_and_against(view: View, place: Source, groups: Sequence[Group]) -> str:
    """For two learners on a grid: in how many single cells the difference counts, each way."""
    if not isinstance(place, DistanceGrid) or len(groups) != 2 or any(len(group) > 1 for group in groups):
        return ""
    (smaller,), (larger,) = groups
    rows = place.samples(view, larger) - place.samples(view, smaller)
    signs = [stratified(row).sign(len(rows)) for row in rows if np.isfinite(row).sum() > 1]
    return f"; of {len(signs)} single cells {signs.count(1)} for and {signs.count(-1)} against"


def same(one: str, other: str, at: Source = ALL_CELLS, room: float = 0.05) -> Check:
    """Two learners do not differ, and a difference of 5 % would have shown."""

    def check(view: View) -> Outcome:
        test, level = at.compare(view, one, other), at.level(view, one).estimate
        tests = {"overall": test}
        truth = none_differ(tests, room * level)
        if isinstance(at, DistanceGrid) and truth is not False:
            rows = at.samples(view, other) - at.samples(view, one)
            singles = {str(i): stratified(row) for i, row in enumerate(rows) if np.isfinite(row).sum() > 1}
            truth = truth if none_differ(singles, np.inf) else False
        text = f"{one} {level:.4g}, {other} {at.level(view, other).estimate:.4g}"
        return Outcome(text, truth, f"difference {test}; {at.method(view)}; a difference of {room:.0%} would have to show")

    return check


def similar(one: str, other: str, at: Source, within: float = 0.25) -> Check:
    """The means of two learners differ by less than a given share of their size."""

    def check(view: View) -> Outcome:
        test = at.compare(view, one, other)
        bound = degree(within) * 0.5 * (at.level(view, one).estimate + at.level(view, other).estimate)
        test = test if test.estimate >= 0.0 else test._replace(estimate=-test.estimate)
        text = levels_text(view, at, ((one, other),))
        return Outcome(text, below(test, bound), f"difference {test}, similar below {bound:.3g}; {at.method(view)}")

    return check


def close_to_exact(learners: Group, at: Sequence[Source], within: float) -> Check:
    """The mean error (or regret) exceeds that of Exact Bayes by less than a given share."""

    def check(view: View) -> Outcome:
        excesses = {f"{who} {place_name(place)}": excess_share(view, who, place) for place in at for who in learners}
        text = "above Exact Bayes: " + ", ".join(f"{name} {test.estimate:+.1%}" for name, test in excesses.items())
        least_sure = max(excesses.values(), key=lambda test: test.estimate + test.half_width)
        sure = f"largest upper end of a 99 % interval {least_sure.estimate + least_sure.half_width:.1%}, close below {within:.0%}"
        return Outcome(text, all_of(below(test, degree(within)) for test in excesses.values()), f"{sure}; {at[0].method(view)}")

    return check


def steadier(steady: Group, others: Group, at: Sequence[DistanceGrid | Panel] = (ALL_CELLS,), relative: bool = False) -> Check:
    """The means of the steady learners vary less over environments, in each place; `relative`: to their own mean."""

    def check(view: View) -> Outcome:
        tests, texts = {}, []
        for place in at:
            name = place_name(place)
            for one, other in itertools.product(steady, others):
                label = " ".join(filter(None, (name, f"spread of {other} above that of {one}")))
                high, low = (of_their_mean(place.samples(view, who), relative) for who in (other, one))
                tests[label] = spread_difference(high, low)
            spreads = {who: finite_spread(of_their_mean(place.samples(view, who), relative)) for who in (*steady, *others)}
            sizes = ", ".join(f"{who} {value:.3g}" for who, value in spreads.items())
            texts.append(": ".join(filter(None, (name, sizes))))
        text = f"spread over environments{', relative to the mean' if relative else ''}: " + "; ".join(texts)
        return Outcome(text, every(tests), f"{weakest(tests)}; t-test to first order over seeds, stratified by environment")

    return check


def of_their_mean(samples: np.ndarray, relative: bool) -> np.ndarray:
    mean = abs(float(np.nanmean(samples)))
    if relative and mean == 0.0:
        raise MissingDataError("a curve of zeros")
    return samples / mean if relative else samples


def finite_spread(samples: np.ndarray) -> float:
    return spread(samples[np.isfinite(samples).all(axis=1)])[0]


def serves_not_both(learner: str, settings: Sequence[int], within: float) -> Check:
    """In each panel the learner is not close to Exact Bayes both early and late: once at least it is further."""

    def check(view: View) -> Outcome:
        texts, answers, deciding = [], [], {}
        for setting in settings:
            places = [After(setting, phase) for phase in ("early", "late")]
            shares = {place_name(place): excess_share(view, learner, place) for place in places}
            close = all_of(below(share, degree(within)) for share in shares.values())
            answers.append(None if close is None else not close)
            texts += [f"{name} {share.estimate:+.1%}" for name, share in shares.items()]
            worst = max(shares, key=lambda name: shares[name].estimate)
            deciding[f"{worst} above {within:.0%}"] = shares[worst].above(within)
        text = f"{learner} above Exact Bayes: {', '.join(texts)}"
        return Outcome(text, all_of(answers), f"{weakest(deciding)}; {After(0).method(view)}")

    return check


def excess_share(view: View, learner: str, place: Source) -> Difference:
    """The error (or regret) above that of Exact Bayes, as a share of the latter."""
    optimum = place.level(view, EXACT).estimate
    if optimum <= 0.0:
        raise MissingDataError("the level of Exact Bayes is lost in noise")
    excess = place.compare(view, EXACT, learner)
    return Difference(excess.estimate / optimum, excess.standard_error / optimum, excess.freedom)


def flat(learners: Group, at: Panel, share: float = 1.0 / 3.0) -> Check:
    """The curve varies by less than a third of its height (standard deviation over p_c against the mean)."""

    def check(view: View) -> Outcome:
        tests = {who: relative_spread(at.samples(view, who)) for who in learners}
        text = "spread over p_c / mean: " + ", ".join(f"{who} {test.estimate:.2f}" for who, test in tests.items())
        truth = all_of(below(test, degree(share)) for test in tests.values())
        return Outcome(
            text, truth, f"standard errors {', '.join(f'{t.standard_error:.2g}' for t in tests.values())}; flat below {share:.2f}"
        )

    return check


def relative_spread(samples: np.ndarray) -> Difference:
    mean = float(samples.mean())
    if not mean:
        raise MissingDataError("a curve of zeros")
    size, slopes = spread(samples)
    weights = slopes / mean - size / mean**2 / len(samples)
    linear = stratified(weights[:, None] * samples)
    return Difference(size / mean, linear.standard_error * len(samples), linear.freedom)


def smaller_at(learners: Group, low: Source, high: Source) -> Check:
    """Each learner's mean is smaller in one place than in another; the places are independent."""

    def check(view: View) -> Outcome:
        tests = {who: difference(high.level(view, who), low.level(view, who)) for who in learners}
        text = ", ".join(
            f"{who} {low.level(view, who).estimate:.3g} against {high.level(view, who).estimate:.3g}" for who in learners
        )
        return Outcome(text, every(tests), f"{weakest(tests)}; Welch's test over seeds, stratified")

    return check


def both(*checks: Check) -> Check:
    """All of several checks."""

    def check(view: View) -> Outcome:
        outcomes = [part(view) for part in checks]
        truth = all_of(outcome.truth for outcome in outcomes)
        sure = dict.fromkeys(outcome.uncertainty for outcome in outcomes)  # what is the same for all is said once
        return Outcome("; ".join(outcome.text for outcome in outcomes), truth, "; ".join(sure))

    return check


def noted(part: Check, note: str) -> Check:
    """A check with something to know beside its uncertainty."""

    def check(view: View) -> Outcome:
        outcome = part(view)
        return outcome._replace(uncertainty=f"{outcome.uncertainty}. {note}")

    return check


def opposite(part: Check) -> Check:
    """The reverse of a check: for exceptions that the paper makes."""

    def check(view: View) -> Outcome:
        outcome = part(view)
        return outcome._replace(truth=None if outcome.truth is None else not outcome.truth)

    return check
