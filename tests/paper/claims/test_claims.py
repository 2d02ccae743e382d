"""The claims of the paper, judged on made-up data in which the truth is planted: every verdict comes out each way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from volatilis.paper import claims
from volatilis.paper.claims import FORMULAS, formulas, identities, predictions
from volatilis.paper.claims.checks import close_to_exact, flat, ranking, same, serves_not_both, similar, smaller_at, steadier
from volatilis.paper.claims.curves import (
    at_point,
    bounded,
    excess_grows,
    falls_with_p_c,
    mostly_below,
    narrow,
    noisier,
    ratio_grows,
    same_in_panels,
    same_order,
    true_p_c_is_best,
    worse_above,
)
from volatilis.paper.claims.formulas import EXACT_TO, Formula, FormulaErrors
from volatilis.paper.claims.ratios import (
    at_most,
    log_error_ratio,
    log_ratio,
    more,
    nearer_in_cells,
    nearest,
    typically,
    worse_somewhere,
)
from volatilis.paper.claims.statistics import (
    Difference,
    MissingDataError,
    all_of,
    below,
    difference,
    every,
    none_differ,
    slope,
    spread_difference,
    stratified,
)
from volatilis.paper.claims.views import EXACT, After, DistanceGrid, Panel, View
from volatilis.paper.claims.worst import decomposition, never_below_zero, worst_case_within

NOISES = {"gaussian": (0.1, 0.5, 1.0, 2.0, 5.0), "categorical": (0.01, 0.1, 0.14, 0.25, 1.0, 2.0, 5.0)}
RATES = (0.1, 0.05, 0.01, 0.005, 0.001, 0.0001)
PARTICLES = [f"{kind}{n}" for kind in ("pf", "MP", "SOR") for n in (1, 10, 20)]
TUNED = ["VarSMiLe", "SMiLe", "Leaky", "Nas10*", "Nas12*", "Nas10", "Nas12"]
LEARNERS = [*PARTICLES, *(f"SOR{n} (published)" for n in (1, 10, 20)), *TUNED, *(f"{name} (free)" for name in TUNED)]

Level = float | Callable[[float, float], float]


def level_of(levels: dict[str, Level], learner: str, noise: float, p_c: float, otherwise: float) -> float:
    """The planted level; variants without one of their own have that of the plain learner."""
    plain = learner.replace(" (free)", "").replace(" (published)", "")
    value = levels.get(learner, levels.get(plain, otherwise))
    return value(noise, p_c) if callable(value) else value


def grid(
    levels: dict[str, Level],
    task: str = "gaussian",
    seeds: int = 10,
    scatter: float = 0.02,
    noises: tuple[float, ...] | None = None,
    learners: list[str] = LEARNERS,
    otherwise: float = 0.1,
) -> Any:
    """error and distance: the levels with a relative scatter over seeds; the error of Exact Bayes is 1."""
    random, noises = np.random.default_rng(7), noises or NOISES[task]
    shape = (len(noises), len(RATES), seeds)
    distance, error = [np.zeros(shape)], [np.ones(shape)]
    for learner in learners:
        means = np.array([[level_of(levels, learner, noise, p_c, otherwise) for p_c in RATES] for noise in noises])
        own = means[..., None] * (1.0 + scatter * random.normal(size=shape))
        distance.append(own)
        error.append(1.0 + own + 0.1 * scatter * means[..., None] * random.normal(size=shape))
    dims = ("learner", "noise", "p_c", "seed")
    coordinates = {"learner": ["Exact Bayes", *learners], "noise": list(noises), "p_c": list(RATES), "seed": range(seeds)}
    attributes = {"task": task, "noise_name": "sigma" if task == "gaussian" else "s"}
    return xr.Dataset({"error": (dims, np.array(error)), "distance": (dims, np.array(distance))}, coordinates, attributes)


def transient(
    curves: dict[str, Callable[[int, np.ndarray], np.ndarray]], task: str = "gaussian", relative_error: float = 0.002
) -> Any:
    """mean and standard_error: `curves[learner](setting, phase)` times the course of Exact Bayes; phase runs from 0 to 1."""
    settings, lasts = {"gaussian": ((0.1, 0.1), (5.0, 0.01)), "categorical": ((0.14, 0.01), (5.0, 0.005))}[task], (10, 100)
    names = ["Exact Bayes", *LEARNERS]
    mean = np.full((2, len(names), 100), np.nan)
    for setting, last in enumerate(lasts):
        phase = np.linspace(0.0, 1.0, last)
        for i, name in enumerate(names):
            plain = name.replace(" (free)", "").replace(" (published)", "")
            curve = curves.get(name, curves.get(plain, lambda setting, phase: np.full(len(phase), 1.5)))
            mean[setting, i, :last] = (
                (1.0 if name == "Exact Bayes" else curve(setting, phase)) * (2.0 - phase) * (1.0 + 9.0 * setting)
            )
    data = {"mean": mean, "standard_error": relative_error * mean}
    noise, p_c = (("setting", [setting[k] for setting in settings]) for k in (0, 1))
    coordinates = {"learner": names, "n": range(1, 101), "noise": noise, "p_c": p_c}
    return xr.Dataset({key: (("setting", "learner", "n"), value) for key, value in data.items()}, coordinates, {"task": task})


def robustness(
    curves: dict[str, Callable[[str, np.ndarray], Any]], task: str = "gaussian", seeds: int = 3, scatter: float = 0.03
) -> Any:
    """regret: `curves[learner](panel, p_c)` with a relative scatter over seeds, five times as large for MP20."""
    random, p_c = np.random.default_rng([8, task != "gaussian"]), np.logspace(-4, -1, 20)
    names = ["Exact Bayes", "pf20", "MP20", "SOR20", "SOR20 (published)", "VarSMiLe", "SMiLe", "Leaky", "Nas10*", "Nas12*"]
    regret = np.zeros((4, len(names), len(p_c), seeds))
    for i, panel in enumerate("ABCD"):
        for k, name in enumerate(names):
            curve = curves.get(name, curves.get(name.replace(" (published)", ""), lambda panel, p_c: 0.1))
            own = np.broadcast_to(curve(panel, p_c), p_c.shape)
            size = scatter * (5.0 if name == "MP20" else 1.0)
            regret[i, k] = own[:, None] * (1.0 + size * random.normal(size=(len(p_c), seeds)))
    noise = [0.1, 0.1, 5.0, 5.0] if task == "gaussian" else [0.14, 0.14, 5.0, 5.0]
    coordinates = {"learner": names, "p_c": p_c, "seed": range(seeds), "noise": ("panel", noise)}
    coordinates["assumed"] = ("panel", [0.0412, 0.00412, 0.0412, 0.00412])
    return xr.Dataset({"regret": (("panel", "learner", "p_c", "seed"), regret)}, coordinates, {"task": task})


def by_subject(values: np.ndarray, error: float, subjects: int) -> np.ndarray:
    """Subjects' own values with exactly these means and standard errors."""
    own = np.random.default_rng(9).normal(size=(*values.shape, subjects))
    own -= own.mean(axis=-1, keepdims=True)
    own /= own.std(axis=-1, ddof=1, keepdims=True)
    return values[..., None] + error * np.sqrt(subjects) * own


def prediction_1(bayes_factor: float = -1.0, shannon: float = 1.0, error: float = 0.01, subjects: int = 20) -> Any:
    """Differences between the sign biases that grow as these numbers times delta; in the published variant halved."""
    delta = np.arange(11) / 10
    dims, shape = ("variant", "learner", "sign", "delta"), (2, 2, 2, 11)
    variables: dict[str, Any] = {}
    for prefix, use in (("", 1.0), ("control_", 0.0)):
        for name, strength in (("bayes_factor", bayes_factor), ("shannon", shannon)):
            half = 0.5 * strength * use * delta
            values = np.ones(shape) + np.array([1.0, 0.5])[:, None, None, None] * np.stack([half, -half])
            variables |= {f"{prefix}{name}": (dims, values), f"{prefix}{name}_se": (dims, np.full(shape, error))}
            variables[f"{prefix}{name}_by_subject"] = ((*dims, "subject"), by_subject(values, error, subjects))
        variables[f"{prefix}subjects"] = (dims, np.full(shape, subjects))
    coordinates = {"variant": ["right", "published"], "learner": ["Nas12*", "pf20"], "sign": [1, -1], "delta": delta}
    return xr.Dataset(variables, coordinates)


def prediction_2(slope: float = 0.0, level: float = 1.0, shannon: float = -3.0, error: float = 0.01) -> Any:
    p = np.arange(1, 17) / 40
    dims, shape = ("variant", "learner", "p"), (2, 2, 16)
    bayes_factor = np.broadcast_to(level + slope * (p - p.mean()), shape).copy()
    bayes_factor[..., -2:] = np.nan  # no trial has so high a probability under the prior
    variables: dict[str, Any] = {"bayes_factor": (dims, bayes_factor)}
    variables["shannon"] = (dims, np.broadcast_to(2.0 + shannon * p, shape))
    variables |= {f"{name}_se": (dims, np.full(shape, error)) for name in ("bayes_factor", "shannon")}
    for name in ("bayes_factor", "shannon"):
        variables[f"{name}_by_subject"] = ((*dims, "subject"), by_subject(variables[name][1], error, 20))
    variables["subjects"] = (dims, np.full(shape, 20))
    return xr.Dataset(variables, {"variant": ["right", "published"], "learner": ["Nas12*", "pf20"], "p": p})


# --- statistics --------------------------------------------------------------------------------------------------------


def test_one_stratum_is_the_ordinary_t_test_and_two_are_welchs() -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(0.5, 1.0, 10), random.normal(0.0, 3.0, 7)
    assert stratified(a).p == pytest.approx(stats.ttest_1samp(a, 0.0).pvalue)
    assert difference(stratified(a), stratified(b)).p == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)


def test_the_stratified_test_keeps_its_level_and_has_power() -> None:
    random = np.random.default_rng(2)
    scales = np.array([0.1, 1.0, 5.0, 0.01])[:, None]
    null = [stratified(scales * random.normal(size=(4, 10))).sign() for _ in range(2000)]
    assert 0.003 < np.mean(np.abs(null)) < 0.02
    assert stratified(1.0 + 0.1 * random.normal(size=(30, 3))).sign() == 1


def test_strata_without_two_seeds_are_left_out_and_without_any_nothing_is_told() -> None:
    samples = np.array([[1.0, 2.0, 3.0], [np.nan, np.nan, 7.0], [1.0, np.nan, 3.0]])
    assert stratified(samples).estimate == 2.0
    with pytest.raises(MissingDataError, match="two seeds"):
        stratified(np.array([[1.0], [2.0]]))


def test_no_noise_is_certainty() -> None:
    assert Difference(0.0, 0.0, 5.0).p == 1.0
    assert Difference(-1e-9, 0.0, 5.0).sign() == -1


def test_answers_combine() -> None:
    sure, open_, against = Difference(1.0, 0.1, 9.0), Difference(0.1, 0.1, 9.0), Difference(-1.0, 0.1, 9.0)
    assert every({"a": sure, "b": sure}) is True
    assert every({"a": sure, "b": open_}) is None
    assert every({"a": sure, "b": open_, "c": against}) is False
    assert (all_of([True, None]), all_of([None, False]), all_of([True, True])) == (None, False, True)
    assert (below(sure, 2.0), below(sure, 0.5), below(sure, 1.1)) == (True, False, None)
    assert none_differ({"a": open_}, 1.0) is True
    assert none_differ({"a": open_}, 0.1) is None
    assert none_differ({"a": sure}, 10.0) is False


def test_the_spread_has_the_standard_error_that_repetition_shows() -> None:
    random = np.random.default_rng(3)
    truth = np.linspace(0.0, 1.0, 12)[:, None]
    runs = [spread_difference(truth + 0.1 * random.normal(size=(12, 5)), 0.5 * truth + np.zeros((12, 5))) for _ in range(400)]
    assert np.mean([run.estimate for run in runs]) == pytest.approx(0.5 * truth.std(), rel=0.03)
    assert np.std([run.estimate for run in runs]) == pytest.approx(np.mean([run.standard_error for run in runs]), rel=0.15)


def test_a_slope_is_found() -> None:
    x = np.linspace(-4.0, -1.0, 9)
    test = slope(2.0 * x[:, None] + 0.01 * np.random.default_rng(4).normal(size=(9, 3)), x)
    assert test.estimate == pytest.approx(2.0, abs=0.02)
    assert test.sign() == 1


# --- verdicts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "right", "expected"),
    [
        (True, True, claims.HOLDS),
        (None, True, claims.HOLDS),
        (True, False, claims.PUBLISHED_ONLY),
        (False, False, claims.FAILS),
        (None, False, claims.FAILS),
        (True, None, claims.PUBLISHED_ONLY),
        (False, None, claims.OPEN),
        (None, None, claims.OPEN),
    ],
)
def test_verdicts_from_two_answers(published: bool | None, right: bool | None, expected: str) -> None:
    assert claims.verdict(published, right) == expected


def judged(key: str, **datasets: Any) -> claims.Claim:
    renamed = {name.replace("_", " "): dataset for name, dataset in datasets.items()}
    return next(claim for claim in claims.evaluate(renamed) if claim.key == key)


def verdict_on(key: str, **datasets: Any) -> str:
    return judged(key, **datasets).verdict


def truth_of(check: Any, dataset: Any, mended: bool = True) -> bool | None:
    return check(View(dataset, mended)).truth


BAD, GOOD = 0.061, 1e-4


@pytest.mark.parametrize(
    ("published", "right", "scatter", "expected"),
    [
        (BAD, GOOD, 0.02, claims.PUBLISHED_ONLY),
        (BAD, BAD, 0.02, claims.HOLDS),
        (GOOD, GOOD, 0.02, claims.FAILS),
        (BAD, BAD, 4.0, claims.OPEN),
    ],
)
def test_a_worst_case_gets_each_verdict(published: float, right: float, scatter: float, expected: str) -> None:
    def only_at_low_noise(level: float) -> Level:
        return lambda sigma, p_c: level if (sigma, p_c) == (0.1, 0.1) else 1e-5

    levels = {"SOR20 (published)": only_at_low_noise(published), "SOR20": only_at_low_noise(right)}
    data = grid(levels, seeds=10 if scatter < 1.0 else 3, scatter=scatter)
    assert verdict_on("gaussian-worst-sor20", gaussian=data) == expected


def test_a_worst_case_in_another_cell_is_no_worst_case() -> None:
    data = grid({"pf20": lambda sigma, p_c: 0.033 if (sigma, p_c) == (5.0, 0.0001) else 0.05 if sigma == 1.0 else 0.01})
    claim = judged("gaussian-worst-pf20", gaussian=data)
    assert claim.verdict == claims.FAILS
    assert "sigma 1" in claim.done_right
    assert "sigma 5, p_c 0.0001" in claim.done_right


def test_the_two_worst_cases_are_compared_by_welchs_test() -> None:
    data = grid({"pf20": 0.033, "SOR20 (published)": 0.061, "SOR20": 1e-5})
    claim = judged("gaussian-worst-test", gaussian=data)
    assert claim.verdict == claims.PUBLISHED_ONLY
    errors = data.error - data.error.sel(learner="Exact Bayes")
    by_hand = []
    for name in ("SOR20 (published)", "pf20"):
        cell = errors.sel(learner=name).mean("seed").argmax(("noise", "p_c"))
        by_hand.append(errors.sel(learner=name).isel(cell).values)
    p = stats.ttest_ind(*by_hand, equal_var=False).pvalue
    assert f"p = {p:.2g}" in claim.uncertainty
    assert verdict_on("gaussian-worst-test", gaussian=grid({"pf20": 0.061, "SOR20": 0.033})) == claims.FAILS


def test_the_largest_is_compared_with_the_largest_wherever_it_is() -> None:
    """Two cells of nearly the same level: which of them comes out on top is chance, and no reason to fail."""
    data = grid({"pf20": lambda s, p_c: 0.0048 if p_c == 0.005 else 1e-4}, "categorical", scatter=0.05)
    assert verdict_on("categorical-worst-pf20", categorical=data) == claims.HOLDS
    elsewhere = grid({"pf20": lambda s, p_c: 0.0048 if s == 1.0 else 1e-4}, "categorical", scatter=0.05)
    assert verdict_on("categorical-worst-pf20", categorical=elsewhere) == claims.FAILS
    smaller = grid({"pf20": lambda s, p_c: 0.0043 if p_c == 0.005 else 1e-4}, "categorical", scatter=0.01)
    assert verdict_on("categorical-worst-pf20", categorical=smaller) == claims.FAILS


# --- kinds of checks, each way -----------------------------------------------------------------------------------------

EQUAL = {"pf20": 0.1, "MP20": 0.1}


@pytest.mark.parametrize(
    ("levels", "scatter", "expected"),
    [({"pf20": 0.1, "MP20": 0.2}, 0.1, True), ({"pf20": 0.2, "MP20": 0.1}, 0.1, False), (EQUAL, 0.1, None)],
)
def test_an_order_each_way(levels: dict[str, Level], scatter: float, expected: bool | None) -> None:
    assert truth_of(ranking(("pf20",), ("MP20",)), grid(levels, scatter=scatter)) is expected


def test_an_order_is_sought_only_in_its_cells() -> None:
    data = grid({"pf20": lambda sigma, p_c: 0.2 if sigma < 0.3 else 0.1, "MP20": 0.15})
    assert truth_of(ranking(("pf20",), ("MP20",), at=DistanceGrid(lambda sigma, p_c: sigma < 0.3)), data) is False
    assert truth_of(ranking(("pf20",), ("MP20",), at=DistanceGrid(lambda sigma, p_c: sigma > 0.3)), data) is True
    with pytest.raises(MissingDataError, match="cells"):
        truth_of(ranking(("pf20",), ("MP20",), at=DistanceGrid(lambda sigma, p_c: sigma > 9.0)), data)


def test_a_chain_breaks_at_its_weakest_pair() -> None:
    data = grid({"pf20": 0.1, "MP20": 0.2, "SOR20": 0.15})
    outcome = ranking(("pf20",), ("MP20",), ("SOR20",))(View(data, True))
    assert outcome.truth is False
    assert "SOR20 above MP20" in outcome.uncertainty


@pytest.mark.parametrize(
    ("level", "scatter", "expected"), [(0.1, 0.02, True), (0.12, 0.02, False), (0.1, 2.0, None), (0.1, 0.0, True)]
)
def test_sameness_each_way(level: float, scatter: float, expected: bool | None) -> None:
    assert truth_of(same("pf1", "SOR1"), grid({"pf1": 0.1, "SOR1": level}, scatter=scatter)) is expected


def test_sameness_on_average_but_not_in_each_cell_is_none() -> None:
    data = grid({"pf1": 0.1, "SOR1": lambda sigma, p_c: 0.15 if sigma == 0.1 else 0.05 if sigma == 5.0 else 0.1})
    assert truth_of(same("pf1", "SOR1"), data) is False


@pytest.mark.parametrize(("calm", "expected"), [(0.1, True), (0.5, False), (0.3, None)])
def test_steadiness_each_way(calm: float, expected: bool | None) -> None:
    def varying(size: float) -> Level:
        return lambda sigma, p_c: 1.0 + size * np.log10(p_c)

    data = grid({"pf20": varying(0.5 * calm), "MP20": varying(0.15)}, scatter=0.05)
    assert truth_of(steadier(("pf20",), ("MP20",)), data) is expected


@pytest.mark.parametrize(("high", "expected"), [(0.2, True), (0.05, False), (0.1, None)])
def test_a_place_against_another_each_way(high: float, expected: bool | None) -> None:
    low_place, high_place = DistanceGrid(lambda s, p: (s < 1.0) & (p > 0)), DistanceGrid(lambda s, p: (s > 1.0) & (p > 0))
    data = grid({"Leaky": lambda sigma, p_c: 0.1 if sigma < 1.0 else high}, scatter=0.1)
    assert truth_of(smaller_at(("Leaky",), low_place, high_place), data) is expected


@pytest.mark.parametrize(("inside", "expected"), [(0.3, True), (0.1, False), (0.2, None)])
def test_the_worst_cell_among_some_each_way(inside: float, expected: bool | None) -> None:
    data = grid({"pf20": lambda sigma, p_c: inside if sigma > 3.0 else 0.2}, scatter=0.1)
    assert truth_of(worst_case_within(("pf20",), lambda sigma, p_c: (sigma > 3.0) & (p_c > 0)), data) is expected


def test_a_typical_ratio_is_not_ruled_by_one_cell() -> None:
    """A learner that is ten times closer everywhere but far off in one cell: further on average, closer in a typical cell."""
    data = grid({"MP20": lambda s, p_c: 5.0 if (s, p_c) == (5.0, 0.0001) else 0.01, "pf20": 0.1}, scatter=0.1)
    assert truth_of(ranking(("MP20",), ("pf20",)), data) is False
    assert truth_of(typically(("MP20",), ("pf20",)), data) is True
    assert truth_of(typically(("pf20",), ("MP20",)), data) is False
    assert truth_of(typically(("pf20",), ("VarSMiLe",)), grid(EQUAL, scatter=0.1)) is None
    outcome = nearest(("MP20",), ("pf20",))(View(data, True))
    assert outcome.truth is True
    assert "best in 29; pf20 0.1, 0.0999, best in 1." in outcome.text


def test_a_log_ratio_has_the_standard_error_that_repetition_shows() -> None:
    random = np.random.default_rng(9)
    runs = [log_ratio(3.0 + 0.3 * random.normal(size=(8, 10)), 1.0 + 0.1 * random.normal(size=(8, 10))) for _ in range(400)]
    assert np.mean([run.estimate for run in runs]) == pytest.approx(np.log(3.0), abs=0.01)
    assert np.std([run.estimate for run in runs]) == pytest.approx(np.mean([run.standard_error for run in runs]), rel=0.15)


@pytest.mark.parametrize(("odd", "scatter", "expected"), [(0.1, 0.05, True), (0.3, 0.05, False), (0.1, 3.0, None)])
def test_nearer_in_every_cell_each_way(odd: float, scatter: float, expected: bool | None) -> None:
    """One cell that counts against it is enough to fail, and is named."""
    levels = {"MP20": lambda s, p_c: odd if (s, p_c) == (5.0, 0.1) else 0.1, "pf20": 0.2}
    check = nearer_in_cells("MP20", "pf20", DistanceGrid(lambda s, p_c: (s > 1.5) & (p_c > 0)))
    outcome = check(View(grid(levels, scatter=scatter), True))
    assert outcome.truth is expected
    assert ("sigma 5, p_c 0.1" in outcome.text) is (expected is False)


@pytest.mark.parametrize(
    ("odd", "other", "scatter", "expected"), [(0.3, 0.1, 0.05, True), (0.1, 0.1, 0.05, False), (0.2, 0.2, 1.0, None)]
)
def test_worse_somewhere_each_way(odd: float, other: float, scatter: float, expected: bool | None) -> None:
    levels = {"SOR20": lambda s, p_c: odd if (s, p_c) == (0.1, 0.1) else other, "MP20": 0.2}
    assert truth_of(worse_somewhere("SOR20", "MP20"), grid(levels, scatter=scatter)) is expected


def test_errors_below_those_of_exact_bayes_are_noise_or_not() -> None:
    data = grid({"MP20": 1e-9}, scatter=0.02)
    random = np.random.default_rng(5)
    noisy = data.copy(deep=True)
    noisy.error.loc[{"learner": "MP20"}] += 0.01 * random.normal(size=noisy.error.sel(learner="MP20").shape)
    assert truth_of(never_below_zero(("MP20",)), noisy) is True
    impossible = data.copy(deep=True)
    impossible.error.loc[{"learner": "MP20", "noise": 1.0, "p_c": 0.01}] = 0.9 + 0.001 * random.normal(size=10)
    assert truth_of(never_below_zero(("MP20",)), impossible) is False


def test_delta_mse_is_the_distance_or_not() -> None:
    data = grid({})
    assert truth_of(decomposition(("pf20", "MP20")), data) is True
    broken = data.assign(distance=1.2 * data.distance)
    assert truth_of(decomposition(("pf20", "MP20")), broken) is False
    empty = data.assign(error=1.0 + 0.0 * data.error, distance=0.0 * data.distance)
    assert truth_of(decomposition(("pf20", "MP20")), empty) is None


@pytest.mark.parametrize(("excess", "error", "expected"), [(1.05, 0.002, True), (1.2, 0.002, False), (1.09, 0.02, None)])
def test_closeness_to_exact_bayes_each_way(excess: float, error: float, expected: bool | None) -> None:
    data = transient({"pf20": lambda setting, phase: np.full(len(phase), excess)}, relative_error=error)
    assert truth_of(close_to_exact(("pf20",), (After(0), After(1)), 0.1), data) is expected


@pytest.mark.parametrize(
    ("ratio", "error", "slight", "large"),
    [
        (1.05, 0.002, True, False),
        (1.0, 0.02, None, False),
        (0.9, 0.002, False, False),
        (1.2, 0.002, False, False),
        (1.6, 0.002, False, True),
        (1.27, 0.02, False, None),
    ],
)
def test_slightly_and_much_each_way(ratio: float, error: float, slight: bool | None, large: bool | None) -> None:
    data = transient({"pf20": lambda setting, phase: np.full(len(phase), 1.5 * ratio)}, relative_error=error)
    assert truth_of(more(("MP20",), ("pf20",), at=After(1), most=0.1), data) is slight
    assert truth_of(more(("MP20",), ("pf20",), at=After(1), least=0.25), data) is large


def test_a_ratio_and_its_noise_are_those_that_repetition_shows() -> None:
    """Paired by seed: noise that both learners share is none of the ratio."""
    found = []
    for repetition in range(400):
        random = np.random.default_rng(repetition)
        shared, own = 1.0 + 0.2 * random.normal(size=10), 0.01 * random.normal(size=(2, 10))
        seeds = np.stack([shared, 3.0 * shared * (1.0 + own[0]), 2.0 * shared * (1.0 + own[1])])
        data = transient({}).sel(learner=["Exact Bayes", "pf20", "MP20"], setting=[0], n=[1])
        data["mean_by_seed"] = ("setting", "learner", "n", "seed"), seeds[None, :, None, :]
        found.append(log_error_ratio(View(data, True), After(0), "pf20", "MP20"))
    assert np.mean([test.estimate for test in found]) == pytest.approx(np.log(1.5), abs=0.001)
    assert np.mean([test.standard_error for test in found]) == pytest.approx(np.std([t.estimate for t in found]), rel=0.1)


@pytest.mark.parametrize(("level", "scatter", "expected"), [(0.05, 0.02, True), (0.2, 0.02, False), (0.1, 0.5, None)])
def test_at_most_so_far_above_each_way(level: float, scatter: float, expected: bool | None) -> None:
    """The error of Exact Bayes is 1, that of a learner 1 + its level."""
    data = grid({"pf20": level, "MP20": 0.01}, scatter=scatter)
    assert truth_of(at_most(("pf20", "MP20"), (EXACT,), 0.1), data) is expected


def test_closeness_asks_for_the_typical_cell_and_names_the_worst() -> None:
    odd = grid({"pf20": lambda noise, p_c: 3.0 if (noise, p_c) == (5.0, 0.01) else 0.02})
    outcome = at_most(("pf20",), (EXACT,), 0.1)(View(odd, True))
    assert outcome.truth is True
    assert "above 1.1 in 1 of 30 cells, at most 4" in outcome.text
    assert "(sigma 5, p_c 0.01)" in outcome.text
    both = claims.both_tasks.joined_grids({"gaussian": odd, "categorical": grid({"pf20": 0.02}, "categorical")})
    assert "(Gaussian, sigma 5, p_c 0.01)" in at_most(("pf20",), (EXACT,), 0.1)(View(both, True)).text


@pytest.mark.parametrize(
    ("published", "right", "expected"),
    [(0.02, 0.02, claims.FAILS), (1.0, 0.02, claims.PUBLISHED_ONLY), (0.02, 1.0, claims.HOLDS)],
)
def test_very_close_to_sor_depends_on_which_sor(published: float, right: float, expected: str) -> None:
    """pf20 and MP20 have 1.2 times the error of Exact Bayes: close to SOR20 only where that is as far, or further."""
    data = grid({"pf20": 0.2, "MP20": 0.2, "SOR20": right, "SOR20 (published)": published})
    assert verdict_on("gaussian-summary-sor", gaussian=data) == expected


def test_closeness_to_nothing_cannot_be_told() -> None:
    data = robustness({"Exact Bayes": lambda panel, p_c: 0.0})
    with pytest.raises(MissingDataError, match="lost in noise"):
        truth_of(close_to_exact(("SOR20",), (Panel("C"),), 0.25), data)
    assert verdict_on("robustness-sor20-high-noise", gaussian_robustness=data) == claims.OPEN


def test_early_and_late_are_told_apart() -> None:
    data = transient({"SMiLe": lambda setting, phase: 1.0 + phase, "Leaky": lambda setting, phase: 2.0 - phase})
    assert truth_of(excess_grows("SMiLe", 0), data) is True
    assert truth_of(excess_grows("Leaky", 0), data) is False
    assert truth_of(excess_grows("pf1", 0), data) is None
    assert truth_of(ratio_grows("SMiLe", "Leaky", 1), data) is True
    assert truth_of(ratio_grows("Leaky", "SMiLe", 1), data) is False
    assert truth_of(ratio_grows("pf1", "MP1", 1), data) is None
    assert truth_of(ranking(("SMiLe",), ("Leaky",), at=After(1, "early")), data) is True
    assert truth_of(ranking(("SMiLe",), ("Leaky",), at=After(1, "late")), data) is False
    assert truth_of(ranking(("MP1",), ("pf1",), at=After(1)), data) is None


@pytest.mark.parametrize(
    ("early", "late", "error", "expected"),
    [(1.3, 1.0, 0.002, True), (1.0, 1.3, 0.002, True), (1.05, 1.0, 0.002, False), (1.1, 1.0, 0.02, None)],
)
def test_serving_both_phases_each_way(early: float, late: float, error: float, expected: bool | None) -> None:
    data = transient({"Leaky": lambda setting, phase: np.where(phase < 0.5, early, late)}, relative_error=error)
    assert truth_of(serves_not_both("Leaky", (0, 1), 0.1), data) is expected


def test_curves_per_seed_are_compared_in_pairs() -> None:
    """Learners that share large fluctuations: unpaired nothing can be told, paired it can."""
    data = transient({"pf20": lambda setting, phase: np.full(len(phase), 1.01)}, relative_error=0.05)
    shared = 0.1 * np.random.default_rng(6).normal(size=(2, 1, 1, 10))
    own = 0.0005 * np.random.default_rng(7).normal(size=(2, len(data.learner), 100, 10))
    paired = data.assign(mean_by_seed=(("setting", "learner", "n", "seed"), data["mean"].values[..., None] + shared + own))
    check = ranking((EXACT,), ("pf20",), at=After(0))
    assert truth_of(check, data) is None
    assert truth_of(check, paired) is True
    assert "paired" in check(View(paired, True)).uncertainty


def rising(size: float) -> Callable[[str, np.ndarray], Any]:
    return lambda panel, p_c: 1.0 + size * np.log10(p_c / 1e-4)


@pytest.mark.parametrize(("size", "expected"), [(0.3, False), (-0.1, True), (0.0, None)])
def test_a_regret_that_falls_each_way(size: float, expected: bool | None) -> None:
    assert truth_of(falls_with_p_c(("pf20",), Panel("A", "below")), robustness({"pf20": rising(size)})) is expected


@pytest.mark.parametrize(("size", "expected"), [(0.3, True), (-0.3, False), (0.0, None)])
def test_a_regret_that_is_worse_above_each_way(size: float, expected: bool | None) -> None:
    assert truth_of(worse_above(("pf20",), "B"), robustness({"pf20": rising(size)})) is expected


def test_a_strong_deterioration_is_more_than_a_rise() -> None:
    data = robustness({"pf20": lambda panel, p_c: np.where(p_c > 0.00412, 0.15, 0.1)})
    assert truth_of(worse_above(("pf20",), "B"), data) is True
    assert truth_of(worse_above(("pf20",), "B", 2.0), data) is False


def test_steadiness_is_asked_in_each_panel() -> None:
    data = robustness({"pf20": rising(0.1), "SMiLe": lambda panel, p_c: rising(0.02 if panel == "B" else 0.5)(panel, p_c)})
    panels = [Panel(panel) for panel in "ABCD"]
    outcome = steadier(("pf20",), ("SMiLe",), at=panels)(View(data, True))
    assert outcome.truth is False
    assert "panel B" in outcome.uncertainty
    assert truth_of(steadier(("pf20",), ("SMiLe",), at=[panels[0], panels[2]]), data) is True


@pytest.mark.parametrize(("size", "expected"), [(0.02, True), (0.5, False), (0.0333, None)])
def test_a_narrow_curve_each_way(size: float, expected: bool | None) -> None:
    assert truth_of(narrow(("pf20",), "A", 0.1), robustness({"pf20": rising(size)}, scatter=0.005)) is expected


def test_a_point_of_a_curve_has_pooled_noise() -> None:
    random = np.random.default_rng(10)
    tests = [at_point(0.1 * random.normal(size=(40, 3)), 20) for _ in range(2000)]
    assert {test.freedom for test in tests} == {18.0}
    assert 0.003 < np.mean([test.sign() != 0 for test in tests]) < 0.02
    assert at_point(np.tile([1.0, 1.2, 1.4], (40, 1)), 0).standard_error == pytest.approx(0.2 / np.sqrt(3.0))


@pytest.mark.parametrize(("other", "scatter", "expected"), [(0.2, 0.001, True), (0.05, 0.001, False), (0.05, 0.3, None)])
def test_the_true_p_c_is_best_each_way(other: float, scatter: float, expected: bool | None) -> None:
    """On fresh sequences p_c', with an excess of 0.1, against the best of a scan, twice as large."""
    random, seeds = np.random.default_rng(3), 30
    errors = np.full((4, 2, 2, seeds), 1.0) + 0.1 * random.normal(size=seeds)  # sequences are shared
    errors[:, 1] += np.array([0.1, other])[:, None] + scatter * random.normal(size=(4, 2, seeds))
    best = (("panel", "learner"), np.tile([1.0, 2.0], (4, 1)))
    coordinates = {"learner": ["Exact Bayes", "pf20"], "assuming": ["true", "best"], "best": best}
    data = xr.Dataset({"error_at_assumed": (("panel", "learner", "assuming", "seed"), errors)}, coordinates)
    assert truth_of(true_p_c_is_best(("pf20",)), data) is expected


@pytest.mark.parametrize(("orders", "expected"), [("0123", True), ("4567", False), ("0145", None)])
def test_the_same_order_in_both_tasks_each_way(orders: str, expected: bool | None) -> None:
    """Six learners in four panels: in the same order, in the reverse, and in each in two panels."""
    names = list("abcdef")
    regret = np.tile(np.arange(1.0, 7.0)[None, None, :, None, None], (2, 4, 1, 3, 2))
    for panel in (int(digit) - 4 for digit in orders if digit > "3"):
        regret[1, panel] = regret[1, panel, ::-1]
    data = xr.Dataset({"regret": (("task", "panel", "learner", "p_c", "seed"), regret)}, {"learner": names})
    outcome = same_order(names)(View(data, mended=True))
    assert outcome.truth is expected
    if expected:
        assert "p = 3.7e-12" in outcome.uncertainty  # (1 / 6!)^4
        assert outcome.text == "rank correlation: panel A 1.00, panel B 1.00, panel C 1.00, panel D 1.00"


@pytest.mark.parametrize(("size", "expected"), [(0.02, True), (3.0, False)])
def test_flatness_each_way(size: float, expected: bool) -> None:
    assert truth_of(flat(("Leaky",), Panel("A")), robustness({"Leaky": rising(size)})) is expected


def test_fluctuations_each_way() -> None:
    data = robustness({})
    assert truth_of(noisier("MP20", "pf20", "D"), data) is True
    assert truth_of(noisier("pf20", "MP20", "D"), data) is False
    assert truth_of(noisier("pf20", "VarSMiLe", "D"), data) is None


@pytest.mark.parametrize(("level", "expected"), [(0.05, True), (0.2, False), (0.1, None)])
def test_most_of_the_time_each_way(level: float, expected: bool | None) -> None:
    data = robustness({"Exact Bayes": lambda panel, p_c: level, "pf20": lambda panel, p_c: 0.1})
    assert truth_of(mostly_below((EXACT,), ("pf20",)), data) is expected


@pytest.mark.parametrize(("level", "scatter", "expected"), [(0.1, 0.02, True), (0.15, 0.02, False), (0.1, 0.8, None)])
def test_the_same_curve_in_two_panels_each_way(level: float, scatter: float, expected: bool | None) -> None:
    data = robustness({"Leaky": lambda panel, p_c: level if panel == "D" else 0.1}, scatter=scatter)
    assert truth_of(same_in_panels("Leaky", "C", "D"), data) is expected


@pytest.mark.parametrize(("level", "expected"), [(0.1, True), (0.6, False), (0.24, None)])
def test_a_bound_each_way(level: float, expected: bool | None) -> None:
    assert truth_of(bounded(("pf20",), "D", 0.25), robustness({"pf20": lambda panel, p_c: level})) is expected


@pytest.mark.parametrize(("level", "scatter", "expected"), [(0.11, 0.03, True), (0.2, 0.03, False), (0.12, 0.6, None)])
def test_similarity_each_way(level: float, scatter: float, expected: bool | None) -> None:
    data = robustness({"pf20": lambda panel, p_c: level, "MP20": lambda panel, p_c: 0.1}, scatter=scatter)
    assert truth_of(similar("pf20", "MP20", Panel("C")), data) is expected


@pytest.mark.parametrize(("strength", "expected"), [(1.0, claims.HOLDS), (-1.0, claims.FAILS), (0.0, claims.OPEN)])
def test_both_signs_and_slopes_of_prediction_1(strength: float, expected: str) -> None:
    data = prediction_1(-strength, strength)
    for key in ("bayes-factor", "bayes-factor-slope", "shannon", "shannon-slope"):
        assert verdict_on(f"prediction-1-{key}", prediction1=data) == expected


def test_a_prior_that_is_not_used() -> None:
    data = prediction_1(error=0.002)
    assert verdict_on("prediction-1-prior-unused", prediction1=data) == claims.HOLDS
    used = data.assign(control_shannon_by_subject=data.shannon_by_subject)
    assert verdict_on("prediction-1-prior-unused", prediction1=used) == claims.FAILS
    without = data.drop_vars([name for name in data if name.startswith("control_")])
    claim = judged("prediction-1-prior-unused", prediction1=without)
    assert claim.verdict == claims.OPEN
    assert "not in the dataset" in claim.uncertainty


def test_the_numbers_on_the_predictions_are_those_of_the_tables_of_hypotheses() -> None:
    """In the claims as in Tables 1 and 2: the same difference, the same slopes, the same standard errors."""
    first, second = prediction_1(), prediction_2()
    rows = predictions.table_1(first), predictions.table_2(second)
    for key, measure, column, table, data in (
        ("1-bayes-factor", "bayes_factor", "difference", rows[0], {"prediction1": first}),
        ("1-bayes-factor-slope", "bayes_factor", "slope", rows[0], {"prediction1": first}),
        ("1-shannon", "shannon", "difference", rows[0], {"prediction1": first}),
        ("1-shannon-slope", "shannon", "slope", rows[0], {"prediction1": first}),
        ("2-shannon", "shannon", "slope", rows[1], {"prediction2": second}),
    ):
        claim = judged(f"prediction-{key}", **data)
        for variant, text in (("right", claim.done_right), ("published", claim.with_published_code)):
            own = table[(table.variant == variant) & (table.measure == measure) & (table.hypothesis != "the prior is not used")]
            for row in own.to_dict("records"):
                assert f"{row['learner']} {row[column]:+.3g} ± {row[f'{column}_se']:.2g}" in text


def test_points_of_too_few_subjects_do_not_count() -> None:
    assert verdict_on("prediction-1-shannon", prediction1=prediction_1(subjects=3)) == claims.OPEN


@pytest.mark.parametrize(
    ("world", "bayes_factor", "shannon"),
    [
        ({}, claims.HOLDS, claims.HOLDS),
        ({"slope": 2.0, "shannon": 3.0}, claims.FAILS, claims.FAILS),
        ({"level": 1.3, "shannon": 0.0}, claims.FAILS, claims.OPEN),
        ({"error": 0.5, "shannon": -0.1}, claims.OPEN, claims.OPEN),
    ],
)
def test_prediction_2_each_way(world: dict[str, float], bayes_factor: str, shannon: str) -> None:
    data = prediction_2(**world)
    assert verdict_on("prediction-2-bayes-factor", prediction2=data) == bayes_factor
    assert verdict_on("prediction-2-shannon", prediction2=data) == shannon


# --- the whole table ---------------------------------------------------------------------------------------------------

VERDICTS = {claims.HOLDS, claims.PUBLISHED_ONLY, claims.FAILS, claims.OPEN}


def all_datasets() -> dict[str, Any]:
    return {
        "gaussian": grid({}),
        "categorical": grid({}, "categorical"),
        "gaussian transient": transient({}),
        "categorical transient": transient({}, "categorical"),
        "gaussian robustness": robustness({}),
        "categorical robustness": robustness({}, "categorical"),
        "prediction1": prediction_1(0.0, 0.0),
        "prediction2": prediction_2(shannon=0.0),
    }


def test_every_claim_is_complete_and_has_one_of_four_verdicts() -> None:
    told = claims.evaluate(all_datasets())
    assert (
        len({claim.key for claim in told})
        == len(told)
        == len([s for s in claims.STATEMENTS if "confirmation" not in s.dataset]) + len(FORMULAS)
    )
    assert {statement.dataset for statement in claims.STATEMENTS} == set(claims.DATASETS)
    for claim in told:
        assert claim.verdict in VERDICTS
        assert all(claim), claim.key


def test_where_learners_do_not_differ_no_order_is_found() -> None:
    """What may still hold is that things are the same, bounded or close, and that all are above Exact Bayes after a change."""
    above_exact = {"gaussian-smile-noise", "gaussian-leaky-trade-off"}
    same_things = {"gaussian-negative", "gaussian-decomposition", "categorical-decomposition", "gaussian-pf1-sor1"}
    same_things |= {
        "gaussian-pf1-sor1-cells",
        "robustness-nas12-high-noise",
        "robustness-not-dramatic",
        "robustness-leaky-blind",
        "robustness-sor20-high-noise",
        "robustness-pf20-mp20-similar",
        "gaussian-summary-sor",
        "categorical-summary-sor",
        "both-comparable",
        "both-comparable-approximations",
        "gaussian-comparable-approximations",
    }
    same_things |= {"categorical-robustness-sor20", "prediction-1-prior-unused", "prediction-2-bayes-factor"}
    held = {
        claim.key for claim in claims.evaluate(all_datasets()) if claim.figure != "equations" and claim.verdict == claims.HOLDS
    }
    means = {key for key in held if key.endswith("-means")}  # ratios of means of equal learners are 1
    assert held - means <= same_things | above_exact


def test_claims_without_their_dataset_are_left_out_and_other_datasets_ignored() -> None:
    assert {claim.figure for claim in claims.evaluate({"memory": None})} == {"equations"}
    assert {claim.figure for claim in claims.evaluate({"prediction2": prediction_2()})} == {"11", "equations"}


def test_what_a_dataset_lacks_cannot_be_told() -> None:
    data = grid({}, learners=["pf20", "MP20"])
    told = {claim.key: claim for claim in claims.evaluate({"gaussian": data})}
    assert told["gaussian-worst-sor20"].verdict == claims.OPEN
    assert "SOR20 (published) is not in the dataset" in told["gaussian-worst-sor20"].uncertainty
    assert told["gaussian-pf20-robust"].with_published_code != "not available"
    assert all(claim.verdict in VERDICTS for claim in told.values())


@pytest.mark.parametrize("seeds", [1, 2])
def test_one_seed_tells_nothing_and_two_do_not_break_anything(seeds: int) -> None:
    data = {"gaussian": grid({}, seeds=seeds), "gaussian robustness": robustness({}, seeds=seeds)}
    verdicts = {claim.verdict for claim in claims.evaluate(data) if claim.figure != "equations"}
    assert verdicts <= VERDICTS
    if seeds == 1:
        assert verdicts <= {claims.OPEN}


def test_cells_that_were_not_computed_are_passed_over() -> None:
    data = grid({"pf20": 0.1, "MP20": 0.2})
    holes = data.where(data.noise != 1.0)
    assert truth_of(ranking(("pf20",), ("MP20",)), holes) is True
    assert truth_of(steadier(("pf20",), ("MP20",)), holes) is not False
    assert {claim.verdict for claim in claims.evaluate({"gaussian": holes})} <= VERDICTS


def test_the_order_of_dimensions_does_not_matter() -> None:
    data = grid({"pf20": lambda sigma, p_c: sigma * p_c, "MP20": 0.2})
    turned = data.transpose("seed", "p_c", "learner", "noise")
    assert claims.evaluate({"gaussian": turned}) == claims.evaluate({"gaussian": data})


def test_free_tuning_counts_done_right_and_bounded_tuning_with_the_published_code() -> None:
    levels = {"VarSMiLe": 0.02, "Nas12*": 0.01, "Leaky": 0.05, "Leaky (free)": 0.005}
    claim = judged("gaussian-one-unit", gaussian=grid(levels, scatter=0.0))
    assert claim.verdict == claims.PUBLISHED_ONLY
    assert "Leaky 0.05" in claim.with_published_code
    assert "Leaky 0.005" in claim.done_right


def test_the_table() -> None:
    table = claims.to_frame(claims.evaluate({}))
    assert list(table.columns) == list(claims.Claim._fields)
    assert len(table) == len(FORMULAS)


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.key)
def test_formulas_hold_or_fail_as_known_and_mended_they_hold(formula: Formula) -> None:
    wrong = {
        "nassar-variance-line",
        "gaussian-bayes-factor",
        "pseudocode-sigma",
        "sign-bias-word",
        "prediction-1-all-confidences",
        "prediction-1-all-confidences-shannon",
    }
    claim = claims.judge_formula(formula)
    assert claim.verdict == (claims.FAILS if formula.key in wrong else claims.HOLDS)
    printed, mended = formula.errors()
    assert (mended is None) == (formula.key not in wrong)
    if mended is not None:
        assert mended <= EXACT_TO < 0.1 < printed


def test_formulas_are_sensitive_to_what_they_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message passing that keeps one hypothesis less is not exact; a SMiLe that may narrow is found out."""
    from volatilis import learners

    plain = learners.MessagePassing
    monkeypatch.setattr(learners, "MessagePassing", lambda family, p_c, n: plain(family, p_c, max(1, n - 1)))
    assert formulas.message_passing_starts_exact().printed > 1e-6
    monkeypatch.setattr(learners, "SMiLe", learners.VarSMiLe)
    assert identities.smile_stays_wide().printed > 0.5


def test_a_broken_formula_is_noticed() -> None:
    broken = FORMULAS[0]._replace(errors=lambda: FormulaErrors(0.01))
    assert claims.judge_formula(broken).verdict == claims.FAILS
