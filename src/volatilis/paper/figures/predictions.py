"""The two experimental predictions (paper, Figures 10 and 11, Tables 1 and 2): which surprise does an indicator reflect?

Simulated subjects learn the mean of Gaussian observations. Trials are selected by what an experimenter would know about them, and
both surprises are averaged over the selected trials: first within a subject, then over subjects.

Every quantity comes in two variants (errata 6 to 8 and 15):

right       as the paper's text and formulas mean it: prediction 1 selects on the standard deviation of the belief after the
            observation; prediction 2 takes all trials; Nas12* assumes its tuned p_c; surprises are in nats
published   as the authors' code does it: prediction 1 selects on the variance before the observation, which for pf20 takes
            sigma / nu for sigma^2 / nu; prediction 2 leaves out the first trial, where S_BF is 1 by definition; the Shannon
            surprise is a logarithm to base 10. Nas12* assumes the true p_c: the text says the tuned one, but the published
            numbers fit the true one better (inferred from them, not read in code)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis._core.seeds import seed_sequence
from volatilis.environments import ChangingEnvironment
from volatilis.experiments.tuning import tune
from volatilis.families import Gaussian
from volatilis.learners import Nas12Star, ParticleFilter
from volatilis.paper.published.code import search_grid
from volatilis.predictions.estimators import PAPER, estimate_first, estimate_second, mean_and_error, sums_first, sums_second
from volatilis.predictions.windows import ERRORS, FIRST_TRIALS, SIGNS, FirstWindow, SecondWindow, SubjectTrials, beliefs_from
from volatilis.running import Stream, run_many

if TYPE_CHECKING:
    import xarray as xr

VARIANTS = ("right", "published")
LEARNERS = ("Nas12*", "pf20")
MEASURES = ("bayes_factor", "shannon")
DELTAS = (0.0, *ERRORS)  # Figure 10 begins at an error of 0
# The side of the outcome that prediction 1 selects on: after it, as the text has it; in the published variant before it, where
# the records hold what the authors' code takes for the spread
SIDES = {"right": "after", "published": "before"}
SECOND_TRIALS = {"right": "text", "published": "published"}  # whether prediction 2 counts a subject's first trial
FLAT = 1000.0  # sigma_0 of a learner that as good as does not use its prior

Variables = dict[str, tuple[tuple[str, ...], np.ndarray]]
Averages = Callable[[Sequence[SubjectTrials], str], np.ndarray]  # of subjects in windows, and of a variant


class Subject(NamedTuple):
    """One simulated subject as one variant saves it: what selects its trials, and their surprises."""

    trials: SubjectTrials
    bayes_factor: np.ndarray
    shannon: np.ndarray

    def reflecting(self, measure: str) -> SubjectTrials:
        """Its trials, with an indicator that is one of the surprises."""
        return self.trials._replace(indicator=self.bayes_factor if measure == "bayes_factor" else self.shannon)


# --- the two simulations -----------------------------------------------------------------------------------------------


def simulate_first(
    subjects: int = 20,
    trials: int = 500,
    seed: int = 0,
    sigma: float = 0.5,
    p_c: float = 0.1,
    window: FirstWindow | None = None,
    nas12_p_c: float | None = None,
) -> xr.Dataset:
    """Prediction 1: average surprises against the absolute prediction error, for both sign biases.

    The sign bias is s = sign(delta * prediction): +1 where the prediction was too small in absolute value (errata 6).
    Variables named control_... are of the same learners with a nearly flat prior (sigma_0 = 1000), for the third row of Table 1.

    window      the paper's if not given; each variant has its own side of the outcome
    nas12_p_c   the p_c that Nas12* assumes in the right variant; None tunes it as in the paper
    """
    setting = _Setting(subjects, trials, seed, sigma, p_c, nas12_p_c)
    window = window or FirstWindow(errors=DELTAS)

    def averages(people: Sequence[SubjectTrials], variant: str) -> np.ndarray:
        of_variant = window._replace(side=SIDES[variant])
        return estimate_first([sums_first(trials, of_variant) for trials in people], of_variant)[PAPER].means

    variables: Variables = {}
    for prefix, sigma_0 in (("", 1.0), ("control_", FLAT)):
        variables |= _variables(prefix, setting.run(sigma_0), averages, ("variant", "learner", "sign", "delta"))
    widths = {"theta": window.prediction, "theta_width": window.prediction_width, "delta_width": window.error_width}
    widths |= {"spread": window.spread, "spread_width": window.spread_width}
    coordinates: dict[str, Sequence[float]] = {"sign": SIGNS, "delta": window.errors}
    return _dataset(variables, coordinates, setting.attributes() | {"prediction": 1} | widths)


def simulate_second(
    subjects: int = 20,
    trials: int = 500,
    seed: int = 0,
    sigma: float = 0.5,
    p_c: float = 0.1,
    window: SecondWindow | None = None,
    nas12_p_c: float | None = None,
) -> xr.Dataset:
    """Prediction 2: average surprises over trials where belief and prior give the observation nearly the same probability p.

    window   the paper's if not given; each variant counts a subject's first trial in its own way (`FIRST_TRIALS`)
    """
    setting = _Setting(subjects, trials, seed, sigma, p_c, nas12_p_c)
    window = window or SecondWindow()

    def averages(people: Sequence[SubjectTrials], variant: str) -> np.ndarray:
        of_variant = window._replace(first_trials=FIRST_TRIALS[SECOND_TRIALS[variant]])
        return estimate_second([sums_second(trials, of_variant) for trials in people], of_variant)[PAPER].means

    variables = _variables("", setting.run(1.0), averages, ("variant", "learner", "p"))
    attributes = setting.attributes() | {"prediction": 2, "p_width": window.p_width}
    return _dataset(variables, {"p": window.p}, attributes)


# --- the subjects ------------------------------------------------------------------------------------------------------


class _Setting:
    """The subjects' world and sequences, which all learners share."""

    def __init__(self, subjects: int, trials: int, seed: int, sigma: float, p_c: float, nas12_p_c: float | None) -> None:
        for name, count in (("subjects", subjects), ("trials", trials)):
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
                raise ValueError(f"{name} = {count!r} is not accepted; it must be a whole number, 1 or more")
        self._prior, self._p_c = Gaussian(sigma), p_c
        self._seed, self._shape = seed, (subjects, trials)
        world = ChangingEnvironment(self._prior, p_c)
        worlds, self._learning = seed_sequence(seed).spawn(2)
        self._ys = np.array([world.sample(trials, child).y for child in worlds.spawn(subjects)])
        if nas12_p_c is None:
            nas12_p_c = tune(Nas12Star, world, grid=search_grid(Nas12Star)).value
        self._nas12_p_c = nas12_p_c

    def attributes(self) -> dict[str, float]:
        subjects, trials = self._shape
        numbers = {"sigma": self._prior.sigma, "p_c": self._p_c, "nas12_p_c": self._nas12_p_c}
        return {"subjects": subjects, "trials": trials, "seed": int(self._seed)} | numbers

    def run(self, sigma_0: float) -> list[list[list[Subject]]]:
        """variant x learner x subject. The learners assume a prior of this sigma_0; the world's is 1."""
        family = Gaussian(self._prior.sigma, 0.0, sigma_0)
        filtering = ParticleFilter(family, self._p_c, n=20)
        right, published = Nas12Star(family, self._nas12_p_c), Nas12Star(family, self._p_c)
        return [
            [self._right(learner) for learner in (right, filtering)],
            [self._published(learner) for learner in (published, filtering)],
        ]

    def _right(self, learner: Nas12Star | ParticleFilter) -> list[Subject]:
        subjects = []
        for y, trace in zip(self._ys, run_many(learner, self._ys, seed=self._learning), strict=True):
            surprises = (trace.log_bayes_factor_surprise, trace.shannon_surprise)
            beliefs = beliefs_from(learner.family, y, trace.mean, trace.variance, *surprises)
            trials = beliefs.trials(y, self._prior, beliefs.shannon)
            subjects.append(Subject(trials, beliefs.bayes_factor, beliefs.shannon))
        return subjects

    def _published(self, learner: Nas12Star | ParticleFilter) -> list[Subject]:
        """What the authors' code saves: a variance for the spread before each observation, and surprises to base 10."""
        subjects = []
        for (trials, bayes_factor, shannon), excess in zip(self._right(learner), self._excess(learner), strict=True):
            variance = trials._replace(before=trials.before**2 + excess)
            subjects.append(Subject(variance, bayes_factor, shannon / math.log(10.0)))
        return subjects

    def _excess(self, learner: Nas12Star | ParticleFilter) -> np.ndarray:
        """What the published variance before each observation has too much: sigma / nu - sigma^2 / nu, averaged over particles.

        nu = rho + the observations since the particle's last change, rho = sigma^2 / sigma_0^2. A Stream with the seed that
        run_many gives a sequence goes through the same states.
        """
        excess, sigma = np.zeros(self._shape), learner.family.sigma
        if not isinstance(learner, ParticleFilter):
            return excess
        rho = (sigma / learner.family.sigma_0) ** 2
        for i, child in enumerate(seed_sequence(self._learning).spawn(len(self._ys))):
            stream = Stream(learner, seed=child)
            for t, y in enumerate(self._ys[i]):
                belief = stream.belief
                excess[i, t] = (sigma - sigma**2) * np.sum(belief.weights / (rho + belief.run_lengths))
                stream.update(float(y))
        return excess


# --- averages ----------------------------------------------------------------------------------------------------------


def _variables(prefix: str, saved: list[list[list[Subject]]], averages: Averages, dims: tuple[str, ...]) -> Variables:
    """Averages over subjects, their standard errors, and the subjects' own averages."""
    variables: Variables = {}
    for measure in MEASURES:
        nested = [
            [averages([subject.reflecting(measure) for subject in subjects], variant) for subjects in row]
            for variant, row in zip(VARIANTS, saved, strict=True)
        ]
        of_subjects: np.ndarray = np.moveaxis(np.array(nested), 2, -1)  # variant x learner x ... x subject
        mean, error = mean_and_error(of_subjects)
        variables[f"{prefix}{measure}"], variables[f"{prefix}{measure}_se"] = (dims, mean), (dims, error)
        variables[f"{prefix}{measure}_by_subject"] = ((*dims, "subject"), of_subjects)
        variables[f"{prefix}subjects"] = (dims, np.sum(~np.isnan(of_subjects), axis=-1))
    return variables


def _dataset(variables: Variables, coordinates: Mapping[str, Sequence[float]], attributes: dict[str, float]) -> xr.Dataset:
    import xarray as xr

    names = {"variant": list(VARIANTS), "learner": list(LEARNERS)}
    return xr.Dataset(variables, names | {name: list(values) for name, values in coordinates.items()}, attributes)
