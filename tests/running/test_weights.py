"""The filter's weights of the times of the last change, against brute force over all histories of changes."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.settings import P_C, SETTINGS, every_family, observations
from tests.oracles.segmentations import all_histories
from volatilis.families._kinds import UndefinedError
from volatilis.running import weights as weighing

GAUSSIAN = SETTINGS["gaussian"]
EXACT = vl.ExactBayes(GAUSSIAN.family, P_C, cutoff=0.0)
GAPPY = [None, 0.4, 0.1, None, None, 2.5, 2.2, None, 2.4, None, None]


def law_of_last(oracle: Any, ys: list[Any]) -> dict[int, float]:
    """P(the first observation after the last change is at o), from all histories; len(ys) where nothing was observed since."""
    observed = [t for t, y in enumerate(ys) if y is not None]
    if not observed:
        return {len(ys): 1.0}
    trailing = len(ys) - 1 - observed[-1]
    stay = (1.0 - P_C) ** trailing  # nothing changed since the last observation
    law = {len(ys): 1.0 - stay} if trailing else {}
    for firsts, p in all_histories(oracle, P_C, ys[: observed[-1] + 1]).histories.items():
        last = max(firsts, default=observed[0])
        law[last] = law.get(last, 0.0) + stay * p
    return law


def check(weights: vl.running.Weights, t: int, law: dict[int, float]) -> None:
    starts, found = weights.at(t)
    assert starts.tolist() == sorted(law)
    np.testing.assert_allclose(found, [law[o] for o in sorted(law)], rtol=0, atol=1e-10)


@every_family
def test_they_are_the_sum_over_all_histories(name: str) -> None:
    setting, ys = SETTINGS[name], observations(name, 8)
    with vl.plain_python():  # compiled or not, it is the same below; the loop that keeps weights is the same for all families
        weights = vl.run(vl.ExactBayes(setting.family, P_C, cutoff=0.0), ys).weights()
    assert len(weights) == 8
    for t in range(8):
        check(weights, t, law_of_last(setting.oracle, ys[: t + 1]))


@pytest.mark.parametrize("learner", [EXACT, vl.MessagePassing(GAUSSIAN.family, P_C, 20), vl.Merge(GAUSSIAN.family, P_C, 20)])
def test_gaps_resets_and_learners_with_room_for_all(learner: Any) -> None:
    second = observations("gaussian", 5)
    ys = [math.nan if y is None else y for y in [*GAPPY, *second]]
    weights = vl.run(learner, ys, missing="elapse", reset=[len(GAPPY)]).weights()
    for t in range(len(GAPPY)):
        check(weights, t, law_of_last(GAUSSIAN.oracle, GAPPY[: t + 1]))
    for t in range(len(second)):
        law = law_of_last(GAUSSIAN.oracle, second[: t + 1])
        check(weights, len(GAPPY) + t, {o + len(GAPPY): p for o, p in law.items()})
    assert weights.run_lengths(-1).tolist() == [5, 4, 3, 2, 1]


LEARNERS = (
    vl.ExactBayes(GAUSSIAN.family, 0.05),
    vl.Merge(GAUSSIAN.family, 0.05, 4),
    vl.MessagePassing(GAUSSIAN.family, 0.05, 4),
    vl.StratifiedResampling(GAUSSIAN.family, 0.05, 4),
    vl.ParticleFilter(GAUSSIAN.family, 0.05, 10),
    vl.MessagePassing(vl.Contaminated(GAUSSIAN.family, 0.02), 0.05, 6),
)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_sums_of_them_are_recent_change(learner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    y, _, _ = vl.ChangingEnvironment(GAUSSIAN.family, 0.05).sample(150, seed=2)
    y[40:44] = np.nan
    trace = vl.run(learner, y, seed=3, missing="elapse", reset=[100])
    whole = trace.weights()
    seen = np.r_[np.cumsum(~np.isnan(y[:100])), np.cumsum(~np.isnan(y[100:]))]
    for t in range(150):
        starts, weights = whole.at(t)
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert (np.diff(starts) > 0).all()
        lengths = whole.run_lengths(t)
        recent = weights[(lengths <= 7) & (lengths < seen[t])].sum()
        assert trace.recent_change(7)[t] == pytest.approx(recent, abs=1e-12)
    monkeypatch.setattr(weighing, "PIECE", 8)  # many pieces
    again = pickle.loads(pickle.dumps(vl.run(learner, y, seed=3, missing="elapse", reset=[100]))).weights()
    np.testing.assert_array_equal(again.to_array(), whole.to_array())
    few = trace.weights(least=0.01)
    dense = whole.to_array()
    np.testing.assert_array_equal(few.to_array(dense.shape[1] - 1), np.where(dense >= 0.01, dense, 0.0))


def test_dense_arrays_take_long_runs_together_and_keep_the_index() -> None:
    index = pd.date_range("2026-01-01", periods=6)
    trace = vl.run(EXACT, pd.Series(observations("gaussian", 6), index=index))
    dense, capped = trace.weights().to_array(), trace.weights().to_xarray(longest=3)
    assert dense.shape == (6, 7)
    np.testing.assert_allclose(capped.values[:, :3], dense[:, :3], rtol=1e-15)
    np.testing.assert_allclose(capped.values[:, 3], dense[:, 3:].sum(axis=1), rtol=1e-14)
    assert capped.dims == ("t", "run_length")
    assert capped["t"].values[2] == np.datetime64(index[2])
    with vl.plain_python():
        np.testing.assert_array_equal(vl.run(EXACT, observations("gaussian", 6)).weights().to_array(), dense)
    assert vl.run(EXACT, []).weights().to_array().shape == (0, 1)
    assert vl.run_many(EXACT, [observations("gaussian", 6)])[0].weights().at(5)[0].tolist() == [0, 1, 2, 3, 4, 5]


def test_what_is_not_defined_or_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ys = observations("gaussian", 30)
    for learner in (vl.VarSMiLe(GAUSSIAN.family, 0.1), vl.Averaged(vl.Merge(GAUSSIAN.family, P_C, 5), p_c=[0.1, 0.2])):
        with pytest.raises(UndefinedError, match=f"{type(learner).__name__} has no weights of times of the last change"):
            vl.run(learner, ys).weights()
    trace = vl.run(EXACT, ys)
    for least in (-0.1, 1.0, math.nan, "0.1", True):
        with pytest.raises(ValueError, match=r"least = .* is not accepted"):
            trace.weights(least)  # type: ignore[arg-type]
    for longest in (-1, 2.5, True):
        with pytest.raises(ValueError, match=r"longest = .* is not accepted"):
            trace.weights().to_array(longest)  # type: ignore[arg-type]
    with pytest.raises(IndexError, match="30 steps, so no step 30"):
        trace.weights().at(30)
    monkeypatch.setattr(weighing, "MOST_DENSE", 300)
    with pytest.raises(ValueError, match=r"930 numbers.*longest=9 would do"):
        trace.weights().to_array()
    assert trace.weights().to_array(longest=9).shape == (30, 10)
    monkeypatch.setattr(weighing, "PIECE", 1)
    monkeypatch.setattr(weighing, "MOST_KEPT", 200)
    with pytest.raises(ValueError, match=r"of 30 steps there are \d+ weights.*least=1e-6"):
        vl.run(EXACT, ys).weights()
    monkeypatch.setattr(weighing, "MOST_MERGED", 20)
    with pytest.raises(ValueError, match=r"Merge merges hypotheses.*30 are too many"):
        vl.run(vl.Merge(GAUSSIAN.family, P_C, 5), ys).weights()
