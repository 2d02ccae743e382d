"""The probability of a recent change, against brute force over all histories; the start of a sequence is no change."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

import volatilis as vl
from tests.helpers.settings import P_C, SETTINGS, every_family, observations
from tests.oracles.enumeration import enumerate_histories
from volatilis.families._kinds import UndefinedError

GAUSSIAN = SETTINGS["gaussian"]
P_O = 0.05
ROBUST = vl.Contaminated(GAUSSIAN.family, P_O)


def recent_by_hand(setting, ys, within: int) -> list[float]:
    """P(R_t <= w and the last change is not the start | y_1:t), from all histories."""
    result = []
    for t, posterior in enumerate(enumerate_histories(setting.oracle, P_C, ys), start=1):
        result.append(math.fsum(posterior.run_lengths[: min(within, t - 1)]))
    return result


@every_family
@pytest.mark.parametrize("within", [1, 3, 20])
def test_it_is_the_sum_over_all_histories_with_a_recent_change(name: str, within: int) -> None:
    setting, ys = SETTINGS[name], observations(name, 9)
    expected = recent_by_hand(setting, ys, within)
    trace = vl.run(vl.ExactBayes(setting.family, P_C, cutoff=0.0), ys)
    np.testing.assert_allclose(trace.recent_change(within=within), expected, rtol=1e-9, atol=1e-12)
    assert trace.recent_change(within=within)[0] == 0.0


@pytest.mark.parametrize("name", ["gaussian", "categorical", "poisson"])
def test_merge_with_room_for_all_is_exact_and_with_fewer_it_is_close(name: str) -> None:
    family = SETTINGS[name].family
    y, _, _ = vl.ChangingEnvironment(family, 0.02).sample(400, seed=4)
    exact = vl.run(vl.ExactBayes(family, 0.02, cutoff=0.0), y)
    for within in (5, 50):
        truth = exact.recent_change(within=within)
        assert truth.max() > 0.7
        assert truth.min() < 0.2
        all_kept = vl.run(vl.Merge(family, 0.02, n=401), y).recent_change(within=within)
        np.testing.assert_allclose(all_kept, truth, atol=1e-12)
        few = vl.run(vl.Merge(family, 0.02, n=20), y).recent_change(within=within)
        assert np.abs(few - truth).max() < 0.02  # 0.0141 at most, with categories
        assert np.abs(few - truth).mean() < 0.002


def brute_force_with_gaps(ys: list[float | None], within: int) -> list[float]:
    """After each step: over all histories of changes at all steps, the share with a change among the newest observations.

    A change at step s > 0 counts where at most `within` observations came since, its own step included, and if an observation
    came before it: time without any observation before is a start too.
    """
    oracle, result = GAUSSIAN.oracle, []
    for t in range(1, len(ys) + 1):
        weights: dict[bool, float] = {True: 0.0, False: 0.0}
        for changes in itertools.product([0, 1], repeat=t - 1):
            starts = [0, *(s + 1 for s, changed in enumerate(changes) if changed)]
            log_weight = sum(math.log(P_C) if c else math.log1p(-P_C) for c in changes)
            for start, stop in itertools.pairwise([*starts, t]):
                seen = [y for y in ys[start:stop] if y is not None]
                log_weight += sum(oracle.log_predictive(seen[:k], seen[k]) for k in range(len(seen)))
            last = starts[-1]
            since, before = sum(y is not None for y in ys[last:t]), sum(y is not None for y in ys[:last])
            weights[before > 0 and since <= within] += math.exp(log_weight)
        result.append(weights[True] / sum(weights.values()))
    return result


@pytest.mark.parametrize("within", [1, 2, 4])
def test_time_without_observations(within: int) -> None:
    ys = [None, 0.4, 0.1, None, None, 2.5, 2.2, None, 2.4, None]
    values, expected = [math.nan if y is None else y for y in ys], brute_force_with_gaps(ys, within)
    for learner in (vl.ExactBayes(GAUSSIAN.family, P_C, cutoff=0.0), vl.Merge(GAUSSIAN.family, P_C, n=11)):
        found = vl.run(learner, values, missing="elapse").recent_change(within=within)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


def test_merged_hypotheses_keep_their_shares_through_gaps() -> None:
    """With one hypothesis all is merged at once: what a change brought is its gamma, and later changes thin it out."""
    y = np.array([0.1, 0.3, np.nan, np.nan, 2.0, -1.0, 0.5])
    trace = vl.run(vl.Merge(GAUSSIAN.family, P_C, n=1), y, missing="elapse")
    gamma = np.where(np.isnan(y), P_C, trace.adaptation_rate)
    gamma[0] = 0.0
    np.testing.assert_allclose(trace.recent_change(within=50), 1.0 - np.cumprod(1.0 - gamma), rtol=1e-12)


def test_a_reset_is_no_change_and_stream_and_run_agree_to_the_bit() -> None:
    y = observations("gaussian", 60, p_c=0.05)
    for learner in (
        vl.ExactBayes(GAUSSIAN.family, 0.05),
        vl.Merge(GAUSSIAN.family, 0.05, 5),
        vl.Merge(ROBUST, 0.05, 5),
        vl.ParticleFilter(GAUSSIAN.family, 0.05, 30),
        vl.MessagePassing(GAUSSIAN.family, 0.05, 5),
        vl.StratifiedResampling(GAUSSIAN.family, 0.05, 5),
    ):
        recent = vl.run(learner, y, reset=[30]).recent_change(within=10)
        assert recent[0] == recent[30] == 0.0
        assert recent[:30].max() > 0.0
        stream = vl.Stream(learner, within=10)
        steps = []
        for t, value in enumerate(y):
            if t == 30:
                stream.reset()
            if t == 45:
                stream = vl.Stream.from_bytes(stream.to_bytes())
            steps.append(stream.update(value))
        np.testing.assert_array_equal([step.recent_change(within=10) for step in steps], recent)
        assert stream.recent_change() == recent[-1]
        assert stream.recent_change(within=3) <= recent[-1]
        assert steps[-1]._fields[6] == "recent_change"
        assert json.loads(steps[-1].to_json())["recent_change"] == recent[-1]
    with vl.plain_python():
        plain = vl.run(vl.Merge(GAUSSIAN.family, 0.05, 5), y, reset=[30]).recent_change(within=10)
    np.testing.assert_array_equal(plain, vl.run(vl.Merge(GAUSSIAN.family, 0.05, 5), y, reset=[30]).recent_change(within=10))


def test_the_onset_of_a_clear_change() -> None:
    y = np.r_[np.zeros(40), np.full(20, 5.0), np.nan, np.nan, np.full(8, -5.0)]
    for learner in (vl.ExactBayes(GAUSSIAN.family, 0.02), vl.Merge(GAUSSIAN.family, 0.02, 10)):
        places = vl.run(learner, y, missing="elapse").recent_onset(within=15)
        assert np.isnan(places[:40]).all()
        np.testing.assert_array_equal(places[45], [40, 40, 40])
        np.testing.assert_array_equal(places[-1], [62, 62, 62])  # the first observation after the gap
        stream = vl.Stream(learner, within=15, missing="elapse")
        for value in y:
            stream.update(value)
        assert stream.recent_onset() == (8.0, 8.0, 8.0)


def test_what_is_not_defined_is_said() -> None:
    y = [0.1, 0.2]
    with pytest.raises(UndefinedError, match="VarSMiLe does not weigh times of changes"):
        vl.run(vl.VarSMiLe(GAUSSIAN.family, 0.1), y).recent_change(within=5)
    with pytest.raises(UndefinedError, match="Leaky"):
        vl.Stream(vl.Leaky(GAUSSIAN.family, 0.9), within=5)
    trace = vl.run(vl.Merge(GAUSSIAN.family, 0.1, 3), y)
    for wrong in (0, -1, 2.5, True, "5", None):
        with pytest.raises(ValueError, match=r"within = .* is not accepted"):
            trace.recent_change(within=wrong)
    with pytest.raises(AttributeError, match=r"Stream\(learner, within=50\)"):
        vl.Stream(vl.Merge(GAUSSIAN.family, 0.1, 3)).update(0.1).recent_change()
    with pytest.raises(ValueError, match="was made with within=5"):
        vl.Stream(vl.Merge(GAUSSIAN.family, 0.1, 3), within=5).update(0.1).recent_change(within=6)


def test_a_forged_state_is_refused() -> None:
    from volatilis.running import state_files

    stream = vl.Stream(vl.Merge(GAUSSIAN.family, 0.1, 3), within=4)
    for value in (0.1, 0.2, 3.0, 2.0):
        stream.update(value)
    body = state_files.from_bytes(stream.to_bytes(), "it")
    firsts = 7  # of hypotheses, after n, w, how many were noted, the oldest that counts, where it is, how many are known, room
    sums = firsts + 16 + 8  # of shares, after room for hypotheses and padding
    head = ((0, -1.0), (1, 3.0), (2, 0.5), (2, 1e9), (3, 99.0), (4, 3.0), (5, 2.0), (6, 32.0))
    for place, value in (*head, (firsts, 99.0), (firsts + 1, 0.5), (firsts + 1, 4.0), (sums, -0.1), (sums + 16, -0.1)):
        changed = json.loads(json.dumps(body))
        changed["state"]["fields"]["recent"]["fields"]["numbers"]["values"][place] = value
        with pytest.raises(vl.StateFileError, match="recent_change"):
            vl.Stream.from_bytes(state_files.to_bytes(changed))
    del body["state"]["fields"]["recent"]
    with pytest.raises(vl.StateFileError):
        vl.Stream.from_bytes(state_files.to_bytes(body))


def test_a_forged_state_with_rows_is_refused() -> None:
    from volatilis.running import state_files

    stream = vl.Stream(vl.Merge(ROBUST, 0.1, 3), within=4)
    for value in (0.1, 0.2, 3.0, 2.0):
        stream.update(value)
    body = state_files.from_bytes(stream.to_bytes(), "it")
    rows, sums = 7, 7 + 16 + 8  # after the head; after room for hypotheses and padding
    for place, value in ((3, 99.0), (4, 0.0), (5, 2.0), (6, 32.0), (rows, 99.0), (rows, 1.0), (sums, -0.1), (sums + 24, -1.0)):
        changed = json.loads(json.dumps(body))
        assert changed["state"]["fields"]["recent"]["fields"]["numbers"]["values"][place] != value
        changed["state"]["fields"]["recent"]["fields"]["numbers"]["values"][place] = value
        with pytest.raises(vl.StateFileError, match="recent_change"):
            vl.Stream.from_bytes(state_files.to_bytes(changed))


@pytest.mark.parametrize("family", [GAUSSIAN.family, ROBUST])
def test_changes_later_than_now_or_too_many_at_one_place_are_refused(family: Any) -> None:
    """Otherwise they would never be old, and the room for them would run out."""
    from volatilis.running import state_files

    stream = vl.Stream(vl.Merge(family, 0.1, 3), within=10)
    for y in vl.ChangingEnvironment(family, 0.1).sample(25, seed=1).y:
        stream.update(y)
    honest = stream.to_bytes()
    assert vl.Stream.from_bytes(honest).to_bytes() == honest
    for seen in (0.0, 3.0):
        forged = state_files.from_bytes(honest, "it")
        forged["state"]["fields"]["recent"]["fields"]["numbers"]["values"][0] = seen
        with pytest.raises(vl.StateFileError, match="recent_change"):
            vl.Stream.from_bytes(state_files.to_bytes(forged))
    one_place = state_files.from_bytes(honest, "it")
    numbers = one_place["state"]["fields"]["recent"]["fields"]["numbers"]["values"]
    assert numbers[2] - numbers[3] > 3.0  # changes that count
    room, capacity = int(numbers[6]), len(one_place["state"]["fields"]["weights"]["values"])
    stamps = 7 + 2 * (capacity + 8) + (0 if family is ROBUST else room)
    numbers[stamps : stamps + room] = [numbers[0]] * room
    with pytest.raises(vl.StateFileError, match="recent_change"):
        vl.Stream.from_bytes(state_files.to_bytes(one_place))


@pytest.mark.parametrize("n", [1, 3, 20])
def test_sums_of_shares_that_are_kept_are_those_of_the_shares(n: int) -> None:
    """A longer window counts the same changes one by one: over thousands of steps, gaps and resets among them."""
    y, _, _ = vl.ChangingEnvironment(GAUSSIAN.family, 0.02).sample(3_000, seed=6)
    y[500:540] = np.nan
    y[::97] = np.nan
    trace = vl.run(vl.Merge(GAUSSIAN.family, 0.02, n), y, missing="elapse", reset=[1_700])
    weights, found = trace.weights(), trace.recent_change(within=30)
    since = np.concatenate([np.cumsum(~np.isnan(part)) for part in (y[:1_700], y[1_700:])])
    for t in range(0, 3_000, 7):
        lengths, (_, shares) = weights.run_lengths(t), weights.at(t)
        assert found[t] == pytest.approx(shares[(lengths <= 30) & (lengths < since[t])].sum(), abs=1e-12)


def test_gaps_everywhere_do_not_shorten_the_window() -> None:
    """Two changes for each observation: one in the gap before it, merged at once, and one after the gap."""
    y, _, _ = vl.ChangingEnvironment(GAUSSIAN.family, 0.02).sample(300, seed=4)
    gaps = np.repeat(y, 2)
    gaps[1::2] = np.nan
    exact = vl.run(vl.ExactBayes(GAUSSIAN.family, 0.02, cutoff=0.0), gaps, missing="elapse").recent_change(within=100)
    few = vl.run(vl.Merge(GAUSSIAN.family, 0.02, 20), gaps, missing="elapse").recent_change(within=100)
    assert exact[200:].min() > 0.1
    np.testing.assert_allclose(few, exact, atol=0.005)


# --- where observations may be outliers: a change is in several hypotheses


def recent_with_outliers(ys: list[float], within: int) -> float:
    """After the last observation: over all histories of changes and outliers, the share with a change among the newest."""
    weights = {True: 0.0, False: 0.0}
    for changes in itertools.product([0, 1], repeat=len(ys) - 1):
        starts = [0, *(s + 1 for s, changed in enumerate(changes) if changed)]
        log_weight = sum(math.log(P_C) if c else math.log1p(-P_C) for c in changes)
        for start, stop in itertools.pairwise([*starts, len(ys)]):
            log_weight += math.log(evidence_with_outliers(ys[start:stop]))
        weights[starts[-1] > 0 and len(ys) - starts[-1] <= within] += math.exp(log_weight)
    return weights[True] / sum(weights.values())


def evidence_with_outliers(segment: list[float]) -> float:
    """Of observations without a change: over all histories of outliers, which have a Cauchy law as wide as the prior predicts."""
    result, width = 0.0, math.hypot(GAUSSIAN.family.sigma, GAUSSIAN.family.sigma_0)
    for strange in itertools.product([0, 1], repeat=len(segment)):
        taken, log_p = [], 0.0
        for y, out in zip(segment, strange, strict=True):
            if out:
                log_p += math.log(P_O / (math.pi * width)) - math.log1p(((y - GAUSSIAN.family.mu_0) / width) ** 2)
            else:
                log_p += math.log1p(-P_O) + GAUSSIAN.oracle.log_predictive(taken, y)
                taken.append(y)
        result += math.exp(log_p)
    return result


def outliers_and_a_change(seed: int) -> list[float]:
    ys = np.random.default_rng(seed).normal(0.0, GAUSSIAN.family.sigma, 7)
    ys[3] += 4.0 * (seed % 2)
    ys[4:] += 3.0 * (seed > 2)
    return ys.tolist()


def test_merge_with_outliers_agrees_with_all_histories() -> None:
    """To the accuracy of the approximation: 0.0004 with 20 hypotheses, 0.0027 with 10."""
    for seed, within in itertools.product(range(6), (1, 3, 10)):
        ys = outliers_and_a_change(seed)
        exact = recent_with_outliers(ys, within)
        for n, tolerance in ((20, 0.0005), (10, 0.003)):
            trace = vl.run(vl.Merge(ROBUST, P_C, n), ys)
            assert trace.recent_change(within=within)[-1] == pytest.approx(exact, abs=tolerance)


def test_with_nothing_merged_and_nothing_left_out_it_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    from volatilis.learners import _exact_step

    monkeypatch.setattr(_exact_step, "UNSEEN", 0.0)
    monkeypatch.setattr(_exact_step, "NEAR", 0.0)
    ys = outliers_and_a_change(5)[2:]
    with vl.plain_python():
        trace = vl.run(vl.Merge(ROBUST, P_C, 200), ys)
        for within in (1, 2, 9):
            expected = [recent_with_outliers(ys[:t], within) for t in range(1, len(ys) + 1)]
            np.testing.assert_allclose(trace.recent_change(within=within), expected, rtol=1e-10, atol=1e-14)


def test_rows_that_are_kept_are_the_weights_of_times() -> None:
    y, _, _ = vl.ChangingEnvironment(ROBUST, 0.02).sample(600, seed=6)
    y[100:110] = np.nan
    y[::41] = np.nan
    trace = vl.run(vl.Merge(ROBUST, 0.02, 20), y, missing="elapse", reset=[350])
    weights, found = trace.weights(), trace.recent_change(within=30)
    since = np.concatenate([np.cumsum(~np.isnan(part)) for part in (y[:350], y[350:])])
    for t in range(0, 600, 7):
        lengths, (_, shares) = weights.run_lengths(t), weights.at(t)
        assert shares.sum() == pytest.approx(1.0, abs=1e-12)
        assert found[t] == pytest.approx(shares[(lengths <= 30) & (lengths < since[t])].sum(), abs=1e-12)
    with vl.plain_python():
        plain = vl.run(vl.Merge(ROBUST, 0.02, 20), y[:150], missing="elapse").recent_change(within=30)
    np.testing.assert_array_equal(plain, found[:150])
