"""Commands and adapters: tables in and out, river's own checks, ruptures' and scikit-learn's habits."""

from __future__ import annotations

import copy
import pathlib
import pickle
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import refused, succeeded, volatilis
from volatilis.adapters import ChangePointDetector
from volatilis.changepoints import load_alarms

FAMILY = ("--family", "gaussian:sigma=1,mu_0=0,sigma_0=5")
LEARNER = vl.ExactBayes(vl.Gaussian(1.0, 0.0, 5.0), 0.01)


def two_levels(first: int, second: int, shift: float = 4.0, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.r_[rng.normal(size=first), rng.normal(shift, 1.0, second)]


def test_changes_of_a_table_by_group(tmp_path: pathlib.Path) -> None:
    parts = {"a": two_levels(40, 30), "b": np.random.default_rng(2).normal(size=50)}
    frame = pd.concat([pd.DataFrame({"subject": name, "outcome": y}) for name, y in parts.items()])
    frame.to_csv(tmp_path / "t.csv", index=False)
    outputs = ("--out", tmp_path / "c.csv", "--segments", tmp_path / "s.csv", "--plot", tmp_path / "p.png")
    told = succeeded(volatilis("changes", tmp_path / "t.csv", *FAMILY, "--learner", "exact:p_c=0.01", *outputs))
    assert "1 change found in 2 groups" in told
    table = pd.read_csv(tmp_path / "c.csv")
    assert table[["subject", "row"]].to_numpy().tolist() == [["a", 41]]  # rows count from 1
    expected = vl.changes(parts["a"], LEARNER).to_pandas()
    assert table["probability_at"][0] == pytest.approx(expected["probability_at"][0], rel=1e-12)
    assert pd.read_csv(tmp_path / "s.csv")["observations"].tolist() == [40, 30, 50]
    assert (tmp_path / "p.png").stat().st_size > 5_000
    assert "Merge does not keep" in refused(volatilis("changes", tmp_path / "t.csv", *FAMILY, "--learner", "merge:n=5,p_c=0.1"))


def test_changes_says_that_the_model_does_not_fit_as_run_does(tmp_path: pathlib.Path) -> None:
    noise = np.random.default_rng(3).normal(size=400)
    for t in range(1, 400):
        noise[t] += 0.9 * noise[t - 1]
    pd.DataFrame({"outcome": noise}).to_csv(tmp_path / "t.csv", index=False)
    words = (tmp_path / "t.csv", *FAMILY, "--learner", "exact:p_c=0.01", "--quiet", "--out", tmp_path / "o.csv")
    said = [volatilis(name, *words).stderr for name in ("changes", "run")]
    assert "warning: gaussian:sigma=1,mu_0=0,sigma_0=5 does not fit the outcomes: neighbouring one-step errors" in said[0]
    assert said[0] == said[1]
    pd.DataFrame({"outcome": two_levels(40, 30)}).to_csv(tmp_path / "t.csv", index=False)
    assert not volatilis("changes", *words).stderr


def test_changes_refuses_trials_that_are_not_in_order(tmp_path: pathlib.Path) -> None:
    pd.DataFrame({"trial": [2, 1, 3], "outcome": [0.0, 1.0, 2.0]}).to_csv(tmp_path / "t.csv", index=False)
    words = ("changes", tmp_path / "t.csv", *FAMILY, "--learner", "exact:p_c=0.01")
    assert "trial 1 of the table comes after trial 2 in row 1" in refused(volatilis(*words))


def test_changes_warns_of_a_prior_that_is_contradicted() -> None:
    with pytest.warns(vl.ModelMismatchWarning, match=r"the prior is contradicted: 70 of 70 observations") as caught:
        vl.changes(two_levels(40, 30) + 100.0, LEARNER)
    assert caught[0].filename == __file__


def test_calibrate_a_log_into_a_file(tmp_path: pathlib.Path) -> None:
    pd.DataFrame({"outcome": np.random.default_rng(3).normal(size=4_000)}).to_csv(tmp_path / "log.csv", index=False)
    words = ("calibrate", tmp_path / "log.csv", *FAMILY, "--learner", "merge:n=5,p_c=0.01", "--within", "20")
    done = volatilis(*words, "--false-alarms", "1/200", "--out", tmp_path / "alarms.json")
    assert done.exit_code == 0
    assert "for 0.005 false alarms per observation" in done.stdout
    learner, rule, rate, _ = load_alarms(tmp_path / "alarms.json")
    assert (type(learner), rule.within, rate) == (vl.Merge, 20, 0.005)
    assert "can be checked with 30,000" in refused(volatilis(*words, "--false-alarms", "1/10000"))
    assert "as 1/10000" in refused(volatilis(*words, "--false-alarms", "seldom"))


def test_a_log_that_starts_anew_is_refused(tmp_path: pathlib.Path) -> None:
    """A threshold counts a jump at a restart as a false alarm, so it would be too high."""
    frame = pd.DataFrame({"outcome": two_levels(600, 600), "block": np.repeat([1, 2], 600)})
    frame["start"] = frame["block"].diff() != 0
    frame.to_csv(tmp_path / "log.csv", index=False)
    words = ("calibrate", tmp_path / "log.csv", *FAMILY, "--learner", "merge:n=5,p_c=0.01", "--false-alarms", "1/50", "--by", "")
    for more in ((), ("--block", "none", "--reset", "start")):
        assert "start anew at 1 row of the table, the first is row 601" in refused(volatilis(*words, *more))
    assert "--missing elapse" in refused(volatilis(*words, "--missing", "skip"))


def test_river_s_own_checks() -> None:
    river = pytest.importorskip("river.drift", reason="river is not installed: pip install 'volatilis[adapters]'")
    from river.checks import check_estimator, yield_checks

    from volatilis.adapters import DriftDetector

    for detector in (DriftDetector(vl.Merge(vl.Gaussian(1.0, 0.0, 5.0), 0.01, 5), vl.AlarmRule(0.9, within=20)), DriftDetector()):
        check_estimator(detector)  # all of them; of river's own detectors there are no tags to check
        ours, theirs = ({check.__name__ for check in yield_checks(one)} for one in (detector, river.ADWIN()))
        assert ours == theirs
        assert {"check_tags", "check_pickling_supports_roundtrip", "check_repr_roundtrips_clone"} <= ours
    rang = []
    for t, x in enumerate(two_levels(300, 200, 3.0)):
        detector.update(x)
        if detector.drift_detected:
            rang.append(t)
        if t == 200:
            detector = pickle.loads(pickle.dumps(copy.deepcopy(detector)))
    assert len(rang) == 1
    assert 300 <= rang[0] <= 304
    assert detector.clone().learner is None
    other = detector.clone(include_attributes=True)
    other.update(30.0)
    assert (other.drift_detected, detector.drift_detected) == (True, False)
    with pytest.raises(ValueError, match="belongs to its parameters"):
        detector.clone({"learner": LEARNER}, include_attributes=True)


def drifts(detector: Any, values: np.ndarray) -> list[int]:
    found = []
    for t, x in enumerate(values.tolist()):
        detector.update(x)
        if detector.drift_detected:
            found.append(t)
    return found


@pytest.mark.parametrize("noise", [1e-3, 1.0, 40.0])
def test_a_detector_without_a_learner_learns_the_level_and_the_noise(noise: float) -> None:
    pytest.importorskip("river.drift", reason="river is not installed: pip install 'volatilis[adapters]'")
    from volatilis.adapters import DriftDetector

    false = rang = 0
    for seed in range(20):
        found = drifts(DriftDetector(), 7000.0 * noise + noise * two_levels(1_000, 100, 3.0, seed))
        at_once = sum(1_000 <= t <= 1_008 for t in found)
        rang, false = rang + (at_once == 1), false + len(found) - at_once
    assert rang == 20
    assert false <= 9  # in 22,000 values; at one in 5,000 more than 9 have a probability of 1.6 %


def test_a_detector_of_binary_values_and_of_what_only_seemed_so() -> None:
    pytest.importorskip("river.drift", reason="river is not installed: pip install 'volatilis[adapters]'")
    from volatilis.adapters import DriftDetector

    rng = np.random.default_rng(4)
    errors = np.r_[rng.random(2_000) < 0.05, rng.random(200) < 0.4].astype(float)
    found = drifts(DriftDetector(), errors)
    assert len(found) == 1
    assert 2_000 <= found[0] <= 2_030
    assert drifts(DriftDetector(), np.r_[np.zeros(150), np.full(50, 3.7)]) == [150]  # not binary after all
    assert drifts(DriftDetector(), np.r_[np.full(150, 5.0), np.full(50, 7.0)]) == [150]  # all the same until then
    assert drifts(DriftDetector(), np.full(1_000, 5.0)) == []
    with_gaps = two_levels(500, 100, 4.0)
    with_gaps[::7] = np.nan
    found = drifts(DriftDetector(), with_gaps)
    assert len(found) == 1
    assert 500 <= found[0] <= 504


def test_a_detector_says_that_its_values_do_not_fit() -> None:
    pytest.importorskip("river.drift", reason="river is not installed: pip install 'volatilis[adapters]'")
    from volatilis.adapters import DriftDetector

    noise = np.random.default_rng(1).normal(size=300)
    with pytest.warns(vl.ModelMismatchWarning, match="With sigma=18.5.*the rate of false alarms does not hold: give a learner"):
        drifts(DriftDetector(LEARNER, vl.AlarmRule(0.9, within=20)), 20.0 * noise)
    with pytest.warns(vl.ModelMismatchWarning, match="in units of their noise.*the rate of false alarms does not hold"):
        drifts(DriftDetector(), np.cumsum(noise))
    detector = DriftDetector()
    for wrong in ("3", None, [1.0]):
        with pytest.raises(TypeError, match="it must be a number"):
            detector.update(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="it must be finite"):
        detector.update(np.inf)
    with pytest.raises(ValueError, match="warm_up = 3 is not accepted"):
        DriftDetector(warm_up=3)


def test_a_copy_of_a_detector_goes_on_alike_from_any_moment() -> None:
    pytest.importorskip("river.drift", reason="river is not installed: pip install 'volatilis[adapters]'")
    from volatilis.adapters import DriftDetector

    values = 50.0 + 9.0 * np.r_[two_levels(150, 100, 4.0), two_levels(50, 100, -4.0)]
    expected = drifts(DriftDetector(), values)
    assert len(expected) >= 3
    for cut in (0, 30, 99, 100, 101, expected[0], expected[0] + 1, 255, 300):
        detector = DriftDetector()
        before = drifts(detector, values[:cut])
        for copied in (copy.deepcopy(detector), pickle.loads(pickle.dumps(detector))):
            assert [*before, *(cut + t for t in drifts(copied, values[cut:]))] == expected


def test_ruptures_and_scikit_learn_s_habits() -> None:
    signal = two_levels(60, 40)
    detector = ChangePointDetector(LEARNER)
    assert detector.fit(signal).predict() == [60, 100]
    assert detector.fit_predict(signal[:, None]) == [60, 100]
    with pytest.raises(ValueError, match="p_c takes the place of a penalty"):
        detector.predict(pen=3)
    ruptures = pytest.importorskip("ruptures", reason="ruptures is not installed: pip install 'volatilis[adapters]'")
    assert ruptures.Pelt(model="l2").fit_predict(signal, pen=10.0) == detector.predict()
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed: pip install 'volatilis[adapters]'")
    assert base.clone(detector).fit_predict(signal) == [60, 100]


def test_a_detector_takes_a_frame_of_one_column_and_shows_its_learner() -> None:
    detector = ChangePointDetector(vl.ExactBayes(vl.Gaussian(0.5, 0.0, 3.0), 0.05))
    assert detector.fit_predict(pd.DataFrame({"x": [0.1, -0.2, 0.3, 5.0, 5.2, 4.9]})) == [3, 6]
    assert repr(detector).startswith("ChangePointDetector(ExactBayes(")


def test_frames_go_in_by_their_columns() -> None:
    frame = pd.DataFrame(
        {"x": two_levels(20, 10), "z": two_levels(15, 15, seed=2)}, index=pd.date_range("2026-01-01", periods=30)
    )
    learner = vl.Merge(vl.Gaussian(1.0, 0.0, 5.0), 0.01, 5)
    traces = vl.run_many(learner, frame)
    assert len(traces) == 2
    for k, name in enumerate(frame):
        np.testing.assert_array_equal(traces[k].mean, vl.run(learner, frame[name].to_numpy()).mean)
        assert traces[k].to_pandas().index.equals(frame.index)
    polars = pytest.importorskip("polars", reason="polars is not installed: pip install 'volatilis[adapters]'")
    again = vl.run_many(learner, polars.DataFrame({name: frame[name].to_numpy() for name in frame}))
    np.testing.assert_array_equal(again[1].mean, traces[1].mean)
    np.testing.assert_array_equal(vl.changes(polars.Series(frame["x"].to_numpy()), LEARNER).points, [20])


def test_the_last_step_of_a_scikit_learn_pipeline() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    pipeline = pytest.importorskip("sklearn.pipeline")
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 5.0], 50)[:, None] + 0.5 * rng.normal(size=(100, 1))
    whole = pipeline.make_pipeline(
        preprocessing.StandardScaler(), ChangePointDetector(vl.ExactBayes(vl.Gaussian(0.3, 0.0, 2.0), 0.01))
    )
    assert whole.fit(x).predict(x) == whole.fit_predict(x) == [50, 100]


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import volatilis.adapters

    for name in [name for name in sys.modules if name.startswith("river") or name == "volatilis.adapters.drift"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ModuleNotFoundError, match=r"DriftDetector needs river.*: pip install 'volatilis\[adapters\]'"):
        _ = volatilis.adapters.DriftDetector


@pytest.mark.filterwarnings("ignore::volatilis.ModelMismatchWarning")  # of the jump
@pytest.mark.parametrize("seed", [7, 8])
def test_a_jump_is_no_noise_even_if_the_next_value_is_missing(seed: int) -> None:
    """As noise it would ring again at once, and hide later drifts: 200 among 1,600 values makes it 5 to 10 times as large."""
    pytest.importorskip("river.drift", reason="river is not installed: pip install 'volatilis[adapters]'")
    from volatilis.adapters import DriftDetector

    values = np.r_[two_levels(400, 700, 200.0, seed), two_levels(500, 200, 4.0, seed + 10) + 200.0]
    whole = drifts(DriftDetector(), values)
    assert whole[0] == 400
    assert 1_600 <= whole[-1] <= 1_606
    assert len(whole) <= 3  # the two, and at one in 5,000 hardly more than one other
    gap = drifts(DriftDetector(), np.insert(values, 401, np.nan))
    assert [t - (t > 400) for t in gap] == whole
