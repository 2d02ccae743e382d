"""Simulated experiments: for every number of people and trials, does the analysis find what is true, and how often?

The people of a smaller design are the first of a larger one, and its trials are their first; so are all designs of one experiment
simulated at once. Experiments are independent of each other. The two predictions are judged as `volatilis predict` does.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from volatilis._core.seeds import generator_key
from volatilis.behaviour.design.setting import Setting, Shown
from volatilis.behaviour.fitting.fit import fit
from volatilis.behaviour.fitting.search import COPIES
from volatilis.behaviour.likelihood import log_likelihoods
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person, Trials
from volatilis.behaviour.situations import NO_NUMBERS
from volatilis.learners._base import Learner
from volatilis.predictions.estimators import (
    ADJUSTED,
    FIRST_LAYOUT,
    SECOND_LAYOUT,
    WindowSums,
    pooled_effects,
    sums_first,
    sums_second,
)
from volatilis.predictions.hypotheses import (
    BAYES_FACTOR,
    CANNOT_BE_TOLD,
    CONFIRMED,
    CONTRADICTED,
    SHANNON,
    decide,
    judge,
    pooled_test,
)
from volatilis.predictions.windows import OutcomeBeliefs, SubjectTrials, believe, first_encounters, previous
from volatilis.running.drivers import OBSERVE
from volatilis.running.run import run

HYPOTHESES = {"S_BF": BAYES_FACTOR, "S_Sh": SHANNON}
NOISE = "noise"
# what an experiment may find, in words
POWERS = {
    "prediction 1, S_BF": "the indicator reflects S_BF: prediction 1 confirms it (difference and slope)",
    "prediction 1, S_Sh": "the indicator reflects S_Sh: prediction 1 confirms it (difference and slope)",
    "prediction 2, S_Sh": "the indicator reflects S_Sh: prediction 2 confirms it (slope)",
}
MISTAKES = {
    "prediction 1, S_BF refused": "the indicator reflects S_BF: prediction 1 contradicts it",
    "prediction 1, S_Sh refused": "the indicator reflects S_Sh: prediction 1 contradicts it",
    "prediction 2, S_BF refused": "the indicator reflects S_BF: prediction 2 finds a slope that is not there",
    "prediction 2, S_Sh refused": "the indicator reflects S_Sh: prediction 2 contradicts it",
    "prediction 1, noise": "the indicator is noise: prediction 1 confirms or contradicts something",
    "prediction 2, noise": "the indicator is noise: prediction 2 confirms or contradicts something",
}
UNTOLD = {
    "prediction 1, no test": "too few trials or people for a test: prediction 1 cannot be told, whatever the indicator reflects",
    "prediction 2, no test": "too few trials or people for a test: prediction 2 cannot be told, whatever the indicator reflects",
}
FINDINGS = POWERS | MISTAKES | UNTOLD
MEASURES = tuple(HYPOTHESES)
CALIBRATION = 20_000  # trials that show how much a measure varies
STARTS = 2  # of a fit
ONE = "one person, "  # before a learner's label
Seeds = list[np.random.SeedSequence]  # of one person: outcomes, learner, indicator, responses
Verdicts = dict[int, dict[str, str]]  # prediction -> hypothesis -> verdict


def findings(setting: Setting) -> list[str]:
    """The names of all findings: those of the predictions, each candidate learner among the others, and for a single person."""
    labels = setting.labels() if len(setting.learners) > 1 else []
    return [*FINDINGS, *(f"learner {label}" for label in labels), *(f"{ONE}{label}" for label in labels)]


def experiment(setting: Setting, number: int) -> np.ndarray:
    """finding x trials x subjects: 1 where it was found, 0 where it was not; of single people, the share of whom it was."""
    setting.load_own()
    people = np.random.SeedSequence([setting.seed, 0, number]).spawn(max(setting.subjects))
    seeds = [person.spawn(4) for person in people]
    shown = [setting.outcomes(of_person[0], max(setting.trials)) for of_person in seeds]
    results = [*_predictions(setting, shown, seeds)]
    if len(setting.learners) > 1:
        results += _comparisons(setting, shown, seeds)
    return np.array(results, dtype=float)


# --- simulated people: what they believe of the outcomes, and an indicator that reflects a surprise, with noise ------------


def measure(believed: OutcomeBeliefs, name: str) -> np.ndarray:
    return believed.bayes_factor if name == "S_BF" else believed.shannon


def observed(
    setting: Setting, shown: Shown, believed: OutcomeBeliefs, indicator: np.ndarray, trials: int | None = None
) -> SubjectTrials:
    """The first trials of a person as the analysis sees them."""
    first, (y, given) = OutcomeBeliefs(*(values[:trials] for values in believed)), shown.first(trials)
    begins = first_encounters(y, np.zeros(y.size, dtype=bool), given)
    return first.trials(y, setting.prior(), indicator[:trials], begins=begins)


def believe_first(setting: Setting, shown: Shown, seed: np.random.SeedSequence) -> OutcomeBeliefs:
    """What the first candidate believes about these outcomes."""
    return believe(setting.first_learner(), shown.y, seed=seed, given=shown.given)


@functools.cache
def noise_of(setting: Setting, name: str) -> float:
    """The standard deviation of the indicator's noise, in units of the measure."""
    seeds = np.random.SeedSequence([setting.seed, 1]).spawn(2)
    shown = setting.random_outcomes(seeds[0], CALIBRATION)
    believed = believe_first(setting, shown, seeds[1])
    values = measure(believed, name)
    chosen = setting.first_window.masks(observed(setting, shown, believed, values)).any(axis=(0, 1))
    if chosen.sum() < 30:
        raise ValueError(
            f"prediction 1 selects {int(chosen.sum())} of {CALIBRATION:,} trials, too few; choose another sigma, p_c or learner"
        )
    return setting.noise * float(values[chosen].std())


# --- the two predictions -------------------------------------------------------------------------------------------------


def _predictions(setting: Setting, people: list[Shown], seeds: Sequence[Seeds]) -> list[np.ndarray]:
    firsts: dict[str, list[list[WindowSums]]] = {name: [[] for _ in setting.trials] for name in (*MEASURES, NOISE)}
    seconds: dict[str, list[list[WindowSums]]] = {name: [[] for _ in setting.trials] for name in (*MEASURES, NOISE)}
    for shown, of_person in zip(people, seeds, strict=True):
        believed = believe_first(setting, shown, of_person[1])
        noise = np.random.default_rng(of_person[2]).standard_normal((len(firsts), shown.y.size))
        for row, name in enumerate(firsts):
            indicator = noise[row] if name == NOISE else measure(believed, name) + noise_of(setting, name) * noise[row]
            for i, trials in enumerate(setting.trials):
                seen = observed(setting, shown, believed, indicator, trials)
                firsts[name][i].append(sums_first(seen, setting.first_window))
                seconds[name][i].append(sums_second(seen, setting.second_window))
    results = {name: np.zeros((len(setting.trials), len(setting.subjects))) for name in FINDINGS}
    for i in range(len(setting.trials)):
        for j, subjects in enumerate(setting.subjects):
            judged = {name: verdicts(firsts[name][i][:subjects], seconds[name][i][:subjects], setting.level) for name in firsts}
            for finding, verdict in findings_of(judged).items():
                results[finding][i, j] = verdict
    return list(results.values())


def verdicts(first: Sequence[WindowSums], second: Sequence[WindowSums], level: float, with_powers: bool = False) -> Verdicts:
    """Those of `volatilis predict`.

    with_powers   False: what needs a power to be "cannot be told" is called undecided or consistent, which takes less time
    """
    results: Verdicts = {}
    for prediction, sums, layout in ((1, first, FIRST_LAYOUT), (2, second, SECOND_LAYOUT)):
        known = np.sum([person.defined for person in sums], axis=0)
        pooled = pooled_effects(sums, layout)
        tests = {
            quantity: pooled_test(effect, int(count), level, None, with_powers=with_powers)
            for (quantity, effect), count in zip(pooled.items(), known, strict=True)
        }
        results[prediction] = {row.hypothesis: row.hypothesis_verdict for row in judge(prediction, ADJUSTED, tests, level)}
    return results


def findings_of(judged: Mapping[str, Verdicts]) -> dict[str, bool]:
    """Finding -> whether it was made, from what each indicator was judged to be."""
    made = {}
    for name, hypothesis in HYPOTHESES.items():
        for prediction in (1, 2):
            word = judged[name][prediction][hypothesis]
            made[f"prediction {prediction}, {name}"] = word == CONFIRMED
            made[f"prediction {prediction}, {name} refused"] = word == CONTRADICTED
    for prediction, words in judged[NOISE].items():
        made[f"prediction {prediction}, noise"] = not {CONFIRMED, CONTRADICTED}.isdisjoint(words.values())
        made[f"prediction {prediction}, no test"] = set(words.values()) == {CANNOT_BE_TOLD}
    return {finding: made[finding] for finding in FINDINGS}


# --- the comparison of learners ------------------------------------------------------------------------------------------


def _comparisons(setting: Setting, people: list[Shown], seeds: Sequence[Seeds]) -> list[np.ndarray]:
    """For each candidate as the truth: whether it beats every other over people; then for how many of them it is the best.

    Each person gives a difference of -BIC / 2, and Student's interval over people has to lie above 0 for every rival: people
    differ, so this is a random-effects test. At parameters that people have, and rivals were given, any two learners that differ
    would be told apart: fitted to a person, a rival comes close.
    """
    models, results, single = setting.models(), [], []
    for truth in range(len(models)):
        scores = np.array([_scores(setting, models, truth, one, of_person) for one, of_person in zip(people, seeds, strict=True)])
        wins, best = np.zeros((2, len(setting.trials), len(setting.subjects)))
        for i in range(len(setting.trials)):
            ahead = scores[:, i, truth, None] - np.delete(scores[:, i], truth, axis=1)
            for j, subjects in enumerate(setting.subjects):
                wins[i, j] = all(decide(rival[:subjects], setting.level) == 1 for rival in ahead.T)
                best[i, j] = np.mean((ahead[:subjects] > 0.0).all(axis=1))
        results.append(wins)
        single.append(best)
    return [*results, *single]


def _scores(setting: Setting, models: list[Model], truth: int, shown: Shown, seeds: Seeds) -> np.ndarray:
    """trials x candidate: how well each candidate explains the predictions of a person who is the candidate `truth`."""
    given = _predictions_of(setting, models[truth], shown, seeds, truth)
    if setting.fit:
        fitted = setting.fitted_models()
        return np.array([[_fitted_score(model, _as_trials(model, shown, given, t)) for model in fitted] for t in setting.trials])
    ends, scores = np.array(setting.trials), []
    for model, tried in zip(models, setting.tried(), strict=True):
        if tried:
            scores.append(_highest(np.array([_score_of(setting, learner, shown, given, ends) for learner in tried])))
        else:  # nobody knows another's random numbers: a learner that samples is many copies, with numbers of their own
            logs = log_likelihoods(*model.make({}), _as_trials(model, shown, given), _keys(seeds[3]))
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


def _score_of(setting: Setting, learner: Learner, shown: Shown, given: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """-BIC / 2 of the first trials, with two parameters: a value of the learning parameter, and the noise that suits best."""
    wrong = given - _expected(setting, learner, shown)
    variance = np.maximum(np.cumsum(wrong * wrong)[ends - 1] / ends, 1e-300)
    return -0.5 * ends * (np.log(2.0 * np.pi * variance) + 1.0) - np.log(ends)


def _expected(setting: Setting, learner: Learner, shown: Shown, seed: int | np.random.SeedSequence = 0) -> np.ndarray:
    """What a learner expects of each outcome before it: the prior mean where it knows nothing, as Leaky at the beginning."""
    middle = setting.prior().mu_0
    means = run(learner, shown.y, seed=seed, readouts=("mean",), given=shown.given).mean.reshape(shown.y.size, -1)
    before = previous(means, np.arange(shown.y.size) == 0, middle)
    of_its_context = before[np.arange(shown.y.size), 0 if shown.given is None else shown.given]
    return np.where(np.isnan(of_its_context), middle, of_its_context)


def _keys(seed: np.random.SeedSequence) -> list[int]:
    return [generator_key(child) for child in np.random.SeedSequence(seed.generate_state(4).tolist()).spawn(COPIES)]


def _predictions_of(setting: Setting, model: Model, shown: Shown, seeds: Seeds, truth: int) -> np.ndarray:
    noise = np.random.default_rng(np.random.SeedSequence([*seeds[3].generate_state(4), truth]))
    expected = _expected(setting, model.make({})[0], shown, seeds[1])
    return expected + noise.normal(0.0, setting.response_sd(), shown.y.size)


def _as_trials(model: Model, shown: Shown, given: np.ndarray, trials: int | None = None) -> Trials:
    """The first of them, for the learner of a model."""
    y, contexts = shown.first(trials)
    values, _ = model.example({})[0].family.observations(y, contexts)
    contexts_of_trials = NO_NUMBERS if contexts is None else contexts.astype(float)
    return Trials(
        values, np.full(y.size, OBSERVE, dtype=np.uint8), given[:trials], np.ones(y.size, dtype=bool), contexts=contexts_of_trials
    )


def _fitted_score(model: Model, trials: Trials) -> float:
    """-BIC / 2."""
    fitted = fit(model, Person("simulated", (trials,)), STARTS)
    return fitted.log_likelihood - 0.5 * len(fitted.values) * math.log(trials.events.size)
