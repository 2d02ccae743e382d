"""Alarm rules: the same in a trace, in a stream and over keys; and thresholds that keep to their rate."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

import volatilis as vl
from volatilis.changepoints import CalibrationError, KeyedAlarms, Rate, load_alarms
from volatilis.changepoints.thresholds import alarms_at, rule_for, statistics_of
from volatilis.running.state_files import StateFileError

FAMILY = vl.Gaussian(sigma=1.0, sigma_0=5.0)
LEARNER = vl.Merge(FAMILY, p_c=0.01, n=20)
WITHIN = 30


def by_hand(rule: vl.AlarmRule, values: list[float]) -> list[bool]:
    """The rule in plain words: one list of hits, one event at a time."""
    hits: list[bool] = []
    rang, ringing, quiet = [], False, 0
    for value in values:
        if math.isnan(value):
            rang.append(False)
            continue
        hits.append(value > rule.threshold)
        enough = sum(hits[-rule.n :]) >= rule.k
        if not enough and value <= rule.release:
            ringing = False
        rings = enough and not ringing and quiet == 0
        quiet = rule.cool_down if rings else max(quiet - 1, 0)
        ringing = ringing or rings
        rang.append(rings)
    return rang


@pytest.mark.parametrize(
    "options",
    [{}, {"release": 0.2}, {"cool_down": 4}, {"k": 2, "n": 3}, {"k": 3, "n": 5, "cool_down": 7, "release": 0.1}],
    ids=str,
)
def test_a_rule_is_what_it_says(options: dict[str, float]) -> None:
    values = np.random.default_rng(1).random(600)
    values[::17] = np.nan
    rule = vl.AlarmRule(0.6, "adaptation_rate", **options)
    expected = by_hand(rule, values.tolist())
    assert 10 < sum(expected) < 300
    np.testing.assert_array_equal(alarms_at(rule, values), expected)
    numbers = np.arange(600) % 3  # interleaved keys, in two pieces with a saved state between
    keyed, rang = KeyedAlarms(rule), np.zeros(600, dtype=bool)
    rang[:200] = keyed.of(values[:200], numbers[:200], ~np.isnan(values[:200]))
    again = KeyedAlarms(rule)
    again.set_arrays(keyed.arrays(np.arange(3)), 3)
    rang[200:] = again.of(values[200:], numbers[200:], ~np.isnan(values[200:]))
    for key in range(3):
        np.testing.assert_array_equal(rang[numbers == key], by_hand(rule, values[numbers == key].tolist()))


def test_a_change_rings_once_in_a_trace_and_in_a_stream_and_says_when_it_was() -> None:
    rng = np.random.default_rng(4)
    y = np.r_[rng.normal(size=150), rng.normal(3.0, 1.0, size=150)]
    rule = vl.AlarmRule(0.9, within=WITHIN)
    trace = vl.run(LEARNER, y)
    (alarm,) = rule.alarms(trace)
    assert 150 <= alarm.position <= 153
    assert alarm.onset_low <= 150 <= alarm.onset_high
    assert alarm.statistic == trace.recent_change(within=WITHIN)[alarm.position] > 0.9
    stream, bell = vl.Stream(LEARNER, within=WITHIN), rule.start()
    assert [t for t, value in enumerate(y) if bell.update(stream.update(value))] == [alarm.position]
    surprise = vl.AlarmRule(5.0, "log_bayes_factor_surprise").alarms(trace)
    assert all(a.onset == a.position for a in surprise)
    assert vl.AlarmRule(0.9, within=WITHIN).alarms(vl.run(LEARNER, y[:20] + 40.0)) == []  # the start rings nowhere


def test_wrong_rules_are_refused() -> None:
    for wrong in (
        {"threshold": 0.5},
        {"threshold": 0.5, "statistic": "gamma"},
        {"threshold": 0.5, "statistic": "adaptation_rate", "within": 5},
        {"threshold": math.nan, "within": 5},
        {"threshold": 0.5, "within": 5, "release": 0.6},
        {"threshold": 0.5, "within": 5, "k": 3, "n": 2},
        {"threshold": 0.5, "within": 5, "cool_down": -1},
        {"threshold": 0.5, "within": 0},
    ):
        with pytest.raises(ValueError, match=r"AlarmRule|within"):
            vl.AlarmRule(**wrong)
    with pytest.raises(ValueError, match="another rule"):
        KeyedAlarms(vl.AlarmRule(0.5, within=5)).set_arrays({"alarms": np.zeros((2, 9))}, 2)


def test_a_rate_and_its_interval() -> None:
    low, high = Rate(10, 1000).interval  # exact Poisson limits for 10: 4.80 and 18.39
    assert (round(low * 1000, 2), round(high * 1000, 2)) == (4.8, 18.39)
    assert Rate(0, 300).interval == (0.0, pytest.approx(3.689 / 300, rel=1e-3))


def test_data_from_the_model_keep_to_the_rate() -> None:
    found = vl.calibrate(LEARNER, false_alarms=1 / 200, within=WITHIN, seed=2)
    assert found.simulated.value == pytest.approx(1 / 200, rel=0.25)
    rng, rang = np.random.default_rng(8), 0
    for _ in range(40):  # the rate depends on where the level is in the prior
        y = rng.normal(5.0 * rng.normal(), 1.0, 5_000)
        rang += alarms_at(found.rule, statistics_of(found.learner, found.rule, y)).sum()
    assert rang / 200_000 == pytest.approx(1 / 200, rel=0.25)  # 1,000 expected


@pytest.mark.parametrize("kind", ["student", "outliers", "season", "autocorrelated"])
def test_logs_that_are_not_from_the_model_keep_to_the_rate_within_a_factor_of_2(kind: str) -> None:
    def draw(count: int, rng: np.random.Generator) -> np.ndarray:
        if kind == "student":
            return rng.standard_t(4, count)
        noise = rng.normal(size=count)
        if kind == "outliers":
            return noise + 10.0 * rng.normal(size=count) * (rng.random(count) < 0.01)
        if kind == "season":
            return noise + 2.0 * np.sin(np.arange(count) * (2 * np.pi / 288))
        for t in range(1, count):
            noise[t] += 0.9 * noise[t - 1]
        return noise

    rng = np.random.default_rng(3)
    found = vl.calibrate(y=draw(25_000, rng), false_alarms=1 / 400, within=WITHIN)
    fresh = draw(50_000, rng)
    rate = alarms_at(found.rule, statistics_of(found.learner, found.rule, fresh)).sum() / 50_000
    assert 0.5 / 400 < rate < 2 / 400
    assert found.on_log is not None
    assert len(found.blocks) == 10


@pytest.mark.parametrize(("kind", "reason"), [("student", "heavy tails"), ("autocorrelated", "a correlation of")])
def test_why_sigma_is_wider_is_said_by_its_cause(kind: str, reason: str) -> None:
    rng = np.random.default_rng(3)
    y = rng.standard_t(2, 5_000) if kind == "student" else rng.normal(size=5_000)
    for t in range(1, 5_000 if kind == "autocorrelated" else 0):
        y[t] += 0.9 * y[t - 1]
    words = vl.calibrate(LEARNER, y, false_alarms=1 / 400, within=WITHIN).sentence()
    assert "times the learner's: with its own, recent_change is next to 1 too often" in words
    assert [text for text in ("heavy tails", "a correlation of") if text in words] == [reason]


def test_an_interval_that_excludes_the_rate_is_said() -> None:
    rates = {
        count: vl.Calibration(vl.AlarmRule(0.7, within=9), LEARNER, 0.005, Rate(count, 80_000), None, (), "simulation", ())
        for count in (410, 523)
    }
    assert ["excludes 0.005: it is 1.31 times that" in found.sentence() for found in rates.values()] == [False, True]


def test_an_event_rings_once_and_ends_at_the_usual_level() -> None:
    found = vl.calibrate(LEARNER, false_alarms=1 / 200, within=WITHIN, seed=2)
    rng, rule = np.random.default_rng(9), found.rule
    values = np.concatenate([statistics_of(LEARNER, rule, rng.normal(5.0 * rng.normal(), 1.0, 5_000)) for _ in range(20)])
    assert rule.release < rule.threshold
    assert np.mean(values <= rule.release) == pytest.approx(0.9, abs=0.05)
    ends_at_the_threshold = rule.with_threshold(rule.threshold)
    assert alarms_at(rule, values).sum() < 0.9 * alarms_at(ends_at_the_threshold, values).sum()


def test_more_alarms_than_there_can_be_are_refused() -> None:
    values = np.abs(np.random.default_rng(1).normal(size=20_000))
    often = rule_for(vl.AlarmRule(0.5, "adaptation_rate"), [values], 0.2)  # more often than the usual level is crossed
    assert often.release == often.threshold
    assert alarms_at(often, values).mean() == pytest.approx(0.2, rel=0.01)
    with pytest.raises(CalibrationError, match="no threshold gives 9000 alarms: at most about"):
        rule_for(vl.AlarmRule(0.5, "adaptation_rate"), [values], 0.45)


def test_a_log_that_lies_above_the_usual_level_disagrees_with_the_model() -> None:
    """Else an event that never ends would count as one alarm."""
    y = np.random.default_rng(3).normal(size=5_000)
    for t in range(1, y.size):
        y[t] += 0.9 * y[t - 1]
    found = vl.calibrate(LEARNER, y, false_alarms=1 / 400, within=WITHIN)
    assert found.source == "log"
    said = found.sentence()
    assert "The family does not fit the log: " in said
    assert "recent_change above 0.999" in said
    assert re.search(
        r"rests on 1[0-4] alarms of the log: in other data of this kind it gives a rate of 0.001\d* to 0.00\d+ \(95 %", said
    )


def test_what_a_log_is_too_short_for_is_refused() -> None:
    y = np.random.default_rng(1).normal(size=2_000)
    with pytest.raises(CalibrationError, match=r"2,000 observations; a rate of 0.0001 .* with 30,000.*ask for 0.0015"):
        vl.calibrate(LEARNER, y, false_alarms=1e-4)
    with pytest.raises(CalibrationError, match=r"the log has 1 observation; .* can be checked with 300: give a longer log"):
        vl.calibrate(LEARNER, y[:1], false_alarms=0.01)
    with pytest.raises(CalibrationError, match="mostly equal"):
        vl.calibrate(y=np.zeros(500), false_alarms=0.01)
    with pytest.raises(ValueError, match="false_alarms"):
        vl.calibrate(LEARNER, false_alarms=2.0)
    with pytest.raises(ValueError, match="needs a learner"):
        vl.calibrate()


def test_the_file_of_a_rule(tmp_path) -> None:
    found = vl.calibrate(LEARNER, false_alarms=0.01, within=WITHIN)
    found.save(tmp_path / "alarms.json")
    learner, rule, rate, sentence = load_alarms(tmp_path / "alarms.json")
    assert (learner, rule, rate) == (LEARNER, found.rule, 0.01)
    assert sentence == found.sentence()
    data = json.loads((tmp_path / "alarms.json").read_text())
    for change in ({"format": "x"}, {"version": 2}, {"rule": {}}, {"learner": 3}, {"rule": {**data["rule"], "k": -1}}):
        (tmp_path / "other.json").write_text(json.dumps(data | change))
        with pytest.raises(StateFileError):
            load_alarms(tmp_path / "other.json")
    (tmp_path / "other.json").write_text("[")
    with pytest.raises(StateFileError):
        load_alarms(tmp_path / "other.json")
    with pytest.raises(StateFileError, match="is a folder"):
        load_alarms(tmp_path)
