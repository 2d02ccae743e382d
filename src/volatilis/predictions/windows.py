"""Trials as the two predictions see them, and which of them count as alike (paper, Methods, Experimental predictions).

The paper's prior is N(0, 1). Outcomes with a prior N(mu_0, sigma_0^2) are brought there: (y - mu_0) / sigma_0, and densities
times sigma_0. So all lengths are in prior standard deviations, and the paper's windows mean the same for every Gaussian task.

The sign bias is s = sign(error x prediction). s = +1 is an outcome further from the prior mean than the prediction: the
prediction was too small in absolute value, an underestimation (errata 6).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from volatilis.families import Gaussian, Given
from volatilis.families._base import Family
from volatilis.families._kinds import RECORDS
from volatilis.learners._base import Learner
from volatilis.running.run import run
from volatilis.running.steps import defined_readouts

SIGNS, SIDES = (1, -1), ("before", "after")
ERRORS = tuple(k / 10 for k in range(1, 11))  # the paper's, but for 0, where the signs mean nothing
PROBABILITIES = tuple(k / 40 for k in range(1, 17))
LARGEST = 300.0  # log of S_BF: its square is still a double
FIRST_TRIALS = {"text": True, "published": False}  # prediction 2: as in the paper's text, and as in the published code
MIDDLE = (0.1, 0.9)  # the share of a person's own confidence reports that count where no window is given


# --- trials --------------------------------------------------------------------------------------------------------------


class SubjectTrials(NamedTuple):
    """Arrays over the trials of one person, real or simulated; NaN where something is not known.

    indicator        what was measured while the outcome was seen
    prediction       of the outcome, before it, from the prior mean on, in prior standard deviations
    error            outcome - prediction, in prior standard deviations
    before, after    how uncertain the person was before and after the outcome: the standard deviation of the learner's belief in
                     prior standard deviations or, where `reported`, the confidence in its own units
    p, p_0           the outcome's density under the belief and under the prior, times sigma_0; NaN without a learner
    reported         whether `before` and `after` are the person's own confidence
    begins           where the belief is the prior: a block begins, or a context is seen for the first time in it; None: at the
                     first trial only
    shannon          the outcome's Shannon surprise, in nats; None: not known
    """

    name: str
    indicator: np.ndarray
    prediction: np.ndarray
    error: np.ndarray
    before: np.ndarray
    after: np.ndarray
    p: np.ndarray
    p_0: np.ndarray
    reported: bool = False
    begins: np.ndarray | None = None
    shannon: np.ndarray | None = None

    @property
    def missing(self) -> int:
        """Trials without an indicator."""
        return int(np.isnan(self.indicator).sum())

    def later(self) -> np.ndarray:
        """The trials that are not the first of a block."""
        return np.arange(self.indicator.size) > 0 if self.begins is None else ~self.begins

    def bayes_factor(self) -> np.ndarray:
        """S_BF, within the bounds of a double's square; 0 where it is not known."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(np.exp(np.clip(np.log(self.p_0) - np.log(self.p), None, LARGEST)))

    def shannon_surprise(self) -> np.ndarray:
        """S_Sh; 0 where it is not known."""
        return np.zeros(self.indicator.size) if self.shannon is None else np.nan_to_num(self.shannon, posinf=LARGEST)

    def with_predictions(self, prediction: np.ndarray, y: np.ndarray, prior: Gaussian) -> SubjectTrials:
        """The same with other predictions of the outcomes y, both in the units of the outcomes."""
        scaled = (prediction - prior.mu_0) / prior.sigma_0
        return self._replace(prediction=scaled, error=(y - prior.mu_0) / prior.sigma_0 - scaled)


class OutcomeBeliefs(NamedTuple):
    """What a learner believes about each outcome of a sequence, in the units of the outcomes; with contexts, about its context.

    mean                         of the belief before the outcome
    before, after                standard deviation of the belief before and after the outcome
    p, p_0                       the outcome's density under the belief before it and under the prior
    log_bayes_factor, shannon    the outcome's surprise, in nats
    """

    mean: np.ndarray
    before: np.ndarray
    after: np.ndarray
    p: np.ndarray
    p_0: np.ndarray
    log_bayes_factor: np.ndarray
    shannon: np.ndarray

    @property
    def bayes_factor(self) -> np.ndarray:
        """The Bayes Factor Surprise; infinite where a double cannot hold it."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_bayes_factor)

    def trials(
        self, y: np.ndarray, prior: Gaussian, indicator: np.ndarray, name: str = "", begins: np.ndarray | None = None
    ) -> SubjectTrials:
        """The trials of someone who believes this, in units of the prior; `begins` as in `SubjectTrials`."""
        scale = prior.sigma_0
        spreads, densities = (self.before / scale, self.after / scale), (self.p * scale, self.p_0 * scale)
        trials = SubjectTrials(name, indicator, self.mean, self.mean, *spreads, *densities, begins=begins, shannon=self.shannon)
        return trials.with_predictions(self.mean, y, prior)


def believe(
    learner: Learner,
    y: np.ndarray,
    begins: np.ndarray | None = None,
    missing: str = "error",
    seed: int | np.random.SeedSequence = 0,
    given: np.ndarray | None = None,
) -> OutcomeBeliefs:
    """Run a learner over outcomes, each in its context if `given`; blocks begin at the first and where `begins` is true."""
    check_belief(learner)
    starts = np.zeros(y.size, dtype=bool) if begins is None else begins.copy()
    family = gaussian_within(learner.family)
    trace = run(learner, y, seed=seed, reset=starts, missing=missing, given=given)
    surprises = (trace.log_bayes_factor_surprise, trace.shannon_surprise)
    return beliefs_from(family, y, trace.mean, trace.variance, *surprises, starts, given)


def beliefs_from(
    family: Gaussian,
    y: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    log_bayes_factor: np.ndarray,
    shannon: np.ndarray,
    begins: np.ndarray | None = None,
    given: np.ndarray | None = None,
) -> OutcomeBeliefs:
    """From what a learner reads out after each of the outcomes y of this family; with contexts, means and variances of all."""
    from scipy import stats

    starts = first_encounters(y, np.zeros(y.size, dtype=bool) if begins is None else begins, None)
    of_context = (np.arange(y.size), np.zeros(y.size, dtype=int) if given is None else np.nan_to_num(given).astype(int))
    means, deviations = mean.reshape(y.size, -1), np.sqrt(variance).reshape(y.size, -1)
    log_p_0 = stats.norm.logpdf(y, family.mu_0, math.hypot(family.sigma, family.sigma_0))
    with np.errstate(over="ignore"):
        p = np.exp(log_p_0 - log_bayes_factor)
    before = (previous(means, starts, family.mu_0)[of_context], previous(deviations, starts, family.sigma_0)[of_context])
    return OutcomeBeliefs(*before, deviations[of_context], p, np.exp(log_p_0), log_bayes_factor, shannon)


def previous(values: np.ndarray, begins: np.ndarray, first: float) -> np.ndarray:
    """From after each outcome to before it; a block begins with `first`."""
    shifted = np.concatenate([np.full_like(values[:1], first), values[:-1]])
    return np.where(begins.reshape(-1, *[1] * (values.ndim - 1)), first, shifted)


def first_encounters(y: np.ndarray, begins: np.ndarray, given: np.ndarray | None) -> np.ndarray:
    """Where the belief is the prior: a block begins, or it has the first outcome of a context."""
    starts = begins.copy()
    starts[:1] = True
    if given is not None:
        known = np.flatnonzero(~np.isnan(y))
        _, places = np.unique(np.stack([np.cumsum(starts)[known], given[known]]), axis=1, return_index=True)
        starts[known[places]] = True
    return starts


def check_belief(learner: Learner) -> None:
    """Refuse a learner without a belief, since trials are selected by what it believes."""
    if "log_bayes_factor_surprise" not in defined_readouts(learner):
        raise ValueError(f"{type(learner).__name__} has no belief, only an estimate: it has no surprise to select trials by")


def gaussian_within(family: Family) -> Gaussian:
    """The family itself, or that of its contexts; ValueError where it is not Gaussian."""
    inner = family.family if isinstance(family, Given) else family
    if not isinstance(inner, Gaussian):
        raise ValueError(why_gaussian(RECORDS[type(inner)].name))
    return inner


def why_gaussian(name: str) -> str:
    """Why another family than the Gaussian is refused."""
    why = "the predictions compare outcomes on the two sides of an estimate, and their proof is for a Gaussian prior of the mean"
    accepted = "gaussian:sigma=...,mu_0=...,sigma_0=... and, with contexts, 'given:gaussian:...;contexts=...' are"
    return f"the family {name!r} is not accepted: {why}; {accepted}"


# --- windows -------------------------------------------------------------------------------------------------------------


class FirstWindow(NamedTuple):
    """Trials of prediction 1 with about the same absolute prediction, absolute error and confidence.

    The first trial of a block is left out, as in the paper.

    prediction, prediction_width   of the absolute prediction
    spread, spread_width           of the standard deviation of the belief, where a learner tells it
    confidence                     lowest and highest confidence where it was reported; None: the middle 80 % of a person's own
    side                           whether confidence before the outcome counts, or after it. The proof in the paper's Methods
                                   needs the belief that the outcome met, which is before; its text says after, where confidence
                                   has already taken in the surprise (errata 7). With the paper's window the two hardly differ
    errors, error_width            absolute errors at which trials are compared
    least                          trials that a person's average must rest on
    """

    prediction: float = 1.0
    prediction_width: float = 0.25
    spread: float = 0.5
    spread_width: float = 1.0
    confidence: tuple[float, float] | None = None
    side: str = "before"
    errors: tuple[float, ...] = ERRORS
    error_width: float = 0.1
    least: int = 1

    def masks(self, trials: SubjectTrials) -> np.ndarray:
        """sign x error x trial."""
        alike = self.alike(trials)
        close = [np.abs(np.abs(trials.error) - error) < self.error_width for error in self.errors]
        with np.errstate(invalid="ignore"):
            bias = np.sign(trials.error * trials.prediction)
        return np.array([[alike & near & (bias == sign) for near in close] for sign in SIGNS])

    def alike(self, trials: SubjectTrials) -> np.ndarray:
        """Later trials with an indicator, and prediction and confidence in their windows, whatever the error."""
        near = np.abs(np.abs(trials.prediction) - self.prediction) < self.prediction_width
        return self._as_sure(trials) & near & trials.later() & ~np.isnan(trials.indicator)

    def _as_sure(self, trials: SubjectTrials) -> np.ndarray:
        values = self.uncertainty(trials)
        if not trials.reported:
            return np.abs(values - self.spread) < self.spread_width
        if np.isnan(values).all():
            return np.zeros(values.size, dtype=bool)
        low, high = np.nanquantile(values, MIDDLE) if self.confidence is None else self.confidence
        return (values >= low) & (values <= high)

    def uncertainty(self, trials: SubjectTrials) -> np.ndarray:
        """The uncertainty, or the reported confidence, on the window's side of the outcome."""
        return trials.before if self.side == "before" else trials.after


class SecondWindow(NamedTuple):
    """Trials of prediction 2, whose outcome has nearly the density p under the belief and under the prior.

    first_trials   whether the first trial of a block counts (FIRST_TRIALS has the two ways by name). S_BF is 1 there by
                   definition, so it belongs to these trials: the paper's text has it. The authors' code leaves it out (errata 15)
    """

    p: tuple[float, ...] = PROBABILITIES
    p_width: float = 0.0125
    least: int = 1
    first_trials: bool = True

    def masks(self, trials: SubjectTrials) -> np.ndarray:
        """p x trial."""
        counts = ~np.isnan(trials.indicator)
        if not self.first_trials:
            counts &= trials.later()
        near = [(np.abs(trials.p - p) < self.p_width) & (np.abs(trials.p_0 - p) < self.p_width) for p in self.p]
        return counts & np.array(near)


def check_windows(first: FirstWindow, second: SecondWindow) -> None:
    """Refuse windows that no trial can be in, and windows that no slope can be computed from."""
    check_selection(first, second)
    if len(first.errors) < 2 or min(first.errors) <= 0.0:
        raise ValueError("prediction 1 needs two or more absolute errors, all above 0")
    if len(second.p) and second.p_width >= min(second.p):
        why = "its window would hold outcomes that the belief holds to be impossible, whose Bayes Factor Surprise has no bound"
        raise ValueError(f"p_width = {second.p_width:g} is not below the smallest probability, {min(second.p):g}: {why}")
    if len(second.p) < 2 or min(second.p) <= 0.0:
        raise ValueError("prediction 2 needs two or more probabilities, all above 0")


def check_selection(first: FirstWindow, second: SecondWindow) -> None:
    """Refuse windows that no trial can be in."""
    for name, width in (
        ("prediction_width", first.prediction_width),
        ("spread_width", first.spread_width),
        ("error_width", first.error_width),
        ("p_width", second.p_width),
    ):
        if not (math.isfinite(width) and width > 0.0):
            raise ValueError(f"{name} = {width!r} is not accepted; a window's width is a number above 0")
    if first.side not in SIDES:
        raise ValueError(f"side = {first.side!r} is not accepted; confidence is taken before or after the outcome")
    if first.confidence is not None and not first.confidence[0] <= first.confidence[1]:
        raise ValueError(f"the confidence window {first.confidence[0]:g} to {first.confidence[1]:g} is empty")
    if min(first.least, second.least) < 1:
        raise ValueError("an average rests on one trial at least")
