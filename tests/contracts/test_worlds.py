"""What families and learners made of others promise: contexts, pasts and outliers in every learner that takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import volatilis as vl
from tests.oracles.worlds import ALPHA, BETA, CENTRE, KAPPA, WORLDS, log_evidence
from volatilis.learners import _exact_step

P_C, P_O = 0.15, 0.1
FAMILIES: dict[str, Any] = {
    "given": vl.Given(vl.Bernoulli(1.5, 0.5), 3),
    "transitions": vl.transitions(2, 1.2),
    "regression": vl.LinearRegression(2, KAPPA, ALPHA, BETA, CENTRE),
    "autoregression": vl.AutoRegression(1, KAPPA, ALPHA, BETA, CENTRE),
}
OUTLIERS = {f"contaminated {name}": vl.Contaminated(family, P_O) for name, family in FAMILIES.items()}
ALL = {**FAMILIES, **OUTLIERS}


def world(name: str) -> Any:
    return WORLDS[name.removeprefix("contaminated ")]


def learners(name: str) -> list[Any]:
    """Every learner that takes the family; what refuses it says why (tests of each)."""
    family = ALL[name]
    made = [
        vl.MessagePassing(family, P_C, 3),
        vl.ParticleFilter(family, P_C, 3),
        vl.StratifiedResampling(family, P_C, 3),
        vl.Merge(family, P_C, 3),
        vl.VarSMiLe(family, 0.2),
        vl.Averaged(vl.Merge(family, P_C, 2), p_c=[0.1, 0.3]),
    ]
    if name in FAMILIES:
        made += [vl.ExactBayes(family, P_C), vl.Leaky(family, 0.9)]
    if name == "given":
        made += [vl.PerContext(vl.Merge(family.family, P_C, 3), 3), vl.PerContext(vl.VarSMiLe(family.family, 0.2), 3, "wait")]
        made += [vl.PerContext(vl.Averaged(vl.Merge(family.family, P_C, 2), p_c=[0.1, 0.3]), 3)]
    if name == "contaminated given":
        made += [vl.PerContext(vl.Merge(vl.Contaminated(family.family.family, P_O), P_C, 3), 3)]
    return made


def kind(value: Any) -> str:
    return "-".join(type(one).__name__ for one in (value, getattr(value, "learner", None)) if one is not None)


PAIRS = [(name, learner) for name in ALL for learner in learners(name)]
every_pair = pytest.mark.parametrize(("name", "learner"), PAIRS, ids=[f"{name}-{kind(learner)}" for name, learner in PAIRS])


# Against all histories


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(
    "make", [lambda f: vl.ExactBayes(f, P_C, cutoff=0.0), lambda f: vl.Merge(f, P_C, 20)], ids=["exact", "merge"]
)
def test_evidence_is_that_of_all_histories(name: str, make: Any) -> None:
    y, given, skipped, *_ = world(name)
    scored = vl.run(make(FAMILIES[name]), y, given=given).log_predictive[skipped:]
    expected = [log_evidence(world(name), count, P_C) for count in range(1, len(scored) + 1)]
    assert_allclose(np.cumsum(scored), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", OUTLIERS)
def test_with_room_for_all_outliers_it_is_exact(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As plain Python, with nothing left out and nothing merged: all histories of changes and outliers of four observations."""
    monkeypatch.setattr(_exact_step, "UNSEEN", 0.0)
    monkeypatch.setattr(_exact_step, "NEAR", 0.0)
    y, given, skipped, *_ = world(name)
    with vl.plain_python():
        trace = vl.run(
            vl.MessagePassing(OUTLIERS[name], P_C, n=200), y[: 4 + skipped], given=None if given is None else given[:4]
        )
    expected = [log_evidence(world(name), count, P_C, P_O) for count in range(1, 5)]
    assert_allclose(np.cumsum(trace.log_predictive[skipped:]), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", OUTLIERS)
def test_merge_is_within_a_thousandth_of_the_evidence(name: str) -> None:
    """Seven observations, all 2^13 histories, with 20 hypotheses: 0.0006 off at most, in a regression."""
    y, given, skipped, *_ = world(name)
    end = 7 + skipped
    trace = vl.run(vl.Merge(OUTLIERS[name], P_C, 20), y[:end], given=None if given is None else given[:end])
    assert abs(trace.log_predictive[skipped:].sum() - log_evidence(world(name), 7, P_C, P_O)) < 0.001


# One learner, many ways to run it


def sequence(name: str) -> tuple[list[Any], Any]:
    """With a missing observation."""
    y, given, *_ = world(name)
    values = [None if t == 5 else value for t, value in enumerate(y.tolist())]
    return values, given


def at(given: Any, t: int) -> Any:
    return None if given is None else given[t]


@every_pair
def test_stepped_saved_and_many_are_the_batch(name: str, learner: Any) -> None:
    """As plain Python: the same bits, with a missing observation, a reset, and a file after every step."""
    (y, given), start = sequence(name), 4
    with vl.plain_python():
        trace = vl.run(learner, y, given=given, missing="elapse", reset=[start], seed=3)
        stream, steps = vl.Stream(learner, missing="elapse", seed=3), []
        for t, value in enumerate(y):
            stream = vl.Stream.from_bytes(stream.to_bytes())
            if t == start:
                stream.reset()
            steps.append(stream.update(value) if given is None else stream.update(value, given=at(given, t)))
        both = None if given is None else [given[:3], given]
        many = vl.run_many(learner, [y[:3], y], given=both, missing="elapse", seed=3)
        alone = vl.run(learner, y, given=given, missing="elapse", seed=np.random.SeedSequence(3).spawn(2)[1])
    for readout in trace.readouts:
        assert_array_equal([getattr(step, readout) for step in steps], getattr(trace, readout), err_msg=readout)
        assert_array_equal(getattr(many[1], readout), getattr(alone, readout), err_msg=readout)
    fresh = (
        vl.run(learner, y[start:], given=None if given is None else given[start:], missing="elapse") if name == "given" else None
    )
    if fresh is not None and not learner.samples():
        assert_array_equal(trace.mean[start:], fresh.mean)


COMPILED = [pair for pair in PAIRS if kind(pair[1]) == ("VarSMiLe" if pair[0] in FAMILIES else "Merge")]


@pytest.mark.parametrize(("name", "learner"), COMPILED, ids=[f"{name}-{kind(learner)}" for name, learner in COMPILED])
def test_compiled_is_plain_python(name: str, learner: Any) -> None:
    (y, given) = sequence(name)
    fast = vl.run(learner, y, given=given, missing="elapse", reset=[4])
    with vl.plain_python():
        slow = vl.run(learner, y, given=given, missing="elapse", reset=[4])
    for readout in fast.readouts:
        assert_array_equal(getattr(fast, readout), getattr(slow, readout), err_msg=readout)


def test_predictives_of_bits_sum_to_one() -> None:
    for name in ("given", "transitions", "contaminated given", "contaminated transitions"):
        y, given, _skipped, *_ = world(name)
        with vl.plain_python():
            ends = [
                vl.run(vl.Merge(ALL[name], P_C, 3), [*y[:5], last], given=None if given is None else given[:6]).log_predictive[-1]
                for last in (0, 1)
            ]
        assert_allclose(np.exp(ends).sum(), 1.0, rtol=1e-12)


def test_predictives_of_numbers_integrate_to_one() -> None:
    """By the distribution function: its slope is the predictive, and its ends are 0 and 1."""
    for name in ("regression", "contaminated regression"):
        family = ALL[name]
        beliefs = vl.families.prior_beliefs(family, 1)
        for y, regressors in zip(*world(name)[:2], strict=True):
            family.absorb(beliefs, 0, np.array([y, *regressors]))

        def cdf(y: float, family: Any = family, beliefs: Any = beliefs) -> float:
            return family.predictive_cdf(beliefs, 0, np.array([y, 1.0, 0.7]), 0, 0.5, 0.0)

        assert cdf(-1e9) < 1e-8 < 1 - 1e-8 < cdf(1e9)
        for y in (-2.0, 0.1, 3.0):
            slope = (cdf(y + 1e-5) - cdf(y - 1e-5)) / 2e-5
            assert_allclose(np.log(slope), family.log_predictive(beliefs, 0, np.array([y, 1.0, 0.7])), atol=1e-6)
