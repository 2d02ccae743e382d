"""Change points of a whole sequence, against brute force over all histories of changes."""

from __future__ import annotations

import collections
import math

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.settings import P_C, SETTINGS, every_family, observations
from tests.oracles.segmentations import LookedBack, all_histories
from volatilis.changepoints import passes
from volatilis.families._kinds import UndefinedError

GAUSSIAN = SETTINGS["gaussian"]
EXACT = vl.ExactBayes(GAUSSIAN.family, P_C, cutoff=0.0)
GAPPY = [None, 0.4, 0.1, None, None, 2.5, 2.2, None, 2.4, None]


def check(found: vl.Changes, truth: LookedBack) -> None:
    np.testing.assert_allclose(found.probability, truth.probability, rtol=0, atol=1e-10)
    best = max(truth.histories, key=truth.histories.__getitem__)
    assert tuple(found.points.tolist()) == best
    assert found.log_probability == pytest.approx(math.log(truth.histories[best]), abs=1e-9)
    number = found.number()
    np.testing.assert_allclose(np.pad(number, (0, len(truth.number)))[: len(truth.number)], truth.number, atol=1e-10)
    assert number @ np.arange(number.size) == pytest.approx(found.expected_number, abs=1e-10)


@every_family
@pytest.mark.parametrize("length", [1, 2, 10])
def test_it_is_the_sum_over_all_histories(name: str, length: int) -> None:
    setting, ys = SETTINGS[name], observations(name, length)
    check(vl.changes(ys, vl.ExactBayes(setting.family, P_C, cutoff=0.0)), all_histories(setting.oracle, P_C, ys))


def test_where_observations_are_missing_a_change_has_an_interval() -> None:
    found = vl.changes([math.nan if y is None else y for y in GAPPY], EXACT, missing="elapse")
    check(found, all_histories(GAUSSIAN.oracle, P_C, GAPPY))
    (change,) = found.found
    assert (change.position, change.earliest, change.low, change.high) == (5, 3, 3, 5)
    assert np.ptp(found.probability[3:6]) < 1e-15  # the three steps of the gap cannot be told apart


def test_skipped_observations_take_no_time() -> None:
    ys = [0.4, 0.1, math.nan, 2.5, 2.2, 2.4]
    found, truth = vl.changes(ys, EXACT, missing="skip"), vl.changes([y for y in ys if y == y], EXACT)
    np.testing.assert_array_equal(found.probability, np.insert(truth.probability, 2, 0.0))
    np.testing.assert_array_equal(found.points, [3])
    assert found.found[0].earliest == 2


def test_blocks_are_independent_and_a_reset_is_no_change() -> None:
    ys = observations("gaussian", 16)
    found = vl.changes(ys, EXACT, reset=[7])
    first, second = (all_histories(GAUSSIAN.oracle, P_C, part) for part in (ys[:7], ys[7:]))
    np.testing.assert_allclose(found.probability, [*first.probability, *second.probability], atol=1e-10)
    number = np.convolve(first.number, second.number)
    np.testing.assert_allclose(found.number(), number[: found.number().size], atol=1e-10)
    assert found.probability[7] == 0.0
    assert 7 not in found.points
    assert 7 in found.segments()["start"].tolist()


@pytest.mark.parametrize("ys", [observations("gaussian", 8), GAPPY], ids=["whole", "gaps"])
def test_draws_have_the_law_of_histories(ys: list[float | None]) -> None:
    truth = all_histories(GAUSSIAN.oracle, P_C, ys).histories
    found = vl.changes([math.nan if y is None else y for y in ys], EXACT, missing="elapse")
    n = 20_000
    counts = collections.Counter(tuple(points.tolist()) for points in found.draw(n, seed=3))
    assert set(counts) <= set(truth)
    for history, p in truth.items():  # 5 standard errors, of at most 128 histories
        assert abs(counts[history] / n - p) < 5 * math.sqrt(p * (1 - p) / n) + 2 / n
    again = found.draw(5, seed=3)
    assert all((a == b).all() for a, b in zip(again, found.draw(5, seed=3), strict=True))


def test_credible_sets_and_probabilities_are_those_given_the_neighbours() -> None:
    ys = [0.1, 0.4, -0.2, 1.1, 2.1, 1.9, 2.2, 4.0, 3.9, 4.2]
    truth, found = all_histories(GAUSSIAN.oracle, P_C, ys).histories, vl.changes(ys, EXACT)
    points = found.points.tolist()
    assert len(points) >= 1
    edges = [0, *points, len(ys)]
    for j, change in enumerate(found.found, start=1):
        others = [p for p in points if p != points[j - 1]]
        law = {s: truth[tuple(sorted([*others, s]))] for s in range(edges[j - 1] + 1, edges[j + 1])}
        none = truth[tuple(others)]
        assert change.probability == pytest.approx(sum(law.values()) / (sum(law.values()) + none), abs=1e-9)
        ranked = sorted(law, key=lambda s: -law[s])
        shares = np.cumsum([law[s] for s in ranked]) / sum(law.values())
        assert change.times.tolist() == ranked[: int(np.searchsorted(shares, 0.95)) + 1]
        assert (change.low, change.high) == (change.times.min(), change.times.max())


def test_levels_are_those_of_the_segments_alone() -> None:
    ys = np.array(observations("unknown-variance", 40, p_c=0.05))
    setting = SETTINGS["unknown-variance"]
    table = vl.changes(ys, vl.ExactBayes(setting.family, 0.05)).segments()
    for row in table.itertuples():
        mean, variance = setting.oracle.mixture_moments([1.0], [setting.oracle.posterior(list(ys[row.start : row.stop]))])
        np.testing.assert_allclose([row.mu, row.v], mean, rtol=1e-9)
        np.testing.assert_allclose([row.mu_sd, row.v_sd], np.sqrt(variance), rtol=1e-9)


def test_pieces_and_python_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    y, _, _ = vl.ChangingEnvironment(GAUSSIAN.family, 0.05).sample(300, seed=2)
    y[40:44] = np.nan
    learner = vl.ExactBayes(GAUSSIAN.family, 0.05)
    monkeypatch.setattr(passes, "is_reversible", lambda learner: False)  # so that weights are needed
    whole = vl.changes(y, learner, missing="elapse", reset=[200])
    monkeypatch.setattr(passes, "PIECE", 50)
    monkeypatch.setattr(passes, "CHECKPOINTS", 20_000)  # so that checkpoints are thinned out
    for maker in (lambda: vl.changes(y, learner, missing="elapse", reset=[200]),):
        pieces = maker()
        np.testing.assert_allclose(pieces.probability, whole.probability, rtol=1e-12, atol=1e-300)
        np.testing.assert_array_equal(pieces.points, whole.points)
        assert all((a == b).all() for a, b in zip(pieces.draw(20, seed=1), whole.draw(20, seed=1), strict=True))
        pd.testing.assert_frame_equal(pieces.to_pandas(), whole.to_pandas())
    monkeypatch.undo()
    with vl.plain_python():
        plain = vl.changes(y[:60], learner, missing="elapse")
    np.testing.assert_array_equal(plain.probability, vl.changes(y[:60], learner, missing="elapse").probability)


def test_learners_that_keep_fewer_times_come_close_and_others_are_refused() -> None:
    family = vl.Gaussian(sigma=1.0, sigma_0=5.0)
    y, _, _ = vl.ChangingEnvironment(family, 0.02).sample(300, seed=5)
    exact = vl.changes(y, vl.ExactBayes(family, 0.02, cutoff=0.0))
    assert np.abs(vl.changes(y, vl.ExactBayes(family, 0.02)).probability - exact.probability).max() < 1e-9
    for learner in (vl.MessagePassing(family, 0.02, 60), vl.StratifiedResampling(family, 0.02, 60)):
        found = vl.changes(y, learner)
        assert np.abs(found.probability - exact.probability).max() < 0.1
        np.testing.assert_array_equal(found.points, exact.points)
    for learner in (vl.Merge(family, 0.02, 20), vl.VarSMiLe(family, 0.1), vl.ParticleFilter(family, 0.02, 20)):
        with pytest.raises(UndefinedError, match=f"{type(learner).__name__} does not keep the times of changes"):
            vl.changes(y, learner)


def test_tables_keep_the_index_and_nothing_is_something() -> None:
    index = pd.date_range("2026-01-01", periods=40, freq="D")
    y = pd.Series(np.r_[np.zeros(20), np.full(20, 3.0)], index=index)
    found = vl.changes(y, EXACT)
    assert found.to_pandas()["time"].tolist() == [index[20]]
    assert found.segments()["first"].tolist() == [index[0], index[20]]
    data = found.to_xarray()
    assert data["t"].values[20] == np.datetime64(index[20])
    assert data["is_change"].values.sum() == data.sizes["change"] == 1
    for nothing in ([], [0.3], [math.nan, math.nan]):
        empty = vl.changes(nothing, EXACT, missing="elapse")
        assert empty.points.size == 0
        assert len(empty.to_pandas()) == 0
        assert empty.number().sum() == pytest.approx(1.0)
        assert empty.draw(2) is not None
    assert vl.changes([math.nan, math.nan], EXACT, missing="elapse").expected_number == pytest.approx(P_C)


def test_the_nile_has_one_change_whose_first_low_year_is_1899() -> None:
    statsmodels = pytest.importorskip("statsmodels.datasets", reason="the series comes with statsmodels")
    nile = statsmodels.nile.load_pandas().data
    y = pd.Series(nile["volume"].to_numpy(), index=nile["year"].astype(int))
    found = vl.changes(y, vl.ExactBayes(vl.Gaussian(sigma=130.0, mu_0=900.0, sigma_0=200.0), p_c=0.01))
    assert found.points.tolist() == [28]
    row = found.to_pandas().iloc[0]
    assert row["time"] == 1899
    assert 1895 <= row["low"] <= 1899 <= row["high"] <= 1902
    assert row["probability"] > 0.99
    before, after = found.segments()["mu"]
    assert before == pytest.approx(y[:28].mean(), abs=3.0)
    assert after == pytest.approx(y[28:].mean(), abs=3.0)


def test_wrong_arguments_are_named() -> None:
    found = vl.changes([0.1, 0.2], EXACT)
    for wrong in (0.0, 1.0, 2, "0.9"):
        with pytest.raises(ValueError, match="level = "):
            found.credible(wrong)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="n = "):
            found.draw(wrong)
    with pytest.raises(ValueError, match="observation 1 is missing"):
        vl.changes([0.1, math.nan], EXACT)
    with pytest.raises(TypeError, match="is not a learner"):
        vl.changes([0.1], GAUSSIAN.family)


def test_both_ways_of_looking_back_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """From both ends, as by default, and over the filter's weights; with gaps, and a prior that is off."""
    family = vl.Gaussian(1.0, 0.0, 3.0)
    y, _, _ = vl.ChangingEnvironment(family, 0.05).sample(300, seed=11)
    y[40:44] = y[100] = y[-1] = y[0] = np.nan
    learner = vl.ExactBayes(family, 0.03)
    both = vl.changes(y, learner, missing="elapse")
    monkeypatch.setattr(passes, "is_reversible", lambda learner: False)
    weights = vl.changes(y, learner, missing="elapse")
    np.testing.assert_allclose(both.probability, weights.probability, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(both.points, weights.points)
    assert len(both.points) > 5
    for one, other in zip(both.found, weights.found, strict=True):
        assert (one.low, one.high, one.earliest) == (other.low, other.high, other.earliest)
        np.testing.assert_allclose(one.probability, other.probability, rtol=1e-10)
    pd.testing.assert_frame_equal(both.segments(), weights.segments(), rtol=1e-10)


def test_ends_that_do_not_agree_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cutoff that drops what matters: the weights decide, whose probabilities are consistent whatever was dropped."""
    from volatilis.changepoints import evidence

    y, _, _ = vl.ChangingEnvironment(vl.Gaussian(1.0, 0.0, 3.0), 0.05).sample(300, seed=12)
    learner = vl.ExactBayes(vl.Gaussian(1.0, 0.0, 3.0), 0.05, cutoff=0.01)
    expected = vl.changes(y, learner).probability
    monkeypatch.setattr(evidence, "SMALL", 1.0)
    np.testing.assert_array_equal(vl.changes(y, learner).probability, expected)


def test_a_chain_begins_with_observations_that_are_not_scored() -> None:
    """The most probable segmentation of an autoregression is the most frequent draw, as often as its probability says."""
    rng = np.random.default_rng(3)
    y = np.r_[rng.normal(0.0, 0.3, 8), rng.normal(6.0, 0.3, 6)]
    y[5] = np.nan
    found = vl.changes(y, vl.ExactBayes(vl.AutoRegression(1), 0.05), missing="elapse")
    draws = collections.Counter(tuple(points) for points in found.draw(4000, seed=1))
    (likely, count), *_ = draws.most_common(1)
    assert likely == tuple(found.points)
    p = math.exp(found.log_probability)
    assert abs(count / 4000 - p) < 4.0 * math.sqrt(p * (1.0 - p) / 4000)
    law = found.number()
    np.testing.assert_allclose(law @ np.arange(law.size), found.expected_number, rtol=1e-9)
