"""Verdicts keep to their level: on noise, on what is true, with few people and trials; and too little data is called that."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from scipy import linalg, stats

import volatilis as vl
from volatilis.predictions import SubjectTrials, analyse
from volatilis.predictions.estimators import FIRST_LAYOUT, S_SH, SECOND_LAYOUT, pooled_effects, sums_first, sums_second
from volatilis.predictions.hypotheses import BAYES_FACTOR, NO_PRIOR, SHANNON, flip_p, judge, pooled_test
from volatilis.predictions.pooling import (
    LEAST_FREEDOM,
    LEAST_SPARE,
    ColumnOrder,
    Pooled,
    can_be_tested,
    need,
    power,
    rounded,
    sentence,
)
from volatilis.predictions.windows import FirstWindow, SecondWindow, believe

from .people import person

AUDIT = 10.0 / 87.0  # sigma in prior standard deviations


@functools.cache
def believer(seed: int, i: int, trials: int, sigma: float) -> SubjectTrials:
    """Someone who learns by Nas12*; the indicator is to come."""
    family = vl.Gaussian(sigma)
    y = np.asarray(vl.ChangingEnvironment(family, 0.1).sample(trials, np.random.SeedSequence([seed, i])).y)
    return believe(vl.Nas12Star(family, 0.1), y).trials(y, family, np.zeros(trials), name=str(i))


def noisy(seed: int, people: int, trials: int, sigma: float = AUDIT) -> list[SubjectTrials]:
    rng = np.random.default_rng([seed, 5])
    return [believer(seed, i, trials, sigma)._replace(indicator=rng.normal(size=trials)) for i in range(people)]


def at_most(rate: float, repeats: int) -> float:
    """A count that a true rate exceeds by chance in about one of 700 tests."""
    return repeats * rate + 3.0 * math.sqrt(repeats * rate * (1.0 - rate))


# --- noise ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("people", "trials"), [(10, 100), (20, 100), (10, 200)])
def test_noise_has_no_confident_verdict(people: int, trials: int) -> None:
    """60 data sets. With as many degrees of freedom as people, "S_BF contradicted" came in 24, 23 and 14 of these very sets."""
    confident, without = {1: 0, 2: 0}, 0
    for seed in range(60):
        found = analyse(noisy(seed, people, trials))
        for prediction in confident:
            confident[prediction] += not {"confirmed", "contradicted"}.isdisjoint(found.verdicts(prediction).values())
        if set(found.verdicts(2).values()) == {"cannot be told"}:
            without += 1
            needs = found.needs[2, SHANNON]
            assert all((one.people or math.inf) > people or (one.trials or math.inf) > trials for one in needs)
    assert max(confident.values()) <= at_most(0.05, 60)
    assert without > 40


@pytest.mark.parametrize(("sigma", "people", "trials"), [(0.5, 5, 100), (0.5, 12, 50), (AUDIT, 12, 400)])
def test_the_tests_keep_their_level(sigma: float, people: int, trials: int) -> None:
    """200 analyses of noise; rejected on either side at 2.5 % at most where there is a test at all."""
    everybody = [believer(99, i, trials, sigma) for i in range(people)]
    rng, wrong = np.random.default_rng(2), np.zeros((3, 2))
    for _ in range(200):
        own = [trials_._replace(indicator=rng.normal(size=trials)) for trials_ in everybody]
        first = pooled_effects([sums_first(one, FirstWindow()) for one in own], FIRST_LAYOUT)
        second = pooled_effects([sums_second(one, SecondWindow()) for one in own], SECOND_LAYOUT)
        for k, effect in enumerate((*first.values(), *second.values())):
            test = pooled_test(effect, people, seed=None, with_powers=False)
            wrong[k] += (test.low > 0.0, test.high < 0.0)
    assert wrong.max() <= at_most(0.025, 200)


# --- what is true --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reflects", "hypothesis"), [("S_BF", BAYES_FACTOR), ("S_Sh", SHANNON), ("error", NO_PRIOR)])
def test_what_is_true_is_not_contradicted(reflects: str, hypothesis: str) -> None:
    """40 data sets of 8 people with 80 trials each."""
    wrong = {1: 0, 2: 0}
    for seed in range(40):
        found = analyse([person(1000 * seed + i, 80, reflects, noise=0.3) for i in range(8)])
        for prediction in wrong:
            wrong[prediction] += found.verdicts(prediction).get(hypothesis) == "contradicted"
    assert max(wrong.values()) <= at_most(0.05, 40)


def test_nothing_is_confirmed_while_another_hypothesis_stands() -> None:
    """Both p between 0.025 and 0.05: each interval excludes 0, but together they reject nothing."""
    effect = Pooled(np.full(8, 0.125), 1.0, 0.45, 20.0, 50, 1.0, {})
    tests = {"difference": pooled_test(effect, 8, seed=None), "slope": pooled_test(effect, 8, seed=None)}
    assert 0.025 < tests["slope"].p < 0.05
    words = {row.hypothesis: row.hypothesis_verdict for row in judge(1, "adjusted", tests)}
    assert words == {BAYES_FACTOR: "undecided", SHANNON: "undecided", NO_PRIOR: "consistent"}
    stronger = {name: pooled_test(effect._replace(error=0.4), 8, seed=None) for name in tests}
    words = {row.hypothesis: row.hypothesis_verdict for row in judge(1, "adjusted", stronger)}
    assert words == {BAYES_FACTOR: "contradicted", SHANNON: "confirmed", NO_PRIOR: "contradicted"}


# --- the error, written out ----------------------------------------------------------------------------------------------


def by_hand(people: list[SubjectTrials], window: SecondWindow) -> tuple[float, float, float]:
    """Value, error and degrees of freedom of prediction 2's slope from whole matrices over all trials."""
    aim, level, terms, rows = [], [], [], []
    for i, trials in enumerate(people):
        masks = window.masks(trials)
        chosen = np.flatnonzero(masks.any(axis=0))
        used = [k for k, mask in enumerate(masks) if mask.any()]
        slope = np.zeros(trials.p.size)
        for k in used if len(used) > 1 else []:
            spread = np.array(window.p)[used]
            slope += (window.p[k] - spread.mean()) / ((spread - spread.mean()) ** 2).sum() * masks[k] / masks[k].sum()
        p, p_0 = trials.p[chosen], trials.p_0[chosen]
        aim += [*trials.indicator[chosen]]
        level += [i] * chosen.size
        terms += [*np.column_stack([np.log(p_0 / p), p_0 / p - 1.0, 0.5 * (p + p_0)])]
        rows += [*slope[chosen]]
    y, who, w = np.array(aim), np.array(level), np.array(rows)
    columns = np.column_stack([np.array(terms), *(np.where(who == i, 1.0, 0.0) for i in range(len(people)))])
    inverse = np.linalg.pinv(columns.T @ columns)
    weight = np.zeros(y.size)
    for i in range(len(people)):
        own = np.where(who == i, w, 0.0)
        if own.any():
            weight += own * (own @ columns[:, 2]) / (own @ own)
    weight /= weight @ columns[:, 2]
    whole = weight - columns @ inverse[:, :2] @ (columns[:, :2].T @ weight)  # a, since b = inverse X' y
    hat = columns @ inverse @ columns.T
    left = np.eye(y.size) - hat
    vectors = []
    for i in range(len(people)):
        own = who == i
        values, basis = linalg.eigh(left[np.ix_(own, own)])
        kept = values > 1e-9
        half = (basis[:, kept] / np.sqrt(values[kept])) @ basis[:, kept].T
        vectors.append(left[:, own] @ half @ whole[own])
    between = np.array([[one @ other for other in vectors] for one in vectors])
    freedom = np.trace(between) ** 2 / (between**2).sum()
    return float(whole @ y), math.sqrt(sum((one @ y) ** 2 for one in vectors)), min(freedom, len(people) - 1)


@pytest.mark.parametrize("reflects", ["nothing", "S_Sh"])
def test_value_error_and_degrees_of_freedom_against_whole_matrices(reflects: str) -> None:
    people = [person(i, trials, reflects, noise=1.0) for i, trials in enumerate((300, 250, 80, 500, 150))]
    effect = pooled_effects([sums_second(trials, SecondWindow()) for trials in people], SECOND_LAYOUT)["slope"]
    assert (effect.value, effect.error, effect.freedom) == pytest.approx(by_hand(people, SecondWindow()), rel=1e-6)
    selected = [int(SecondWindow().masks(trials).any(axis=0).sum()) for trials in people]
    assert effect.spare == sum(selected) - 5 - 3


def test_the_error_per_noise_is_that_of_noise() -> None:
    """200 indicators that are noise: their values spread as foreseen, within four standard errors of a standard deviation."""
    people, rng = [person(i, 200) for i in range(8)], np.random.default_rng(6)
    effects = []
    for _ in range(200):
        own = [trials._replace(indicator=rng.normal(size=200)) for trials in people]
        effects.append(pooled_effects([sums_first(one, FirstWindow()) for one in own], FIRST_LAYOUT)["slope"])
    values = np.array([one.value for one in effects])
    assert values.std() == pytest.approx(effects[0].per_noise, rel=4 / math.sqrt(400))
    assert np.mean([one.error**2 for one in effects]) == pytest.approx(effects[0].per_noise ** 2, rel=0.2)


def test_the_same_trials_in_two_windows_tell_nothing_about_a_slope() -> None:
    """Two errors whose windows hold the same trials: the difference is the same at both, whatever the slope."""
    layout, gram = ColumnOrder(0, 1, {"slope": (0, 1.0)}, ()), np.zeros((3, 3, 3))
    gram[:, 0, 0] = gram[:, 2, 2] = 1.0
    from volatilis.predictions.pooling import pool

    effect = pool(gram, np.array([4, 4, 4]), layout, "slope")
    assert (effect.value, effect.freedom) == (0.0, 0.0)
    assert not can_be_tested(effect, 3)


# --- how much it takes ---------------------------------------------------------------------------------------------------


def test_as_many_people_as_are_called_for_have_the_power() -> None:
    few = analyse(noisy(3, 6, 60, 0.5))
    (wanted,) = few.needs[2, SHANNON]
    assert wanted.people is not None
    assert wanted.people > 6
    more = noisy(3, wanted.people, 60, 0.5)
    effect = pooled_effects([sums_second(one, SecondWindow()) for one in more], SECOND_LAYOUT)["slope"]
    assert power(effect, S_SH, 0.95) == pytest.approx(0.8, abs=0.15)


def test_power_is_that_of_simulated_indicators() -> None:
    """S_Sh with as much noise, prediction 2: 300 data sets of the same beliefs."""
    people, rng, window = [believer(7, i, 120, 0.5) for i in range(8)], np.random.default_rng(4), SecondWindow()
    chosen = [window.masks(one).any(axis=0) for one in people]
    measures = [-np.log(0.5 * (one.p + one.p_0)) for one in people]
    within = [measure[mask] - measure[mask].mean() for measure, mask in zip(measures, chosen, strict=True)]
    spread = math.sqrt(sum((part**2).sum() for part in within) / sum(part.size - 1 for part in within))
    seen = 0
    for _ in range(300):
        own = [
            one._replace(indicator=measure + spread * rng.normal(size=120)) for one, measure in zip(people, measures, strict=True)
        ]
        effect = pooled_effects([sums_second(one, window) for one in own], SECOND_LAYOUT)["slope"]
        seen += pooled_test(effect, 8, seed=None).high < 0.0
    assert 0.2 < seen / 300 < 0.98
    assert power(effect, S_SH, 0.95) == pytest.approx(seen / 300, abs=0.1)


def test_needs_in_words() -> None:
    enough = Pooled(np.zeros(8), 0.0, 1.0, 6.0, 40, 1.0, {"S_Sh": 1.4})
    usable, trials = np.full(8, 6), [100] * 8
    wanted = need(enough, "slope", "S_Sh", usable, 8, trials, 0.95)
    assert wanted.people == pytest.approx(8 * (2.8 / 1.4) ** 2, rel=0.1)
    assert sentence([wanted], 8).startswith(f"about {rounded(wanted.people)} people like these 8; or about ")
    nothing = Pooled(np.zeros(8), 0.0, 0.0, 0.0, -3, 0.0, {"S_Sh": math.nan})
    least = need(nothing, "slope", "S_Sh", np.ones(8, dtype=int), 0, trials, 0.95)
    assert least.minimum
    assert least.people is None  # one usable trial each: more such people leave nothing over
    assert sentence([least], 8) == f"more than {least.trials} trials each"
    hopeless = need(enough._replace(expected={"S_Sh": 1e-3}), "slope", "S_Sh", usable, 8, trials, 0.95)
    assert "better another task" in sentence([hopeless], 8)
    assert [rounded(number) for number in (7.2, 72.1, 721.0, 8888.0)] == [8, 73, 730, 8900]


@pytest.mark.parametrize(("freedom", "spare", "people"), [(1.9, 50, 9), (5.0, 4, 9), (5.0, 50, 2)])
def test_below_the_minimum_there_is_a_value_and_no_test(freedom: float, spare: int, people: int) -> None:
    effect = Pooled(np.zeros(people), 3.0, 1e-9, freedom, spare, 1.0, {"S_Sh": 5.0})
    test = pooled_test(effect, people)
    assert test.value == 3.0
    assert math.isnan(test.low)
    assert math.isnan(test.p)
    assert {row.verdict for row in judge(2, "adjusted", {"slope": test})} == {"cannot be told"}
    assert can_be_tested(effect._replace(freedom=LEAST_FREEDOM, spare=LEAST_SPARE), 3)


@pytest.mark.parametrize(("level", "least"), [(0.75, 3), (0.8, 4), (0.95, 6), (0.99, 8)])
def test_so_few_people_that_flipped_signs_cannot_reach_the_level_give_no_verdict(level: float, least: int) -> None:
    """However clear it is by Student's t; and it is said how many people it takes."""
    for people in (least - 1, least):
        shares = np.full(people, 1.0 / people)
        assert (flip_p(shares) <= 1.0 - level + 1e-12) == (people == least)
        effect = Pooled(shares, 1.0, 0.01, max(people - 1.0, 2.0), 50, 0.01, {"S_Sh": 1.0})
        rows = judge(2, "adjusted", {"slope": pooled_test(effect, people, level)}, level)
        words = {row.hypothesis: row.verdict for row in rows}
        told = {BAYES_FACTOR: "contradicted", SHANNON: "contradicted"}
        assert words == (told if people == least else dict.fromkeys(told, "cannot be told"))
    few = effect._replace(shares=np.full(least - 1, 0.1))
    wanted = need(few, "slope", "S_Sh", np.full(least - 1, 30), least - 1, [100] * (least - 1), level)
    assert (wanted.people, wanted.trials) == (least, None)


def test_student_s_interval_has_the_degrees_of_freedom_of_the_error() -> None:
    test = pooled_test(Pooled(np.full(4, 0.5), 2.0, 1.0, 3.3, 20, 1.0, {}), 4, 0.9)
    assert (test.low, test.high) == pytest.approx((2.0 - stats.t.ppf(0.95, 3.3), 2.0 + stats.t.ppf(0.95, 3.3)))
    assert test.p == pytest.approx(2 * stats.t.sf(2.0, 3.3))
    assert test.degrees_of_freedom == 3.3
