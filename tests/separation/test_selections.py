"""The two selections against a loop over trials written from the paper's text, and against the paper's simulation."""

from __future__ import annotations

import math
import pathlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import volatilis
from volatilis.cli.options import Windows, older_window
from volatilis.paper.figures import predictions
from volatilis.predictions import FirstWindow, SecondWindow
from volatilis.predictions.windows import ERRORS, PROBABILITIES, SIGNS
from volatilis.separation import SeparateRequest, separate
from volatilis.separation.selections import Selected

from .tasks import DEFAULT_WINDOWS, BothWindows, request_for, separated, simulated

SCALED = "gaussian:sigma=5,mu_0=150,sigma_0=10"
LEARNERS = ["nas12*:p_c=0.1", "merge:n=5,p_c=0.1"]
DELTAS = (0.0, *ERRORS)
AFTER = FirstWindow(side="after"), SecondWindow()  # as the paper's text has it


def density(y: float, mean: float, spread: float) -> float:
    return math.exp(-0.5 * ((y - mean) / spread) ** 2) / (spread * math.sqrt(2.0 * math.pi))


def brute_force(
    frame: pd.DataFrame, result: pd.DataFrame, label: str, family: vl.Gaussian, windows: BothWindows, new: str | None = None
) -> dict[tuple[int, int, float], list[int]]:
    """The rows of every selection: for a prior N(0, 1), after dividing everything by sigma_0 and measuring from mu_0.

    Prediction 1: { 1 < t: ||theta_{t-1}| - theta| < dtheta, ||delta_t| - delta| < ddelta, |sigma_t - sigma_C| < dsigma, s_t = s }
    or with sigma_{t-1}, as the window says,
    with delta_t = y_t - theta_{t-1} and s_t = sign(delta_t theta_{t-1}).
    Prediction 2: { |P(y; pi) - p| < dp, |P(y; pi_0) - p| < dp }.
    """
    chosen: dict[tuple[int, int, float], list[int]] = {(1, s, d): [] for s in SIGNS for d in DELTAS}
    chosen |= {(2, 0, p): [] for p in PROBABILITIES}
    window, second = windows
    for _, rows in frame.groupby("subject"):
        before, spread, t = 0.0, 1.0, 0
        for i in rows.index:
            if new is not None and frame.loc[i, new]:
                before, spread, t = 0.0, 1.0, 0
            t += 1
            y = (frame.loc[i, "outcome"] - family.mu_0) / family.sigma_0
            delta = y - before
            after = math.sqrt(result.loc[i, f"{label}_variance"]) / family.sigma_0
            sure = abs((after if window.side == "after" else spread) - window.spread) < window.spread_width
            if t > 1 and sure and abs(abs(before) - window.prediction) < window.prediction_width:
                for d in DELTAS:
                    if abs(abs(delta) - d) < window.error_width and delta * before != 0.0:
                        chosen[1, 1 if delta * before > 0.0 else -1, d].append(i)
            p_0 = density(y, 0.0, math.sqrt(1.0 + (family.sigma / family.sigma_0) ** 2))
            p = p_0 / result.loc[i, f"{label}_bayes_factor_surprise"]
            for q in PROBABILITIES:
                if abs(p - q) < second.p_width and abs(p_0 - q) < second.p_width:
                    chosen[2, 0, q].append(i)
            before, spread = (result.loc[i, f"{label}_mean"] - family.mu_0) / family.sigma_0, after
    return chosen


def compare(
    selected: list[Selected], chosen: dict[tuple[int, int, float], list[int]], frame: Any, result: Any, label: str
) -> None:
    own = {(s.prediction, s.sign, s.at): s for s in selected if s.label == label}
    assert own.keys() == chosen.keys()
    for key, rows in chosen.items():
        assert own[key].trials == len(rows), key
        assert own[key].runs == frame.loc[rows, "subject"].nunique()
        for measure, value in (("bayes_factor_surprise", own[key].bayes_factor), ("shannon_surprise", own[key].shannon)):
            mean = result.loc[rows, f"{label}_{measure}"].mean()
            assert value == pytest.approx(mean, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("windows", [DEFAULT_WINDOWS, AFTER])
@pytest.mark.parametrize("new", [None, "new"])
@pytest.mark.parametrize("family", ["gaussian:sigma=0.5", SCALED])
def test_counts_are_those_of_a_loop_over_trials(
    family: str, new: str | None, windows: BothWindows, tmp_path: pathlib.Path
) -> None:
    frame = simulated(family, runs=4, trials=250)
    frame["new"] = (frame["trial"] % 60 == 0).astype(int)
    found, result = separated(frame, tmp_path, family, LEARNERS, windows, reset=new)
    made = result.learners["merge", ("0",)].family
    total = 0
    for label in ("nas12_star", "merge"):
        chosen = brute_force(frame, result.frame, label, made, windows, new)
        total += sum(map(len, chosen.values()))
        compare(found.selected, chosen, frame, result.frame, label)
    assert total > 500


@pytest.mark.parametrize("side", ["before", "after"])
def test_narrow_windows(side: str, tmp_path: pathlib.Path) -> None:
    frame = simulated("gaussian:sigma=0.5", runs=3, trials=300)
    older = ["theta=0.8:0.4", "spread=0.25:0.05", "delta=0.05", "p=0.03"]
    first, second = Windows(confidence_side=side).both(older=older)
    assert first == FirstWindow(0.8, 0.4, 0.25, 0.05, side=side, error_width=0.05)
    assert second == SecondWindow(p_width=0.03)
    same = Windows("0.8,0.4", "0.25,0.05", side, error_width=0.05, p_width=0.03)
    assert same.both() == (first, second)
    found, result = separated(frame, tmp_path, "gaussian:sigma=0.5", LEARNERS, (first, second))
    chosen = brute_force(frame, result.frame, "merge", vl.Gaussian(0.5), (first, second))
    assert sum(map(len, chosen.values())) > 0
    compare(found.selected, chosen, frame, result.frame, "merge")


def test_the_paper_selects_the_same_trials() -> None:
    """The masks that Figures 10 and 11 are made with, on the same subjects."""
    from volatilis.separation.regressors import RowsOfRuns
    from volatilis.separation.selections import make_runs, select_first, select_second

    subjects, trials, family = 5, 200, vl.Gaussian(0.5)
    setting = predictions._Setting(subjects, trials, 1, 0.5, 0.1, 0.05)
    theirs = setting._right(vl.Nas12Star(family, 0.05))
    traces = [vl.run(vl.Nas12Star(family, 0.05), y) for y in setting._ys]
    names = ("mean", "variance", "log_bayes_factor_surprise", "shannon_surprise")
    measures = {name: np.concatenate([getattr(trace, name) for trace in traces]) for name in names}
    run, step = np.repeat(np.arange(subjects), trials), np.tile(np.arange(trials) + 1, subjects)
    ours = make_runs(measures, RowsOfRuns(run, [], step, {}), setting._ys.ravel(), [family] * subjects)
    window = FirstWindow(side="after", errors=predictions.DELTAS)
    first = sum(window.masks(subject.trials).sum(axis=-1) for subject in theirs)
    assert {(s.sign, s.at): s.trials for s in select_first("x", ours, window)} == {
        (sign, delta): first[i, j] for i, sign in enumerate(SIGNS) for j, delta in enumerate(DELTAS)
    }
    second = sum(SecondWindow().masks(subject.trials).sum(axis=-1) for subject in theirs)
    assert [s.trials for s in select_second("x", ours, SecondWindow())] == second.tolist()
    assert first.sum() > 100
    assert second.sum() > 20


def test_the_sign_bias_is_an_underestimation_and_orders_the_surprises(tmp_path: pathlib.Path) -> None:
    """Table 1: at the same error S_BF is smaller and Shannon larger where the outcome is farther out than the prediction."""
    frame = simulated("gaussian:sigma=0.5", runs=20, trials=500)
    found, _ = separated(frame, tmp_path, "gaussian:sigma=0.5", ["nas12*:p_c=0.1"])
    own = {(s.sign, s.at): s for s in found.selected if s.prediction == 1}
    for delta in (0.6, 0.7, 0.8, 0.9):
        assert own[1, delta].bayes_factor < own[-1, delta].bayes_factor
        assert own[1, delta].shannon > own[-1, delta].shannon
    equal = [s for s in found.selected if s.prediction == 2 and s.trials > 0 and s.at > 0.1]
    assert all(abs(s.bayes_factor - 1.0) < 0.2 for s in equal)
    assert equal[0].shannon > equal[-1].shannon


def test_a_persons_own_prediction_and_confidence(tmp_path: pathlib.Path) -> None:
    frame = simulated("gaussian:sigma=0.5", runs=2, trials=200)
    rng = np.random.default_rng(4)
    frame["guess"], frame["sure"] = rng.normal(0.0, 1.0, len(frame)), rng.integers(1, 6, len(frame))
    frame.loc[7, "guess"] = np.nan
    request = request_for(frame, tmp_path, "gaussian:sigma=0.5", ["nas12*:p_c=0.1"])
    window = FirstWindow(confidence=(2.5, 5.5), side="after")
    question = SeparateRequest(request, prediction="guess", confidence="sure", first_window=window)
    found = {(s.sign, s.at): s.trials for s in separate(question).selected if s.prediction == 1}
    error, guess = frame["outcome"] - frame["guess"], frame["guess"]
    alike = (np.abs(np.abs(guess) - 1.0) < 0.25) & frame["sure"].isin([3, 4, 5]) & (frame["trial"] > 0)
    for (sign, delta), trials in found.items():
        assert trials == int((alike & (np.sign(error * guess) == sign) & (np.abs(np.abs(error) - delta) < 0.1)).sum())
    assert sum(found.values()) > 30


def test_an_estimate_after_the_outcome_is_the_next_trials_prediction(tmp_path: pathlib.Path) -> None:
    frame = simulated("gaussian:sigma=0.5", runs=2, trials=200)
    frame["estimate"] = np.random.default_rng(4).normal(0.0, 1.0, len(frame))
    frame["guess"] = frame.groupby("subject")["estimate"].shift(1)
    request = request_for(frame, tmp_path, "gaussian:sigma=0.5", ["nas12*:p_c=0.1"])
    after, before = (
        separate(SeparateRequest(request, **{name: column}))
        for name, column in (("estimate", "estimate"), ("prediction", "guess"))
    )
    assert repr(after.selected) == repr(before.selected)  # NaN is not itself
    assert sum(s.trials for s in after.selected) > 50
    with pytest.raises(ValueError, match="exclude each other: name one"):
        separate(SeparateRequest(request, prediction="guess", estimate="estimate"))


@pytest.mark.parametrize("side", ["before", "after"])
def test_confidence_without_a_window_is_the_middle_of_it(side: str, tmp_path: pathlib.Path) -> None:
    """The middle 80 % of each run, as in `volatilis predict`; confidence is stated after the row's outcome."""
    frame = simulated("gaussian:sigma=0.5", runs=2, trials=200)
    frame["sure"] = np.random.default_rng(4).normal(0.0, 1.0, len(frame)) + 3.0 * frame["subject"]
    frame["guess"] = np.random.default_rng(5).normal(0.0, 1.0, len(frame))
    request = request_for(frame, tmp_path, "gaussian:sigma=0.5", ["nas12*:p_c=0.1"])
    question = SeparateRequest(request, prediction="guess", confidence="sure", first_window=FirstWindow(side=side))
    found = {(s.sign, s.at): s.trials for s in separate(question).selected if s.prediction == 1}
    sure = frame["sure"] if side == "after" else frame.groupby("subject")["sure"].shift(1)
    low, high = (sure.groupby(frame["subject"]).transform(lambda own, q=q: own.quantile(q)) for q in (0.1, 0.9))
    error, guess = frame["outcome"] - frame["guess"], frame["guess"]
    alike = (np.abs(np.abs(guess) - 1.0) < 0.25) & (sure >= low) & (sure <= high) & (frame["trial"] > 0)
    for (sign, delta), trials in found.items():
        assert trials == int((alike & (np.sign(error * guess) == sign) & (np.abs(np.abs(error) - delta) < 0.1)).sum())
    assert sum(found.values()) > 30


def test_other_families_and_leaky_say_why_not(tmp_path: pathlib.Path) -> None:
    learners = ["varsmile:m=0.1", "leaky:omega=0.8"]
    found, _ = separated(simulated("bernoulli"), tmp_path, "bernoulli", learners)
    assert found.selected == []
    reasons = dict(found.unselected)
    assert "Bernoulli" in reasons["varsmile"]
    assert "no belief" in reasons["leaky"]
    request = request_for(simulated("bernoulli"), tmp_path, "bernoulli", learners)
    with pytest.raises(ValueError, match="family gaussian"):
        separate(SeparateRequest(request, prediction="outcome"))


@pytest.mark.parametrize("text", ["theta=1", "theta=1:0", "delta=1:2", "p=x", "sigma=1", "p", "p=nan", "spread=0.5:-1"])
def test_windows_that_are_not_accepted(text: str) -> None:
    with pytest.raises(ValueError, match="MIDDLE:WIDTH"):
        older_window(text, FirstWindow(), SecondWindow())


def test_contexts_apart_are_counted_as_runs_of_their_own(tmp_path: pathlib.Path) -> None:
    """Two cues in one sequence, where time stands still for the cue that is not shown, against each cue alone."""
    family, rng = vl.Gaussian(0.5), np.random.default_rng(2)
    cue = rng.integers(0, 2, 600)
    y = np.empty(600)
    for c in (0, 1):
        y[cue == c] = vl.ChangingEnvironment(family, 0.1).sample(int((cue == c).sum()), seed=c).y
    names = np.array(["left", "right"])[cue]
    pd.DataFrame({"outcome": y, "cue": names}).to_csv(tmp_path / "cues.csv", index=False)
    shared = (tmp_path / "cues.csv", "--family", "gaussian:sigma=0.5", "-q")
    together = ("--given", "cue", "--contexts", "left,right", "--learner", "x=per-context:nas12*:p_c=0.1;contexts=2,unseen=wait")
    for name, words in (("together", together), ("apart", ("--by", "cue", "--learner", "x=nas12*:p_c=0.1"))):
        done = volatilis("separate", *shared, *words, "--selections", tmp_path / f"{name}.csv")
        assert done.exit_code == 0, done.stderr
    one, other = (pd.read_csv(tmp_path / f"{name}.csv").drop(columns="runs") for name in ("together", "apart"))
    assert one.trials.sum() > 100
    pd.testing.assert_frame_equal(one, other, rtol=1e-9)


def test_a_direction_is_no_regressor(tmp_path: pathlib.Path) -> None:
    y = vl.ChangingEnvironment(vl.VonMises(8.0, period=360.0), 0.1).sample(200, seed=1).y
    pd.DataFrame({"outcome": y}).to_csv(tmp_path / "angles.csv", index=False)
    words = ("--family", "vonmises:kappa=8,period=360", "--learner", "merge:n=5,p_c=0.1", "--measures", "all")
    done = volatilis("separate", tmp_path / "angles.csv", *words, width=200)
    assert done.exit_code == 0, done.stderr
    assert "merge_mean is a direction on a circle: a line would put its two ends far apart: set aside" in done.stdout
