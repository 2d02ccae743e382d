"""Every learner with every family of the explorer, in a browser, gives the numbers that Python gives."""

from __future__ import annotations

import json

import numpy as np
import pytest

import volatilis as vl
from tests.html.explorer.page import Explorer
from volatilis._core.seeds import generator_key
from volatilis.html.explorer import offers
from volatilis.running.arguments import step_events

TOLERANCE = 1e-12  # of numbers of order 1, and relative for larger ones
RUN = """
(() => {
  const cases = %s;
  return cases.map((one) => {
    explorer.memory().clear();
    const spec = { learner: one.learner, values: one.values };
    const events = Uint8Array.from(one.events), key = BigInt(one.key);
    const result = explorer.runOnce(explorer.memory(), spec, one.family, one.familyValues, one.ys, events, key, true);
    const columns = Object.entries({ ...result.columns, ...result.raw });
    const texts = (numbers) => Array.from(numbers, (x) => Number.isNaN(x) ? "nan" : String(x));
    return Object.fromEntries(columns.map(([name, numbers]) => [name, texts(numbers)]));
  });
})()
"""


def cases() -> list[tuple[str, str, dict[str, float], dict[str, float], int]]:
    """Both worlds of each family, the one that layouts are read off and another, with other numbers of hypotheses."""
    found = []
    for pair in offers.pairs():
        offer = offers.offers()[pair.learner]
        first = {name: slider.value for name, slider in offers.WORLDS[pair.family].items()}
        fixed = offers.FIXED.get(pair.family, {})
        for world, n in ((first, 3), (offers.OTHER_WORLDS[pair.family], 11)):
            values = {one.name: offers.middle(one, n) for one in offer.shown()}
            found.append((pair.learner, pair.family, values, {**fixed, **world}, n))
    return found


@pytest.mark.timeout(1200)  # where nothing is in the cache: all pairs are compiled for browsers
def test_every_learner_with_every_family(explorer: Explorer) -> None:
    asked, expected = [], []
    for number, (learner_name, family_name, values, world, _) in enumerate(cases()):
        family = offers.example_family(family_name, world)
        learner = offers.offers()[learner_name].make(family, values)
        y = np.array(vl.ChangingEnvironment(family, 0.1).sample(60, seed=number).y, dtype=float)
        y[[7, 30]] = np.nan
        encoded, absent = family.observations(y)
        with vl.plain_python():  # the same bits as compiled code, without compiling every pair for this machine too
            trace = vl.run(learner, y, seed=number, missing="elapse", reset=[40])
            for name in trace.readouts:  # what is computed when it is asked for
                getattr(trace, name)
        events = step_events(absent, np.array([0, 40]), "elapse").tolist()
        shared = {"learner": learner_name, "family": family_name, "values": values, "familyValues": world}
        asked.append({**shared, "ys": np.nan_to_num(encoded).tolist(), "events": events, "key": str(generator_key(number))})
        expected.append(trace)
    worst: dict[str, float] = {}
    for case, trace, answer in zip(asked, expected, explorer.run(RUN % json.dumps(asked)), strict=True):
        for name in trace.readouts:
            here, there = np.array(answer[name], dtype=float), np.asarray(getattr(trace, name)).ravel()
            np.testing.assert_array_equal(np.isnan(here), np.isnan(there), err_msg=f"{case['learner']} {case['family']} {name}")
            same = np.isnan(here) | (here == there)
            with np.errstate(invalid="ignore"):
                apart = np.where(same, 0.0, np.abs(here - there) / np.maximum(1.0, np.abs(there)))
            worst[f"{case['learner']} x {case['family']}: {name}"] = max(
                float(apart.max()), worst.get(f"{case['learner']} x {case['family']}: {name}", 0.0)
            )
    assert len(worst) >= 400
    assert {pair: apart for pair, apart in worst.items() if not apart <= TOLERANCE} == {}


def test_seeds_are_those_of_volatilis_run(explorer: Explorer) -> None:
    from volatilis._core.seeds import named_seed

    for seed, name in ((0, []), (7, ["a"]), (4294967295, ["sub-01", "é\n"]), (3, ["x" * 100, "", "\U0001f600"])):
        key = explorer.run(f"String(explorer.generatorKey(explorer.seedWords({seed}, {json.dumps(name)})))")
        assert int(key) == generator_key(named_seed(seed, name))


def test_the_page_offers_all_learners_and_says_which_families() -> None:
    offered = {(pair.learner, pair.family) for pair in offers.pairs()}
    assert {"exact-bayes", "particle-filter", "merge", "varsmile", "smile", "leaky", "nas10", "nas12-star", "averaged-merge"} <= {
        one for one, _ in offered
    }
    assert {family for _, family in offered} == set(offers.WORLDS) == set(offers.OTHER_WORLDS)


@pytest.mark.parametrize("family", offers.WORLDS)
def test_worlds_have_the_moments_of_their_family(explorer: Explorer, family: str) -> None:
    """4,000 observations, each after a change, have the mean and spread of as many drawn in Python: within 5 standard errors."""
    values = offers.OTHER_WORLDS[family]
    world = {"family": family, "values": values, "p_c": 1.0, "length": 4000, "seed": 11}
    drawn = np.array(explorer.run(f"explorer.sampleWorld(explorer.completeWorld({json.dumps(world)})).y"), dtype=float)
    example = offers.example_family(family, values)
    rng = np.random.default_rng(1)
    python = np.zeros(0)
    for _ in range(4000):
        drawn_now = example.sample_segment(example.sample_parameter(rng), 1, rng, None, python)
        python = np.append(python, drawn_now.astype(float))
    turn = 2.0 * np.pi / values.get("period", 1.0)
    measures = (
        [np.cos, np.sin]
        if family == "vonmises"
        else [lambda x: np.minimum(np.abs(x), np.quantile(np.abs(python), 0.98)), lambda x: x > np.median(python)]
    )
    for measure in measures:
        scale = turn if family == "vonmises" else 1.0
        a, b = (np.asarray(measure(x * scale), dtype=float) for x in (drawn, python))
        error = np.sqrt((a.var() + b.var()) / 4000.0)
        assert abs(a.mean() - b.mean()) <= 5.0 * error + 1e-12


def test_symbols_follow_those_before_them(explorer: Explorer) -> None:
    """2,000 symbols without a change: each comes after 0 and after 1 as often as the truth says, within 5 standard errors."""
    world = {"family": "transitions", "values": {"s": 1.0}, "p_c": 0.01, "changes": [], "length": 2000, "seed": 5}
    drawn = explorer.run(f"explorer.sampleWorld(explorer.completeWorld({json.dumps(world)}))")
    y, theta = np.array(drawn["y"]), np.array(drawn["theta"][0])
    assert theta.reshape(2, 2).sum(axis=1) == pytest.approx([1.0, 1.0])
    for before in (0, 1):
        after = y[1:][y[:-1] == before]
        p = theta[2 * before + 1]
        assert len(after) > 50
        assert abs(after.mean() - p) <= 5.0 * np.sqrt(p * (1.0 - p) / len(after))
