"""The errata: numbered through, every effect in numbers, and the numbers right."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from tests.helpers.paths import DOCS, REFERENCE, needs_reference
from volatilis.paper.errata import ERRATA, effects
from volatilis.paper.published import read


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def test_they_are_numbered_through_and_their_page_has_them_all() -> None:
    assert [erratum.number for erratum in ERRATA] == list(range(1, len(ERRATA) + 1))
    page = (DOCS / "theory" / "errata.md").read_text()
    assert re.findall(r"^\*\*(\d+)\. ", page, re.MULTILINE) == [str(erratum.number) for erratum in ERRATA]


def test_without_data_an_effect_is_computed_or_left_out() -> None:
    for erratum in ERRATA:
        effect = erratum.effect({})
        assert effect is None or re.search(r"\d|nothing", effect), erratum.number


def test_the_printed_bayes_factor_needs_all_four_repairs() -> None:
    """Against the integrals over theta of likelihood times belief and likelihood times prior."""
    theta = np.linspace(-10.0, 10.0, 200_001)
    likelihood = stats.norm.pdf(2.0, theta, 0.5)
    truth = np.sum(likelihood * stats.norm.pdf(theta)) / np.sum(likelihood * stats.norm.pdf(theta, 1.0, 0.1))
    right, printed, without_factor, all_four = numbers(effects.bayes_factor({}).split("S_BF = ")[1].replace("sigma^2", ""))
    assert right == all_four == pytest.approx(truth, abs=5e-4)
    assert printed < 1e-20
    assert without_factor < 1e-60


def test_the_published_resampling_and_the_sum_over_categories() -> None:
    names = ["Exact Bayes", "pf20", "SOR20", "SOR20 (published)"]
    levels = np.array([1.0, 1.5, 1.0, 1.061])[:, None, None, None] * np.ones((4, 1, 1, 3))
    grid = xr.Dataset({"error": (("learner", "noise", "p_c", "seed"), levels)}, {"learner": names, "noise": [0.1], "p_c": [0.1]})
    assert "0.061 ± 0 as published, 0 ± 0 done right" in (effects.resampling({"gaussian": grid}) or "")
    assert "0.5 as a sum over categories; as a mean it would be 0.1" in (effects.categorical_sum({"categorical": grid}) or "")


def tuned(beyond: str) -> Any:
    row = {"task": "gaussian", "learner": "Leaky", "noise": 5.0, "p_c": 0.1, "beyond": beyond}
    return pd.DataFrame([row])


@pytest.mark.parametrize("beyond", ["above", ""])
def test_a_gain_is_credited_to_the_edge_only_where_the_optimum_lies_beyond(beyond: str) -> None:
    levels = np.array([1.0, 1.2, 1.1])[:, None, None, None] * np.ones((3, 1, 1, 2))
    names = {"learner": ["Exact Bayes", "Leaky", "Leaky (free)"], "noise": [5.0], "p_c": [0.1]}
    grid = xr.Dataset({"error": (("learner", "noise", "p_c", "seed"), levels)}, names)
    text = effects.edges({"gaussian": grid, "tuned": tuned(beyond)}) or ""
    edge, inside = text.split(". Where it lies within")
    assert ("Leaky (gaussian) in 1 environments, by up to 0.1" in edge) is (beyond != "")
    assert ("Leaky (gaussian) in 1 environments, by up to 0.1" in inside) is (beyond == "")


def test_infinite_ratios_are_as_frequent_as_said() -> None:
    random = np.random.default_rng(1)
    before, after = random.normal(size=(2, 400_000))
    density = stats.norm.pdf(after + 0.1 * random.normal(size=400_000), before, 0.1)
    said = numbers(effects.patches({}))[1] / 100.0
    assert np.mean(density == 0.0) == pytest.approx(said, abs=7e-4)


def test_the_first_estimate_of_both_starts() -> None:
    """The pseudocode's update with r = 1 and r = 0 before the first observation; S_BF = 1 there."""
    said = numbers(effects.start({}))
    for r, share in ((1.0, said[2]), (0.0, said[3])):
        assert 0.9 / (0.25 + r + 1.0) + 0.1 / 1.25 == pytest.approx(share, abs=0.005)


def test_the_window_of_prediction_2_leaves_what_is_said() -> None:
    random = np.random.default_rng(2)
    for p, said in ((0.025, 1.099), (0.05, 1.022), (0.2, 1.001)):
        ours = random.uniform(p - 0.0125, p + 0.0125, (2, 1_000_000))
        assert np.mean(ours[0] / ours[1]) == pytest.approx(said, abs=0.003)
        assert f"{said:.3f} at p = {p:g}" in effects.windows({})


@needs_reference
def test_the_published_standard_errors_are_theirs_and_give_their_p_value() -> None:
    """Welch's test on the authors' means and standard deviations over ten seeds is the p-value of the paper; Student's is not."""
    grid, cells = read(REFERENCE).grid, []
    for name, noise, p_c in (("SOR20", 0.1, 0.1), ("pf20", 5.0, 0.0001)):
        row = grid[grid.learner.isin([name, f"{name} (published)"]) & (grid.noise == noise) & (grid.p_c == p_c)].iloc[0]
        assert effects.PUBLISHED_WORST[name] == pytest.approx((row.theirs, row.theirs_se), rel=1e-3)
        cells += [row.theirs, row.theirs_se * np.sqrt(10), 10]
    assert stats.ttest_ind_from_stats(*cells, equal_var=False).pvalue == pytest.approx(2.79e-6, rel=0.005)
    assert stats.ttest_ind_from_stats(*cells, equal_var=True).pvalue < 1e-7
    assert "2.796e-06 (paper: 2.79e-6), Student's 4e-08" in effects.p_values({})
