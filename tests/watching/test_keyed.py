"""One state per key, side by side: the same bits as a Stream for each key, whatever the keys and blocks are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import volatilis as vl
from tests.helpers.settings import SETTINGS, every_learner, name_of, observations
from volatilis.learners._base import put
from volatilis.learners._hypotheses import Hypotheses
from volatilis.running.drivers import ELAPSE, OBSERVE, SKIP
from volatilis.watching.keyed import ROWS, Keyed

from .command import by_streams

GAUSSIAN = vl.Gaussian(0.7, mu_0=0.2, sigma_0=2.0)
KEYS = ["a", "b", "c"]


KINDS = (vl.ExactBayes, vl.MessagePassing, vl.ParticleFilter, vl.StratifiedResampling, vl.Merge, vl.VarSMiLe, vl.Leaky)
LEARNERS = [learner for learner in every_learner(GAUSSIAN) if isinstance(learner, KINDS)]
CASES = [(learner, "gaussian") for learner in [*LEARNERS, vl.SMiLe(GAUSSIAN, 0.1), vl.Nas12Star(GAUSSIAN, 0.05)]]
CASES += [
    (learner, "categorical") for learner in every_learner(SETTINGS["categorical"].family) if isinstance(learner, KINDS[::2])
]
CASES += [(cls(SETTINGS[n].family, 0.1, 3), n) for n in ("poisson", "multivariate") for cls in (vl.Merge, vl.ParticleFilter)]
CASES += [(vl.VarSMiLe(SETTINGS[name].family, 0.1), name) for name in ("bernoulli", "exponential", "unknown-covariance")]


def advanced(keyed: Keyed, values: Any, keys: list[str], events: Any, block: int) -> dict[str, np.ndarray]:
    """What comes out, block by block."""
    encoded, _ = keyed.learner.family.observations(values)
    parts: dict[str, list[np.ndarray]] = {}
    for start in range(0, len(keys), block):
        part = slice(start, start + block)
        numbers, _ = keyed.numbers_of(keys[part], len(keys[part]))
        for name, array in keyed.advance(numbers, encoded[part], events[part])._asdict().items():
            parts.setdefault(name, []).append(array.copy())
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def same(learner: Any, out: dict[str, np.ndarray], steps: list[Any]) -> None:
    size = learner.family.size()
    means = out["means"].reshape(len(steps), size)
    np.testing.assert_array_equal(means, np.array([np.atleast_1d(step.mean) for step in steps]))
    np.testing.assert_array_equal(out["run_length"], [step.run_length for step in steps])
    if "gamma" in learner.readouts():
        np.testing.assert_array_equal(out["variances"].reshape(means.shape), [np.atleast_1d(s.variance) for s in steps])
        np.testing.assert_array_equal(out["gamma"], [step.adaptation_rate for step in steps])
        np.testing.assert_array_equal(out["log_p_0"] - out["log_p"], [step.log_bayes_factor_surprise for step in steps])


@pytest.mark.parametrize(("learner", "setting"), CASES, ids=name_of)
@pytest.mark.parametrize("block", [1, 37])
def test_interleaved_keys_are_streams(learner: Any, setting: str, block: int) -> None:
    values = observations(setting, 120)
    keys = np.random.default_rng(3).choice(KEYS, len(values)).tolist()
    events = np.full(len(values), OBSERVE)
    same(learner, advanced(Keyed(learner, 0), values, keys, events, block), by_streams(learner, values, keys))


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
@pytest.mark.parametrize(("missing", "event"), [("elapse", ELAPSE), ("skip", SKIP)])
def test_missing_observations(learner: Any, missing: str, event: int) -> None:
    rng = np.random.default_rng(4)
    values = np.where(rng.random(150) < 0.2, np.nan, rng.normal(size=150))
    keys = rng.choice(KEYS, len(values)).tolist()
    if isinstance(learner, vl.Leaky):  # before its first observation it has no estimate, and NaN is not compared
        values[:10] = 1.0
    out = advanced(Keyed(learner, 0), values, keys, np.where(np.isnan(values), event, OBSERVE), 40)
    same(learner, out, by_streams(learner, values.tolist(), keys, missing))


def test_states_that_grow() -> None:
    """Exact Bayes without changes keeps nearly all hypotheses: keys move to larger rooms, at different times."""
    learner, rng = vl.ExactBayes(GAUSSIAN, 1e-4), np.random.default_rng(5)
    keys = rng.choice(["often", "seldom", "now and then"], 1500, p=[0.7, 0.05, 0.25]).tolist()
    values = rng.normal(0.3, 0.7, len(keys))
    keyed = Keyed(learner, 0)
    out = advanced(keyed, values, keys, np.full(len(keys), OBSERVE), 400)
    same(learner, out, by_streams(learner, values.tolist(), keys))
    rooms = {key: keyed.pools[keyed.place_of[number, 0]].states.weights.shape[1] for key, number in keyed.keys.numbers.items()}
    assert rooms["seldom"] == 128
    assert rooms["often"] >= 1024
    # rows that were left are used again
    before = keyed.pools[0].used
    keyed.numbers_of(["new"], 1)
    assert keyed.pools[0].used == before


def test_without_keys_it_is_one_stream_with_the_plain_seed() -> None:
    learner, values = vl.ParticleFilter(GAUSSIAN, 0.05, 6), observations("gaussian", 100)
    keyed = Keyed(learner, 0)
    encoded, _ = GAUSSIAN.observations(values)
    out = keyed.advance(keyed.numbers_of([], 100)[0], encoded, np.full(100, OBSERVE))
    same(learner, out._asdict(), by_streams(learner, values, [None] * 100))


def test_many_keys_enlarge_the_room() -> None:
    learner, rng = vl.Merge(GAUSSIAN, 0.05, 4), np.random.default_rng(6)
    keys = [f"k{i}" for i in rng.integers(0, 700, ROWS)]
    values = rng.normal(size=ROWS)
    out = advanced(Keyed(learner, 0), values, keys, np.full(ROWS, OBSERVE), ROWS)
    same(learner, out, by_streams(learner, values.tolist(), keys))


def test_a_key_has_random_numbers_of_its_own_whatever_else_there_is() -> None:
    learner, values = vl.ParticleFilter(GAUSSIAN, 0.05, 6), observations("gaussian", 60)
    alone = advanced(Keyed(learner, 0), values, ["b"] * 60, np.full(60, OBSERVE), 60)
    mixed = advanced(Keyed(learner, 0), np.repeat(values, 2), ["a", "b"] * 60, np.full(120, OBSERVE), 50)
    np.testing.assert_array_equal(alone["means"], mixed["means"][1::2])
    assert not np.array_equal(mixed["means"][0::2], mixed["means"][1::2])


@pytest.mark.parametrize("learner", [vl.VarSMiLe(GAUSSIAN, 0.1), vl.Merge(GAUSSIAN, 0.1, 3)], ids=name_of)
def test_what_is_kept_of_a_state_is_enough(learner: Any) -> None:
    state = learner.init(3)
    for y in (0.3, -1.0, 2.0, 2.2):
        learner.update(state, y)
    states = learner.init(0).many(2)
    put(states, 1, state)
    for y in (2.1, 0.0, 0.1):
        assert learner.update(state, y) == learner.update(states.at(1), y)
    for name, array in state.kept_arrays().items():
        np.testing.assert_array_equal(array, states.kept_arrays()[name][1])
    assert not any(array[0].any() for array in states.kept_arrays().values())
    assert isinstance(state, Hypotheses) == isinstance(states.at(1), Hypotheses)


def test_plain_python_gives_the_same_bits() -> None:
    learner, values = vl.Merge(GAUSSIAN, 0.05, 3), observations("gaussian", 30)
    native = advanced(Keyed(learner, 0), values, KEYS * 10, np.full(30, OBSERVE), 30)
    with vl.plain_python():
        plain = advanced(Keyed(learner, 0), values, KEYS * 10, np.full(30, OBSERVE), 30)
    for name, array in native.items():
        np.testing.assert_array_equal(array, plain[name])
