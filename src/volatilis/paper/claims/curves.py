"""Statements about curves: regret against p_c, error against the time since a change."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from volatilis.paper.claims.checks import excess_share
from volatilis.paper.claims.ratios import log_error_ratio
from volatilis.paper.claims.statistics import (
    Difference,
    MissingDataError,
    Outcome,
    all_of,
    below,
    degree,
    difference,
    every,
    level,
    none_differ,
    p_text,
    slope,
    stratified,
    weakest,
)
from volatilis.paper.claims.views import EXACT, PANELS, After, Check, Panel, View

NOTABLE = 0.25  # by so much of a learner's excess another p_c must be better to leave it open which is the best
NEIGHBOURS = 9  # points of a regret curve whose noise is taken for alike

# --- regret --------------------------------------------------------------------------------------------------------------


def falls_with_p_c(learners: Sequence[str], at: Panel) -> Check:
    """The lower p_c, the higher the regret: its slope against log10 p_c is negative."""

    def check(view: View) -> Outcome:
        x = np.log10(view.coordinate("p_c")[at.chosen(view)])
        tests = {who: slope(-at.samples(view, who), x) for who in learners}
        text = "slope per decade of p_c: " + ", ".join(f"{who} {-test.estimate:.2g}" for who, test in tests.items())
        return Outcome(text, every(tests), f"fall of {weakest(tests)}; t-test over seeds, stratified by p_c")

    return check


def worse_above(learners: Sequence[str], panel: str, factor: float = 1.0) -> Check:
    """Where p_c is above the assumed value the mean regret is more than `factor` times that where it is below."""

    def check(view: View) -> Outcome:
        low, high = Panel(panel, "below"), Panel(panel, "above")
        tests = {}
        for who in learners:
            lower = low.level(view, who)
            scaled = lower._replace(estimate=factor * lower.estimate, standard_error=factor * lower.standard_error)
            tests[who] = difference(high.level(view, who), scaled)
        text = ", ".join(f"{who} {low.level(view, who).estimate:.2g} to {high.level(view, who).estimate:.2g}" for who in learners)
        beyond = "" if factor == 1.0 else f"above {factor:g} times as much by "
        return Outcome(text, every(tests), f"{beyond}{weakest(tests)}; Welch's test over seeds, stratified by p_c")

    return check


def noisier(noisy: str, quiet: str, panel: str) -> Check:
    """The regret of one learner varies more from seed to seed: log ratio of the standard deviations, tested over p_c."""

    def check(view: View) -> Outcome:
        a, b = (np.std(Panel(panel).samples(view, who), axis=1, ddof=1) for who in (noisy, quiet))
        usable = (a > 0.0) & (b > 0.0)
        if view.dataset.sizes["seed"] < 2 or usable.sum() < 2:
            raise MissingDataError("too few seeds or p_c")
        test = stratified(np.log(a[usable] / b[usable]))
        text = f"standard deviation over seeds: {noisy} {np.sqrt(np.mean(a**2)):.2g}, {quiet} {np.sqrt(np.mean(b**2)):.2g}"
        return Outcome(text, every({noisy: test}), f"log ratio {test}; t-test over {int(usable.sum())} values of p_c")

    return check


def mostly_below(lower: Sequence[str], upper: Sequence[str]) -> Check:
    """At most values of p_c, over all panels, the mean regret of one learner is below that of another (sign test)."""

    def check(view: View) -> Outcome:
        from scipy.stats import binomtest

        texts, answers, chances = [], [], []
        for low in lower:
            for high in upper:
                gaps = np.concatenate([(p.samples(view, high) - p.samples(view, low)).mean(axis=1) for p in map(Panel, PANELS)])
                wins, tries = int(np.sum(gaps > 0.0)), int(np.sum(gaps != 0.0))
                if not tries:
                    raise MissingDataError("no two curves differ")
                chance = float(binomtest(wins, tries).pvalue)
                answers.append(None if chance >= level() else wins > tries / 2)
                texts.append(f"{low} below {high} at {wins} of {tries}")
                chances.append(chance)
        return Outcome("; ".join(texts), all_of(answers), f"sign tests, largest p {p_text(max(chances))}")

    return check


def same_in_panels(learner: str, one: str, other: str, room: float = 0.05) -> Check:
    """A learner's curve is the same in two panels that show it the same observations."""

    def check(view: View) -> Outcome:
        first, second = (Panel(panel).samples(view, learner) for panel in (one, other))
        test, level = stratified(second - first), stratified(first).estimate
        text = f"{learner}: mean {level:.3g} in {one}, {stratified(second).estimate:.3g} in {other}"
        truth = none_differ({learner: test}, room * abs(level))
        return Outcome(text, truth, f"difference {test}; a difference of {room:.0%} would have to show")

    return check


def bounded(learners: Sequence[str], panel: str, bound: float) -> Check:
    """The largest regret over p_c stays below a bound; its noise is pooled with that at the nearest p_c, since seeds are few."""

    def check(view: View) -> Outcome:
        tests = {who: largest(Panel(panel).samples(view, who)) for who in learners}
        text = "largest regret: " + ", ".join(f"{who} {test.estimate:.3g}" for who, test in tests.items())
        errors = ", ".join(f"{test.standard_error:.2g}" for test in tests.values())
        method = f"pooled over the {NEIGHBOURS} nearest p_c, {next(iter(tests.values())).freedom:g} degrees of freedom"
        return Outcome(
            text, all_of(below(test, bound) for test in tests.values()), f"standard errors {errors} ({method}); bound {bound:g}"
        )

    return check


def largest(samples: np.ndarray) -> Difference:
    """The largest mean of a curve (p_c x seed)."""
    return at_point(samples, int(np.argmax(samples.mean(axis=1))))


def at_point(samples: np.ndarray, index: int) -> Difference:
    """The mean of one point of a curve (p_c x seed), with the variance between seeds pooled over the points around it."""
    if samples.shape[1] < 2:
        raise MissingDataError("fewer than two seeds")
    start = min(max(0, index - NEIGHBOURS // 2), max(0, len(samples) - NEIGHBOURS))
    around = samples[start : start + NEIGHBOURS]
    variance = float(np.var(around, axis=1, ddof=1).mean())
    freedom = len(around) * (samples.shape[1] - 1.0)
    return Difference(float(samples[index].mean()), math.sqrt(variance / samples.shape[1]), freedom)


def narrow(learners: Sequence[str], panel: str, bound: float) -> Check:
    """The regret changes by less than a bound over all p_c: its largest mean less its least."""

    def check(view: View) -> Outcome:
        tests = {}
        for who in learners:
            samples = Panel(panel).samples(view, who)
            tests[who] = difference(largest(samples), largest(-samples)._replace(estimate=float(samples.mean(axis=1).min())))
        text = "range of the regret: " + ", ".join(f"{who} {test.estimate:.2g}" for who, test in tests.items())
        errors = ", ".join(f"{test.standard_error:.1g}" for test in tests.values())
        return Outcome(text, all_of(below(test, bound) for test in tests.values()), f"standard errors {errors}; bound {bound:g}")

    return check


def true_p_c_is_best(learners: Sequence[str]) -> Check:
    """Of all p_c tried in a scan the best one is no better than the true one on fresh sequences, for each learner and panel."""

    def check(view: View) -> Outcome:
        tests, shares, lower = {}, {}, {}
        exact = view.values("error_at_assumed", EXACT)[:, 0]
        for panel, who in itertools.product(range(len(PANELS)), learners):
            with_true, with_best = view.values("error_at_assumed", who)[panel]
            times = float(view.dataset.best.sel(learner=view.name(who)).values[panel])
            name = f"{who} in panel {PANELS[panel]} with p_c {times:.2g} times"
            tests[name] = stratified(with_best - with_true)
            excess = [float(np.mean(errors - exact[panel])) for errors in (with_true, with_best)]
            shares[name] = f"excess over Exact Bayes {excess[0]:.3g}, there {excess[1]:.3g}"
            lower[name] = excess[0] > 0.0 and excess[1] < (1.0 - degree(NOTABLE)) * excess[0]
        against = [name for name, test in tests.items() if test.sign(len(tests)) < 0]
        perhaps = [name for name in tests if lower[name] and name not in against]
        parts = [f"another p_c is better: {'; '.join(f'{name} ({shares[name]})' for name in against)}"] if against else []
        parts += [f"perhaps better: {'; '.join(f'{name} ({shares[name]})' for name in perhaps)}"] if perhaps else []
        method = f"paired t-test over {exact.shape[1]} fresh seeds, the best of a scan against p_c', among {len(tests)} tries"
        truth = False if against else None if perhaps else True
        return Outcome(". ".join(parts) or "none is better", truth, f"{weakest(tests)}; {method}")

    return check


def same_order(learners: Sequence[str]) -> Check:
    """In both tasks the learners come in the same order of mean regret, panel by panel: rank correlation above chance.

    Chance: any order in any panel. The squared differences of ranks are summed over panels; their distribution is exact.
    """

    def check(view: View) -> Outcome:
        regrets = np.array([view.values("regret", who).mean(axis=(2, 3)) for who in learners])  # learner x task x panel
        ranks = np.argsort(np.argsort(regrets, axis=0), axis=0)
        squares = ((ranks[:, 0] - ranks[:, 1]) ** 2).sum(axis=0)  # panel
        count = len(learners)
        single = np.bincount([sum((i - j) ** 2 for i, j in enumerate(order)) for order in itertools.permutations(range(count))])
        chances = np.ones(1)
        for _ in squares:
            chances = np.convolve(chances, single / single.sum())
        alike, unlike = float(chances[: squares.sum() + 1].sum()), float(chances[squares.sum() :].sum())
        correlations = 1.0 - 6.0 * squares / (count * (count**2 - 1.0))
        text = "rank correlation: " + ", ".join(f"panel {panel} {r:.2f}" for panel, r in zip(PANELS, correlations, strict=True))
        truth = True if alike < level() else False if unlike < level() else None
        return Outcome(text, truth, f"as much alike by chance: p {p_text(alike)}; ranks of mean regrets of {count} learners")

    return check


# --- after a change --------------------------------------------------------------------------------------------------------


def excess_grows(learner: str, setting: int) -> Check:
    """The error above that of Exact Bayes is a larger share of it late than early."""

    def check(view: View) -> Outcome:
        shares = [excess_share(view, learner, After(setting, phase)) for phase in ("early", "late")]
        test = difference(shares[1], shares[0])
        text = f"{learner} above Exact Bayes by {shares[0].estimate:.0%} early, {shares[1].estimate:.0%} late"
        return Outcome(text, every({learner: test}), f"growth {test}; {After(setting).method(view)}")

    return check


def ratio_grows(learner: str, other: str, setting: int) -> Check:
    """The error of one learner relative to that of another is larger late than early."""

    def check(view: View) -> Outcome:
        early, late = (log_error_ratio(view, After(setting, phase), learner, other) for phase in ("early", "late"))
        test = difference(late, early)
        text = f"{learner} / {other} {math.exp(early.estimate):.3g} early, {math.exp(late.estimate):.3g} late"
        return Outcome(text, every({learner: test}), f"growth of the log ratio {test}; {After(setting).method(view)}")

    return check


def excess_larger_right(learner: str) -> Check:
    """The error above that of Exact Bayes is larger in the right panel (high noise) than in the left."""

    def check(view: View) -> Outcome:
        left, right = (After(setting).compare(view, EXACT, learner) for setting in (0, 1))
        text = f"{learner} above Exact Bayes by {left.estimate:.3g} (left), {right.estimate:.3g} (right)"
        return Outcome(text, every({learner: difference(right, left)}), f"{difference(right, left)}; {After(0).method(view)}")

    return check
