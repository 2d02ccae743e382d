"""Planning: power against its analytic value and against simulations written out; any number of workers; chosen sequences."""

from __future__ import annotations

import functools
import math
import pathlib

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import volatilis as vl
from tests.helpers.command_line import volatilis
from volatilis.behaviour.design import Setting, choose, power, smallest
from volatilis.behaviour.design.experiment import _predictions_of, _scores, noise_of
from volatilis.behaviour.design.power import Power, _store, wilson
from volatilis.behaviour.design.sequences import criteria
from volatilis.behaviour.design.setting import Shown
from volatilis.behaviour.indicators import FirstWindow, SecondWindow
from volatilis.predictions.hypotheses import decide

SMALL = Setting(learners=("nas12*:p_c=0.1", "varsmile:m=0.1"), subjects=(3, 6), trials=(60, 120), response_noise=1.0)


# --- against what is known -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("effect", "people"), [(0.0, 8), (0.5, 12), (0.8, 20), (1.5, 5)])
def test_the_decision_has_the_power_of_student_s_test(effect: float, people: int) -> None:
    """Of N(effect, 1) values: P(|T| > t) in the predicted direction, T noncentral t with effect sqrt(n)."""
    rng, repeats = np.random.default_rng([people, 4]), 2000
    found = np.mean([decide(rng.normal(effect, 1.0, people)) == 1 for _ in range(repeats)])
    threshold = stats.t.ppf(0.975, people - 1)
    expected = float(stats.nct.sf(threshold, people - 1, effect * math.sqrt(people))) if effect else 0.025
    assert found == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / repeats))


def adjusted_slope(p: np.ndarray, p_0: np.ndarray) -> np.ndarray:
    """Weights of the trials in the adjusted slope of prediction 2, where everybody saw the same outcomes.

    From definitions: a person's averages in the windows less what a regression of the person's own selected trials on log S_BF,
    S_BF and p has for the first two; then the slope of a straight line. All of that is linear in the indicator.
    """
    windows = np.arange(1, 17) / 40
    inside = [(np.abs(p - middle) < 0.0125) & (np.abs(p_0 - middle) < 0.0125) for middle in windows]
    chosen = np.any(inside, axis=0)
    terms = np.column_stack([np.log(p_0 / p), p_0 / p, 0.5 * (p + p_0), np.ones(p.size)])[chosen]
    used = [k for k, own in enumerate(inside) if own.any()]
    weights = []
    for unit in np.eye(p.size):
        coefficients = np.linalg.lstsq(terms, unit[chosen], rcond=None)[0]
        left = unit.copy()
        left[chosen] -= terms[:, :2] @ coefficients[:2]
        weights.append(np.polyfit(windows[used], [left[inside[k]].mean() for k in used], 1)[0])
    return np.array(weights)


def test_power_in_closed_form() -> None:
    """Everybody sees the same outcomes and learns the same, so a person's value is a known number plus Gaussian noise of known
    standard deviation, and Student's test over people has the power of the noncentral t.

    The number is the adjusted slope of the measure, and the noise that of the indicator. 600 experiments: three standard errors
    are at most 0.061.
    """
    people, trials, repeats = 6, 200, 600
    y = np.asarray(vl.ChangingEnvironment(vl.Gaussian(0.5), 0.1).sample(trials, seed=8).y)
    trace = vl.run(vl.Nas12Star(vl.Gaussian(0.5), 0.1), y)
    design = SMALL._replace(subjects=(people,), trials=(trials,), learners=SMALL.learners[:1])
    setting = design._replace(noise=2.0, sequence=tuple(y.tolist()))
    found = power(setting, repeats, workers=1)
    share = {name: float(value) for name, value in zip(found.findings, found.share[:, 0, 0], strict=True)}

    p_0 = stats.norm.pdf(y, 0.0, math.sqrt(1.25))
    weights = adjusted_slope(p_0 / trace.bayes_factor_surprise, p_0)
    threshold, root = stats.t.ppf(0.975, people - 1), math.sqrt(people)

    def away(name: str, measure: np.ndarray) -> float:
        return float(root * (weights @ measure) / (noise_of(setting, name) * np.linalg.norm(weights)))

    shannon, bayes = away("S_Sh", trace.shannon_surprise), away("S_BF", trace.bayes_factor_surprise)
    wanted = {
        "prediction 2, S_Sh": stats.nct.cdf(-threshold, people - 1, shannon),
        "prediction 2, S_BF refused": stats.nct.cdf(-threshold, people - 1, bayes) + stats.nct.sf(threshold, people - 1, bayes),
    }
    assert abs(bayes) < 1e-6  # what goes with S_BF is taken away
    assert 0.2 < wanted["prediction 2, S_Sh"] < 0.8
    for name, value in wanted.items():
        assert share[name] == pytest.approx(value, abs=3 * math.sqrt(value * (1 - value) / repeats)), name


def test_wilson_interval() -> None:
    low, high = wilson(np.array([0, 3, 20]), 20)
    for k, count in enumerate((0, 3, 20)):
        known = stats.binomtest(count, 20).proportion_ci(0.95, "wilson")
        assert (low[k], high[k]) == pytest.approx(tuple(known), abs=1e-12)


def direct_experiment(rng: np.random.Generator, people: int, trials: int, noise: float) -> bool:
    """Prediction 2 for Shannon surprise with the paper's plain estimator, from definitions; only the learner is the package's."""
    slopes = []
    for _ in range(people):
        theta, y = rng.normal(), np.empty(trials)
        for t in range(trials):
            if rng.random() < 0.1:
                theta = rng.normal()
            y[t] = rng.normal(theta, 0.5)
        trace = vl.run(vl.Nas12Star(vl.Gaussian(0.5), 0.1), y)
        mean, variance = np.concatenate([[0.0], trace.mean[:-1]]), np.concatenate([[1.0], trace.variance[:-1]])
        p, p_0 = stats.norm.pdf(y, mean, np.sqrt(0.25 + variance)), stats.norm.pdf(y, 0.0, math.sqrt(1.25))
        indicator = -np.log(0.9 * p + 0.1 * p_0) + rng.normal(0.0, noise, trials)
        points = []
        for middle in np.arange(1, 17) / 40:
            own = indicator[(np.abs(p - middle) < 0.0125) & (np.abs(p_0 - middle) < 0.0125)]
            points += [(middle, own.mean())] if own.size else []
        if len(points) > 1:
            slopes.append(np.polyfit(*np.array(points).T, 1)[0])
    if 2.0 ** (1 - len(slopes)) > 0.05:  # then signs flipped at random cannot reach 5 %
        return False
    test = stats.ttest_1samp(slopes, 0.0)
    return bool(test.pvalue < 0.05 and test.statistic < 0)


def test_power_against_a_simulation_written_out() -> None:
    """Outcomes of everybody's own. 400 experiments and 800 written out: three standard errors are at most 0.092."""
    setting = Setting(noise=3.0, subjects=(8,), trials=(150,))
    found = power(setting, 400, workers=1)
    share = float(found.share[found.findings.index("prediction 2, S_Sh"), 0, 0])
    rng = np.random.default_rng(11)
    noise = noise_of(setting, "S_Sh")
    direct = np.mean([direct_experiment(rng, 8, 150, noise) for _ in range(800)])
    assert 0.1 < direct < 0.9
    assert abs(share - direct) < 3 * math.sqrt(direct * (1 - direct) * (1 / 400 + 1 / 800))


def test_the_noise_is_in_units_of_the_measure_over_selected_trials() -> None:
    y = vl.ChangingEnvironment(vl.Gaussian(0.5), 0.1).sample(50_000, seed=5).y
    trace = vl.run(vl.Nas12Star(vl.Gaussian(0.5), 0.1), y)
    before = np.concatenate([[0.0], trace.mean[:-1]])
    error = np.abs(y - before)
    chosen = (np.abs(np.abs(before) - 1.0) < 0.25) & (error < 1.1)
    expected = 2.0 * trace.shannon_surprise[chosen].std()
    assert noise_of(Setting(noise=2.0), "S_Sh") == pytest.approx(expected, rel=0.05)


def test_more_people_trials_and_less_noise_find_more() -> None:
    found = power(SMALL._replace(learners=SMALL.learners[:1], subjects=(3, 12), trials=(60, 250), noise=1.0), 25, workers=1)
    k = found.findings.index("prediction 1, S_BF")
    assert found.share[k, 1, 1] > 0.8 > found.share[k, 0, 0]
    noisy = power(found.setting._replace(noise=8.0), 25, workers=1)
    assert noisy.share[k, 1, 1] < found.share[k, 1, 1]


def test_learners_are_told_apart_and_a_learner_not_from_itself() -> None:
    found = power(SMALL._replace(response_noise=0.05), 20, workers=1)
    assert found.findings[-4:-2] == ("learner nas12_star", "learner varsmile")
    assert found.share[-4:-2, 1, 1].min() > 0.9
    twins = power(SMALL._replace(learners=("a=nas12*:p_c=0.1", "b=nas12*:p_c=0.1")), 5, workers=1)
    assert twins.share[-4:].max() == 0.0


def test_scores_of_candidates_by_hand() -> None:
    """-BIC / 2 from sums of normal log densities about each candidate's estimate before the outcome, the best of those tried."""
    seeds = np.random.SeedSequence(3).spawn(4)
    y = np.asarray(vl.ChangingEnvironment(vl.Gaussian(0.5), 0.1).sample(120, seed=2).y)
    found = _scores(SMALL, SMALL.models(), 1, Shown(y), seeds)
    given = _predictions_of(SMALL, SMALL.models()[1], Shown(y), seeds, 1)
    for k, (true, tried) in enumerate(zip(("p_c", "m"), SMALL.tried(), strict=True)):
        assert len(tried) == 15
        assert getattr(tried[0], true) < 0.01 < 0.5 < getattr(tried[-1], true)
        for i, trials in enumerate(SMALL.trials):
            scores = []
            for learner in tried:
                before = np.concatenate([[0.0], vl.run(learner, y).mean[:-1]])[:trials]
                sd = np.sqrt(np.mean((given[:trials] - before) ** 2))
                scores.append(stats.norm.logpdf(given[:trials], before, sd).sum() - math.log(trials))
            assert max(scores) - 1e-9 <= found[i, k] < max(scores) + 0.5  # between two values it may be a little higher


def test_a_learner_that_samples_is_found_where_it_is_the_truth() -> None:
    """By one run with random numbers of its own the particle filter that people are lost to Nas12* every time."""
    setting = SMALL._replace(learners=("nas12*:p_c=0.1", "pf:n=5,p_c=0.1"), subjects=(6,), trials=(150,), response_noise=0.1)
    found = power(setting, 8, workers=1)
    assert found.findings[-4:-2] == ("learner nas12_star", "learner particle_filter")
    assert found.share[-4:-2, 0, 0].tolist() == [1.0, 1.0]


def test_scores_of_a_learner_that_samples() -> None:
    """For a person of ten trials, the mean over many runs of the probability of all responses."""
    setting = SMALL._replace(learners=("nas12*:p_c=0.1", "pf:n=5,p_c=0.1"), trials=(10,), response_noise=0.3)
    seeds = np.random.SeedSequence(3).spawn(4)
    y = np.asarray(vl.ChangingEnvironment(vl.Gaussian(0.5), 0.1).sample(10, seed=2).y)
    given = _predictions_of(setting, setting.models()[1], Shown(y), seeds, 1)
    learner, runs = vl.ParticleFilter(vl.Gaussian(0.5), 0.1, n=5), []
    for seed in range(4000):
        before = np.concatenate([[0.0], vl.run(learner, y, seed=seed).mean[:-1]])
        runs.append(np.exp(stats.norm.logpdf(given, before, 0.3).sum()))
    mean, error = np.mean(runs), np.std(runs) / math.sqrt(64)  # of 64 copies, which are no worse than 64 runs
    found = 10.0 * math.exp(
        _scores(setting, setting.models(), 1, Shown(y), seeds)[0, 1]
    )  # without what BIC takes for two parameters
    assert abs(found - mean) < 4 * error
    assert error < 0.2 * mean


def test_scores_of_fitted_candidates() -> None:
    """-BIC / 2 of each candidate, its parameter searched on a grid, and the best noise the root of the mean squared error."""
    setting = SMALL._replace(fit=True, trials=(60,))
    assert [model.free() for model in setting.fitted_models()] == [("p_c", "sd"), ("m", "sd")]
    seeds = np.random.SeedSequence(3).spawn(4)
    y = np.asarray(vl.ChangingEnvironment(vl.Gaussian(0.5), 0.1).sample(60, seed=2).y)
    found = _scores(setting, setting.models(), 1, Shown(y), seeds)
    given = _predictions_of(setting, setting.models()[1], Shown(y), seeds, 1)
    grids = ((vl.Nas12Star, np.geomspace(1e-6, 0.9999, 2000)), (vl.VarSMiLe, np.geomspace(1e-4, 1e4, 2000)))
    for k, (learner, values) in enumerate(grids):
        apart = [given - np.concatenate([[0.0], vl.run(learner(vl.Gaussian(0.5), value), y).mean[:-1]]) for value in values]
        squares = np.mean(np.square(apart), axis=1).min()
        assert found[0, k] == pytest.approx(-30 * (math.log(2 * math.pi * squares) + 1) - math.log(60), abs=0.01)


def test_fitted_candidates() -> None:
    """With little response noise they are told apart; with much of it less often, and without --fit about as often."""
    clear = power(SMALL._replace(fit=True, subjects=(8,), trials=(120,), response_noise=0.1), 10, workers=1)
    assert clear.share[-2:, 0, 0].min() >= 0.9
    noisy = SMALL._replace(subjects=(8,), trials=(120,), response_noise=0.4)
    fitted, quick = (power(noisy._replace(fit=fit), 20, workers=1).share[-2:, 0, 0] for fit in (True, False))
    assert np.abs(fitted - quick).max() <= 0.15  # 3 of 20: the same people, a grid instead of a search


# --- the same everywhere, and kept ---------------------------------------------------------------------------------------


def test_one_and_two_workers_and_a_run_that_was_stopped(tmp_path: pathlib.Path) -> None:
    one, two = power(SMALL, 12, workers=1), power(SMALL, 12, workers=2)
    np.testing.assert_array_equal(one.share, two.share)
    power(SMALL, 5, workers=1, folder=tmp_path)
    path = next(tmp_path.iterdir())
    path.write_bytes(path.read_bytes()[:-9])  # as if the power had gone while the last line was written
    with _store(SMALL, tmp_path) as store:
        assert [store.get(str(number)) is not None for number in range(5)] == [True] * 4 + [False]
    shares: list[float] = []
    again = power(SMALL, 12, workers=1, folder=tmp_path, progress=shares.append)
    assert shares[0] == pytest.approx(4 / 12)
    assert shares[-1] == 1.0
    np.testing.assert_array_equal(again.share, one.share)
    assert len(list(tmp_path.iterdir())) == 1
    assert len(path.read_bytes().splitlines()) == 13  # with the one that was cut off, which is passed over


def test_the_smallest_design() -> None:
    share = np.array([[[0.2, 0.85], [0.82, 0.95]], [[0.1, 0.1], [0.1, 0.1]]])
    setting = Setting(subjects=(10, 20), trials=(100, 250))
    found = Power(setting, ("a", "b"), 100, share, share - 0.05, share + 0.05)
    first, none = smallest(found, 0.8)
    assert first is not None
    assert (first.subjects, first.trials, first.share) == (20, 100, 0.85)  # 2,000 trials in all; 10 x 250 would be 2,500
    assert none is None
    first, _ = smallest(found, 0.9)
    assert first is not None
    assert (first.subjects, first.trials) == (20, 250)


# --- sequences -----------------------------------------------------------------------------------------------------------


def test_a_chosen_sequence_beats_random_ones() -> None:
    setting = Setting(trials=(200,))
    found = choose(setting, 40, 80)
    assert found.score > found.scores.max()
    assert found.improvements > 0
    np.testing.assert_allclose(found.criteria, criteria(setting, np.asarray(found.sample.y)))
    again = choose(setting, 40, 80)
    np.testing.assert_array_equal(found.sample.y, again.sample.y)
    other = choose(setting, 40, 80, number=1)
    assert not np.array_equal(found.sample.y, other.sample.y)
    # mean and outcomes of a stretch belong together
    starts = np.flatnonzero(found.sample.changed)
    assert all(len(set(own)) == 1 for own in np.split(found.sample.theta, starts[1:]))
    assert np.std(found.sample.y - found.sample.theta) == pytest.approx(0.5, rel=0.2)


def test_criteria_by_hand() -> None:
    y = np.asarray(vl.ChangingEnvironment(vl.Gaussian(0.5), 0.1).sample(300, seed=2).y)
    trace = vl.run(vl.Nas12Star(vl.Gaussian(0.5), 0.1), y)
    apart, first, _ = criteria(Setting(), y)
    line = stats.linregress(trace.shannon_surprise, trace.log_bayes_factor_surprise)
    assert apart == pytest.approx(1.0 - line.rvalue**2)
    before = np.concatenate([[0.0], trace.mean[:-1]])
    error, pairs = y - before, 0.0
    for delta in np.arange(1, 11) / 10:
        near = (np.abs(np.abs(error) - delta) < 0.1) & (np.abs(np.abs(before) - 1.0) < 0.25)
        plus, minus = np.sum(near & (error * before > 0)), np.sum(near & (error * before < 0))
        pairs += plus * minus / max(plus + minus, 1)
    assert first == pytest.approx(pairs)


def test_power_with_a_sequence_that_everybody_sees() -> None:
    setting = Setting(trials=(120,), subjects=(6,), noise=2.0)
    chosen = choose(setting, 40, 150)
    best, usual = (power(own, 30, workers=1) for own in (setting._replace(sequence=tuple(chosen.sample.y.tolist())), setting))
    k = best.findings.index("prediction 2, S_Sh")
    assert best.share[k, 0, 0] > usual.share[k, 0, 0]


# --- the command ---------------------------------------------------------------------------------------------------------

ASKED = ["design", "--family", "gaussian:sigma=10,mu_0=150,sigma_0=20", "--p-c", "0.1", "--learner", "nas12*:p_c=0.1"]
QUICK = ["--subjects", "3,6", "--trials", "60", "--repeats", "4", "--workers", "1"]


design = functools.partial(volatilis, width=120)


def test_tables_picture_and_sequence(tmp_path: pathlib.Path) -> None:
    outputs = ["--out", tmp_path / "p.csv", "--plot", tmp_path / "p.png", "--sequence", tmp_path / "s.csv"]
    code, out, said = design(*ASKED, *QUICK, *outputs, "--candidates", "10", "--tries", "10", "--learner", "varsmile:m=0.1")
    assert code == 0, said
    assert "Power with random sequences, 4 experiments each" in out
    assert "smallest design (chosen)" in out
    assert "Chosen sequence of 60 outcomes: best of 10 random sequences" in out
    table = pd.read_csv(tmp_path / "p.csv")
    assert len(table) == 2 * 15 * 2
    assert "prediction 2 cannot be told with 3 people x 60 trials" in out
    assert (table.low <= table.share).all()
    assert (table.share <= table.high).all()
    sequence = pd.read_csv(tmp_path / "s.csv")
    assert list(sequence) == ["trial", "outcome", "mean", "changed"]
    assert len(sequence) == 60
    assert abs(sequence.outcome.mean() - 150.0) < 20.0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_the_windows_of_predict(tmp_path: pathlib.Path) -> None:
    """As options, the same as in Python; and other windows give another power."""
    words = ["--prediction-window", "0.8,0.4", "--errors", "0.2,0.8,0.2", "--probabilities", "0.05,0.4,0.05", "--p-width", "0.04"]
    code, _, said = design(*ASKED, *QUICK, *words, "--least", "2", "--out", tmp_path / "p.csv")
    assert code == 0, said
    first = FirstWindow(prediction=0.8, prediction_width=0.4, errors=(0.2, 0.4, 0.6, 0.8), least=2)
    second = SecondWindow(p=tuple(k / 20 for k in range(1, 9)), p_width=0.04, least=2)
    usual = Setting("gaussian:sigma=10,mu_0=150,sigma_0=20", subjects=(3, 6), trials=(60,))
    share = pd.read_csv(tmp_path / "p.csv").share
    found = power(usual._replace(first_window=first, second_window=second), 4, workers=1)
    assert share.tolist() == found.share.ravel().tolist()
    assert share.tolist() != power(usual, 4, workers=1).share.ravel().tolist()
    code, _, said = design(*ASKED, *QUICK, "--p-width", "0.05")
    assert code == 2
    assert "p_width = 0.05 is not below the smallest probability" in said


def test_units_of_the_outcome_do_not_matter() -> None:
    one = power(Setting("gaussian:sigma=0.5", subjects=(4,), trials=(80,)), 6, workers=1)
    two = power(Setting("gaussian:sigma=10,mu_0=150,sigma_0=20", subjects=(4,), trials=(80,)), 6, workers=1)
    np.testing.assert_array_equal(one.share, two.share)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--learner", "varsmile:m=free"], "'varsmile:m=free': give numbers for all parameters"),
        (["--noise", "-1"], "noise = -1.0 is not accepted"),
        (["--level", "0"], "level = 0.0 is not accepted"),
        (["--subjects", "1,5"], "subjects = (1, 5) is not accepted; whole numbers, 2 or more"),
        (["--subjects", "a"], "--subjects 'a' is not accepted"),
        (["--p-c", "1.5"], "p_c = 1.5"),
        (["--learner", "nas12*:p_c=0.1"], "two learners are called"),
        (["--learner", "varsmile:m=0.1", "--response-noise", "0"], "response_noise = 0 leaves no other learner possible"),
        (["--family", "bernoulli"], "the family 'bernoulli' is not accepted"),
        (["--family", "gaussian:sigma=column:s"], "a design needs numbers for all parameters"),
        (["--family", "gaussian:sigma=20,sigma_0=1"], "prediction 1 selects"),
        (["--plot", "p.gif"], "the ending tells the kind of picture"),
    ],
)
def test_mistakes(words: list[str], message: str) -> None:
    code, _, said = design(*ASKED, *QUICK, *words)
    assert code == 2
    assert message in said


def test_a_first_learner_without_a_belief() -> None:
    leaky = ["design", "--family", "gaussian:sigma=0.5", "--p-c", "0.1", "--learner", "leaky:omega=0.5", *QUICK]
    code, _, said = design(*leaky)
    assert code == 2
    assert "Leaky has no belief" in said


# --- contexts ------------------------------------------------------------------------------------------------------------


def test_contexts_that_change_together_and_apart() -> None:
    """Outcomes of a cue are those of its own environment; with turns, two cues are two sequences in a row of trials."""
    apart = SMALL._replace(learners=("per-context:nas12*:p_c=0.1;contexts=2,unseen=wait",), given="turns")
    shown = apart.random_outcomes(np.random.SeedSequence(5), 40)
    _, *seeds = np.random.SeedSequence(5).spawn(3)
    for context in (0, 1):
        own = vl.ChangingEnvironment(vl.Gaussian(0.5), 0.1).sample(40, seeds[context]).y
        np.testing.assert_array_equal(shown.y[context::2], own[:20])
    together = SMALL._replace(family="given:gaussian:sigma=0.5;contexts=2", learners=("varsmile:m=0.1",))
    world = together.random_outcomes(np.random.SeedSequence(5), 2000)
    assert world.given is not None
    assert set(world.given) == {0, 1}
    sample = vl.ChangingEnvironment(vl.Given(vl.Gaussian(0.5), 2), 0.1).sample(2000, seeds[0], world.given)
    np.testing.assert_array_equal(world.y, sample.y)


def test_a_design_with_cues_from_the_command_line(tmp_path: pathlib.Path) -> None:
    cued = ("--family", "given:gaussian:sigma=0.5;contexts=2", "--p-c", 0.1, "--learner", "merge:n=1,p_c=0.1", "--repeats", 3)
    size = ("--subjects", "8", "--trials", "200", "--noise", 0.3, "--workers", 1, "--out", tmp_path / "o.csv")
    code, out, said = volatilis("design", *cued, "--learner", "varsmile:m=0.1", *size, width=120)
    assert code == 0, said
    assert "one person, X: of single people who learn as X" in out
    found = pd.read_csv(tmp_path / "o.csv").set_index("finding").share
    assert found["prediction 1, S_BF"] == 1.0
    assert 0.0 < found["one person, varsmile"] <= 1.0
    for wrong, reason in (
        (("--given", "columns"), "contexts come at random or in turns"),
        (("--learner", "per-context:varsmile:m=0.2;contexts=2"), "learners are compared on the same contexts"),
        (("--sequence", tmp_path / "s.csv"), "only where there are no contexts"),
    ):
        done = volatilis("design", *cued, *size, *wrong, width=200)
        assert done.exit_code == 2
        assert reason in done.stderr
    plain = volatilis("design", "--family", "gaussian:sigma=0.5", *cued[2:], *size, "--given", "turns", width=200)
    assert "--given is about contexts, and there are none" in plain.stderr
