"""The trials that the paper's two predictions compare, for this sequence of outcomes, with their numbers.

Prediction 1: trials that are alike in how far the prediction was from the prior mean, in the size of its error and in the
confidence, but differ in the sign bias s = sign(error x (prediction - mu_0)): +1 where the prediction was too near to the prior
mean, so that the outcome is farther out (errata 6). S_BF is smaller at s = +1, the Shannon surprise larger.

    | |prediction - mu_0| - theta | < theta_width,   | |error| - delta | < delta_width,   | spread - its middle | < its width

with the standard deviation of the belief after the outcome as the spread (errata 7). The first trial of a block is left out.

Prediction 2: trials whose outcome has nearly the same probability p under the belief before it and under the prior. S_BF is 1
there whatever p is; the Shannon surprise is -log p.

    |P(y; pi) - p| < p_width   and   |P(y; pi_0) - p| < p_width

The paper has mu_0 = 0 and sigma_0 = 1. Here everything is measured from mu_0 in units of sigma_0, so its windows apply to any
Gaussian task. Windows overlap: a trial may count for two values of delta, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis.families import Gaussian
from volatilis.separation.rows import Rows

SIGNS = (1, -1)
DELTAS = tuple(k / 10 for k in range(11))
PROBABILITIES = tuple(k / 40 for k in range(1, 17))


class Window(NamedTuple):
    """Which trials count as alike, in units of sigma_0; the paper's. Confidence has units of its own: its middle and width, or
    None for median and standard deviation."""

    theta: float = 1.0
    theta_width: float = 0.25
    spread: float = 0.5
    spread_width: float = 1.0
    delta_width: float = 0.1
    p_width: float = 0.0125
    confidence: tuple[float, float] | None = None


class Selected(NamedTuple):
    """The trials for one value `at` of delta (prediction 1, with the sign bias) or of p (prediction 2, sign 0).

    `runs` have at least one. The averages are of the learner's surprise over all of them; NaN where there is none.
    """

    label: str
    prediction: int
    sign: int
    at: float
    trials: int
    runs: int
    bayes_factor: float
    shannon: float


class Unselected(NamedTuple):
    """A learner for which the predictions are not defined, and why."""

    label: str
    reason: str


class Trials(NamedTuple):
    """What the selections look at, from the prior mean in units of sigma_0; one number per row of the table."""

    prediction: np.ndarray
    error: np.ndarray
    spread: np.ndarray  # or the person's confidence, in its own units
    p: np.ndarray
    p_0: np.ndarray
    bayes_factor: np.ndarray
    shannon: np.ndarray
    later: np.ndarray  # not the first of a block
    run: np.ndarray


def why_not(learner: Any) -> str | None:
    """Why the predictions are not defined for a learner, or nothing."""
    if "gamma" not in learner._readouts:
        return "it has no belief, so no surprise"
    if not isinstance(learner.family, Gaussian):
        name = type(learner.family).__name__
        return (
            "the predictions are about Gaussian outcomes: an outcome must be able to lie beyond the prediction or between it and "
            f"the prior mean, and outcomes must differ in their probability under the prior; the family is {name}"
        )
    return None


def make_trials(
    measures: Mapping[str, np.ndarray],
    rows: Rows,
    outcome: np.ndarray,
    families: Sequence[Gaussian],
    prediction: np.ndarray | None = None,
    confidence: np.ndarray | None = None,
) -> Trials:
    """Of one learner: its measures by name, and the family that it has in each run. `prediction`, made before the outcome, and
    `confidence`, stated after it, are a person's own and take the place of the learner's."""
    from scipy import stats

    mu_0, sigma_0, sigma = (
        np.array([getattr(family, name) for family in families])[rows.run] for name in ("mu_0", "sigma_0", "sigma")
    )
    believed = rows.before(measures["mean"], mu_0) if prediction is None else prediction
    log_factor = measures["log_bayes_factor_surprise"]
    log_p_0 = stats.norm.logpdf((outcome - mu_0) / sigma_0, 0.0, np.hypot(1.0, sigma / sigma_0))
    with np.errstate(over="ignore"):
        p, factor = np.exp(log_p_0 - log_factor), np.exp(log_factor)
    return Trials(
        prediction=(believed - mu_0) / sigma_0,
        error=(outcome - believed) / sigma_0,
        spread=np.sqrt(measures["variance"]) / sigma_0 if confidence is None else confidence,
        p=p,
        p_0=np.exp(log_p_0),
        bayes_factor=factor,
        shannon=measures["shannon_surprise"],
        later=rows.step > 1,
        run=rows.run,
    )


def spread_window(trials: Trials, window: Window, own_confidence: bool) -> tuple[float, float]:
    """Middle and width of what prediction 1 takes for the same confidence."""
    if not own_confidence:
        return window.spread, window.spread_width
    if window.confidence is not None:
        return window.confidence
    there = trials.spread[~np.isnan(trials.spread)]
    if there.size == 0 or there.std() == 0.0:
        return (float(there[0]), 1.0) if there.size else (0.0, 1.0)
    return float(np.median(there)), float(there.std())


def first_selection(
    label: str, trials: Trials, window: Window, spread: tuple[float, float], deltas: Sequence[float] = DELTAS
) -> list[Selected]:
    """Prediction 1, per delta and sign bias."""
    with np.errstate(invalid="ignore"):  # what is missing is never close
        alike = trials.later & (np.abs(np.abs(trials.prediction) - window.theta) < window.theta_width)
        alike &= np.abs(trials.spread - spread[0]) < spread[1]
        bias = np.sign(trials.error * trials.prediction)
        close = {delta: alike & (np.abs(np.abs(trials.error) - delta) < window.delta_width) for delta in deltas}
    return [_selected(label, 1, sign, delta, mask & (bias == sign), trials) for delta, mask in close.items() for sign in SIGNS]


def second_selection(
    label: str, trials: Trials, window: Window, probabilities: Sequence[float] = PROBABILITIES
) -> list[Selected]:
    """Prediction 2, per p."""
    with np.errstate(invalid="ignore"):
        masks = [(np.abs(trials.p - p) < window.p_width) & (np.abs(trials.p_0 - p) < window.p_width) for p in probabilities]
    return [_selected(label, 2, 0, p, mask, trials) for p, mask in zip(probabilities, masks, strict=True)]


def _selected(label: str, prediction: int, sign: int, at: float, mask: np.ndarray, trials: Trials) -> Selected:
    count, runs = int(mask.sum()), len(np.unique(trials.run[mask]))
    means = [float(values[mask].mean()) if count else float("nan") for values in (trials.bayes_factor, trials.shannon)]
    return Selected(label, prediction, sign, at, count, runs, *means)


def parse_window(texts: Sequence[str]) -> Window:
    """From theta=1:0.25 (middle and width), spread=0.5:1, confidence=3:1, delta=0.1 and p=0.0125 (widths)."""
    window = Window()
    for text in texts:
        name, _, value = text.partition("=")
        try:
            numbers = [float(part) for part in value.split(":")]
        except ValueError:
            numbers = []
        pair, single = name in ("theta", "spread", "confidence"), name in ("delta", "p")
        if len(numbers) != (2 if pair else 1 if single else -1) or not np.isfinite(numbers).all() or not numbers[-1] > 0.0:
            raise ValueError(
                f"--window {text}: not accepted; theta=MIDDLE:WIDTH, spread=MIDDLE:WIDTH, confidence=MIDDLE:WIDTH, "
                "delta=WIDTH and p=WIDTH are, with a width above 0"
            )
        if name == "confidence":
            window = window._replace(confidence=(numbers[0], numbers[1]))
        elif pair:
            window = Window(**(window._asdict() | {name: numbers[0], f"{name}_width": numbers[1]}))
        else:
            window = Window(**(window._asdict() | {f"{name}_width": numbers[0]}))
    return window
