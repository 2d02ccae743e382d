"""Simulated experiments: for every number of people and trials, does the analysis find what is true, and how often?

The people of a smaller design are the first of a larger one, and its trials are their first; so are all designs of one experiment
simulated at once. Experiments are independent of each other.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core import sources
from volatilis._core.jobs import Processes, run_kept, worker_count
from volatilis._core.seeds import generator_key
from volatilis._core.store import Store, digest
from volatilis.behaviour.design.findings import FINDINGS, HYPOTHESES, NOISE, findings_of, verdicts
from volatilis.behaviour.design.setting import Setting, check
from volatilis.behaviour.fitting.fit import fit
from volatilis.behaviour.fitting.search import COPIES
from volatilis.behaviour.likelihood import log_likelihoods
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person, Trials
from volatilis.learners._base import Learner
from volatilis.predictions.estimators import Sums, sums_first, sums_second
from volatilis.predictions.hypotheses import decide
from volatilis.predictions.windows import Beliefs, SubjectTrials, believe
from volatilis.running.drivers import OBSERVE
from volatilis.running.run import run

MEASURES = tuple(HYPOTHESES)
CALIBRATION = 20_000  # trials that show how much a measure varies
STARTS = 2  # of a fit
Seeds = list[np.random.SeedSequence]  # of one person: outcomes, learner, indicator, responses


def findings(setting: Setting) -> list[str]:
    """The names of all findings: those of the predictions, and each candidate learner among the others."""
    labels = setting.labels()
    return [*FINDINGS, *(f"learner {label}" for label in labels if len(labels) > 1)]


def experiment(setting: Setting, number: int) -> np.ndarray:
    """finding x trials x subjects: 1 where it was found, 0 where it was not."""
    setting.load_own()
    people = np.random.SeedSequence([setting.seed, 0, number]).spawn(max(setting.subjects))
    seeds = [person.spawn(4) for person in people]
    ys = [outcomes(setting, of_person[0], max(setting.trials)) for of_person in seeds]
    results = [*_predictions(setting, ys, seeds)]
    if len(setting.learners) > 1:
        results += _comparisons(setting, ys, seeds)
    return np.array(results, dtype=float)


# --- simulated people: outcomes, what they believe, and an indicator that reflects a surprise, with noise -----------------


def outcomes(setting: Setting, seed: np.random.SeedSequence, trials: int) -> np.ndarray:
    """One person's outcomes: the setting's sequence, or random ones."""
    if setting.sequence:
        return np.array(setting.sequence[:trials])
    return np.asarray(setting.environment().sample(trials, seed).y, dtype=float)


def measure(believed: Beliefs, name: str) -> np.ndarray:
    return believed.bayes_factor if name == "S_BF" else believed.shannon


def observed(
    setting: Setting, y: np.ndarray, believed: Beliefs, indicator: np.ndarray, trials: int | None = None
) -> SubjectTrials:
    """The first trials of a person as the analysis sees them."""
    first = Beliefs(*(values[:trials] for values in believed))
    return first.trials(y[:trials], setting.environment().family, indicator[:trials])


def believe_first(setting: Setting, y: np.ndarray, seed: np.random.SeedSequence) -> Beliefs:
    """What the first candidate believes about these outcomes."""
    return believe(setting.first_learner(), y, seed=seed)


@functools.cache
def noise_of(setting: Setting, name: str) -> float:
    """The standard deviation of the indicator's noise, in units of the measure."""
    seeds = np.random.SeedSequence([setting.seed, 1]).spawn(2)
    y = np.asarray(setting.environment().sample(CALIBRATION, seeds[0]).y, dtype=float)
    believed = believe_first(setting, y, seeds[1])
    values = measure(believed, name)
    chosen = setting.first_window.masks(observed(setting, y, believed, values)).any(axis=(0, 1))
    if chosen.sum() < 30:
        raise ValueError(
            f"prediction 1 selects {int(chosen.sum())} of {CALIBRATION:,} trials, too few; choose another sigma, p_c or learner"
        )
    return setting.noise * float(values[chosen].std())


# --- the two predictions -------------------------------------------------------------------------------------------------


def _predictions(setting: Setting, ys: list[np.ndarray], seeds: Sequence[Seeds]) -> list[np.ndarray]:
    firsts: dict[str, list[list[Sums]]] = {name: [[] for _ in setting.trials] for name in (*MEASURES, NOISE)}
    seconds: dict[str, list[list[Sums]]] = {name: [[] for _ in setting.trials] for name in (*MEASURES, NOISE)}
    for y, of_person in zip(ys, seeds, strict=True):
        believed = believe_first(setting, y, of_person[1])
        noise = np.random.default_rng(of_person[2]).standard_normal((len(firsts), y.size))
        for row, name in enumerate(firsts):
            indicator = noise[row] if name == NOISE else measure(believed, name) + noise_of(setting, name) * noise[row]
            for i, trials in enumerate(setting.trials):
                seen = observed(setting, y, believed, indicator, trials)
                firsts[name][i].append(sums_first(seen, setting.first_window))
                seconds[name][i].append(sums_second(seen, setting.second_window))
    results = {name: np.zeros((len(setting.trials), len(setting.subjects))) for name in FINDINGS}
    for i in range(len(setting.trials)):
        for j, subjects in enumerate(setting.subjects):
            judged = {name: verdicts(firsts[name][i][:subjects], seconds[name][i][:subjects], setting.level) for name in firsts}
            for finding, found in findings_of(judged).items():
                results[finding][i, j] = found
    return list(results.values())


# --- the comparison of learners ------------------------------------------------------------------------------------------


def _comparisons(setting: Setting, ys: list[np.ndarray], seeds: Sequence[Seeds]) -> list[np.ndarray]:
    """For each candidate as the truth: whether it beats every other over people.

    Each person gives a difference of -BIC / 2, and Student's interval over people has to lie above 0 for every rival: people
    differ, so this is a random-effects test. At parameters that people have, and rivals were given, any two learners that differ
    would be told apart: fitted to a person, a rival comes close.
    """
    models, results = setting.models(), []
    for truth in range(len(models)):
        scores = np.array([_scores(setting, models, truth, y, of_person) for y, of_person in zip(ys, seeds, strict=True)])
        wins = np.zeros((len(setting.trials), len(setting.subjects)))
        for i in range(len(setting.trials)):
            ahead = scores[:, i, truth, None] - np.delete(scores[:, i], truth, axis=1)
            for j, subjects in enumerate(setting.subjects):
                wins[i, j] = all(decide(rival[:subjects], setting.level) == 1 for rival in ahead.T)
        results.append(wins)
    return results


def _scores(setting: Setting, models: list[Model], truth: int, y: np.ndarray, seeds: Seeds) -> np.ndarray:
    """trials x candidate: how well each candidate explains the predictions of a person who is the candidate `truth`."""
    given = _predictions_of(setting, models[truth], y, seeds, truth)
    if setting.fit:
        return np.array([[_fitted_score(model, y[:t], given[:t]) for model in setting.fitted_models()] for t in setting.trials])
    ends, scores = np.array(setting.trials), []
    for model, tried in zip(models, setting.tried(), strict=True):
        if tried:
            scores.append(_highest(np.array([_score_of(setting, learner, y, given, ends) for learner in tried])))
        else:  # nobody knows another's random numbers: a learner that samples is many copies, with numbers of their own
            logs = log_likelihoods(*model.make({}), _as_trials(y, given), _keys(seeds[3]))
            scores.append(np.cumsum(logs)[ends - 1] - np.log(ends))
    return np.array(scores).T


def _highest(scores: np.ndarray) -> np.ndarray:
    """The largest of the first axis, which goes over equal steps: of a parabola through the three highest neighbours."""
    best = np.clip(np.argmax(scores, axis=0), 1, max(len(scores) - 2, 1))
    if len(scores) < 3:
        return scores.max(axis=0)
    below, middle, above = (scores[best + k, np.arange(scores.shape[1])] for k in (-1, 0, 1))
    bend = 2.0 * middle - below - above
    peak = middle + np.where(bend > 0.0, (above - below) ** 2 / (8.0 * np.where(bend > 0.0, bend, 1.0)), 0.0)
    inside = np.argmax(scores, axis=0) == best
    return np.where(inside, peak, scores.max(axis=0))


def _score_of(setting: Setting, learner: Learner, y: np.ndarray, given: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """-BIC / 2 of the first trials, with two parameters: a value of the learning parameter, and the noise that suits best."""
    mean = run(learner, y, readouts=("mean",)).mean
    believed = np.concatenate([[setting.environment().family.mu_0], mean[:-1]])
    wrong = np.nan_to_num(given - believed, nan=0.0)  # Leaky knows nothing before the first outcome
    variance = np.maximum(np.cumsum(wrong * wrong)[ends - 1] / ends, 1e-300)
    return -0.5 * ends * (np.log(2.0 * np.pi * variance) + 1.0) - np.log(ends)


def _keys(seed: np.random.SeedSequence) -> list[int]:
    return [generator_key(child) for child in np.random.SeedSequence(seed.generate_state(4).tolist()).spawn(COPIES)]


def _predictions_of(setting: Setting, model: Model, y: np.ndarray, seeds: Seeds, truth: int) -> np.ndarray:
    learner, _ = model.make({})
    mean = run(learner, y, seed=seeds[1], readouts=("mean",)).mean
    noise = np.random.default_rng(np.random.SeedSequence([*seeds[3].generate_state(4), truth])).normal(
        0.0, setting.response_sd(), y.size
    )
    return np.concatenate([[setting.environment().family.mu_0], mean[:-1]]) + noise


def _as_trials(y: np.ndarray, given: np.ndarray) -> Trials:
    return Trials(y, np.full(y.size, OBSERVE, dtype=np.uint8), given, np.ones(y.size, dtype=bool))


def _fitted_score(model: Model, y: np.ndarray, given: np.ndarray) -> float:
    """-BIC / 2."""
    fitted = fit(model, Person("simulated", (_as_trials(y, given),)), STARTS)
    return fitted.log_likelihood - 0.5 * len(fitted.values) * math.log(y.size)


FORMAT = 5  # of the store


class Power(NamedTuple):
    """For each finding, number of trials and number of subjects: how many of the experiments found it.

    share, low, high   finding x trials x subjects; the interval is Wilson's for a binomial share, 95 %
    """

    setting: Setting
    findings: tuple[str, ...]
    repeats: int
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Smallest(NamedTuple):
    """The design with the fewest trials in all (then the fewest subjects) whose share reaches what is wanted."""

    finding: str
    wanted: float
    subjects: int
    trials: int
    share: float
    low: float


def power(
    setting: Setting,
    repeats: int = 200,
    workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Power:
    """Simulate experiments.

    repeats    experiments; the interval of a share shrinks with their square root
    workers    processes; None takes one per core. The numbers are the same whatever the number
    folder     keeps what is done, and a second call goes on from there, with more repeats too
    """
    check(setting)
    if repeats < 1:
        raise ValueError(f"repeats = {repeats!r} is not accepted; it must be a whole number, 1 or more")
    calls = {str(number): (setting, number) for number in range(repeats)}
    with contextlib.ExitStack() as stack:
        store = None if folder is None else stack.enter_context(_store(setting, folder))
        queue = stack.enter_context(Processes(min(worker_count(workers), repeats)))
        results = run_kept(queue, experiment, calls, store, progress)
    counts = np.sum([results[key] for key in calls], axis=0)
    low, high = wilson(counts, repeats)
    return Power(setting, tuple(findings(setting)), repeats, counts / repeats, low, high)


def smallest(result: Power, wanted: float) -> list[Smallest | None]:
    """For each finding; None where no design of the grid reaches it."""
    setting = result.setting
    designs: list[Smallest | None] = []
    pairs = [(i, j) for i in range(len(setting.trials)) for j in range(len(setting.subjects))]
    pairs.sort(key=lambda pair: (setting.trials[pair[0]] * setting.subjects[pair[1]], setting.subjects[pair[1]]))
    for k, name in enumerate(result.findings):
        reached = [(i, j) for i, j in pairs if result.share[k, i, j] >= wanted]
        if not reached:
            designs.append(None)
            continue
        i, j = reached[0]
        shares = (float(result.share[k, i, j]), float(result.low[k, i, j]))
        designs.append(Smallest(name, wanted, setting.subjects[j], setting.trials[i], *shares))
    return designs


def wilson(counts: np.ndarray, n: int, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval of a binomial share."""
    from scipy import stats

    z = float(stats.norm.ppf(0.5 + 0.5 * level))
    share = counts / n
    middle, denominator = share + z * z / (2.0 * n), 1.0 + z * z / n
    reach = z * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    return np.maximum((middle - reach) / denominator, 0.0), np.minimum((middle + reach) / denominator, 1.0)


def _store(setting: Setting, folder: str | os.PathLike[str]) -> Store[np.ndarray]:
    """The experiments of one setting, by their numbers; another setting has another file."""
    shape = (len(findings(setting)), len(setting.trials), len(setting.subjects))
    own = sources.user_digest(*(cls for model in setting.models() for cls in model.classes()))
    return Store(
        pathlib.Path(folder) / f"power-{digest(FORMAT, setting._replace(own=()), own)[:16]}.jsonl",
        sources.digest("volatilis.behaviour.design.experiment"),
        lambda found: {"found": found.astype(int).tolist()},
        lambda entry: np.array(entry["found"], dtype=float).reshape(shape),
    )
