"""What recovery shows: a line per parameter, and in words what can be concluded from these trials and what cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.recovery.recover import RecoveredValue, Recovery

IDENTIFIED = 0.8  # a model is identified if it is the best for at least this share of the people simulated from it
CONFUSED = 0.2  # two models are confused if one is the best for at least this share of the other's people
RECOVERED, WEAK = 0.7, 0.4  # rank correlations from which a parameter is recovered, or at least not lost
SURE = 0.95  # of a protected exceedance probability
SHIFTED = 0.25  # a bias of more than this share of the spread of the truth matters, if it is more than noise
ALIKE = 1e-9  # values that differ by less are one value
DOUBT = 0.01  # a probability below this is not chance
FEW = 20  # simulated people per model, below which shares are rough


class Recovered(NamedTuple):
    """How well one parameter of one model comes back. Correlation, bias and error are on the real line (log, logit).

    spread     of the true values; bias and error are shares of it
    coverage   of the 95 % intervals, among the `intervals` people who have one
    doubtful   people whose true value was itself at a bound or not identified: left out of all these
    flagged    people whose estimate is at its bound or not identified
    """

    model: str
    parameter: str
    people: int
    correlation: float
    rank_correlation: float
    spread: float
    bias: float
    bias_error: float
    coverage: float
    intervals: int
    flagged: int
    doubtful: int


def recovered(recovery: Recovery) -> list[Recovered]:
    """One line per model and continuous parameter."""
    return [
        _recovered(model, parameter, [one for one in recovery.parameters if (one.model, one.parameter) == (model, parameter)])
        for model, parameter in dict.fromkeys((one.model, one.parameter) for one in recovery.parameters)
    ]


def _recovered(model: str, parameter: str, everybody: Sequence[RecoveredValue]) -> Recovered:
    entries = [one for one in everybody if not one.doubtful]
    true, estimated = np.array([one.true_x for one in entries]), np.array([one.found_x for one in entries])
    covered = np.array([one.covered for one in entries])
    has = ~np.isnan(covered)
    apart, spread = estimated - true, float(true.std(ddof=1)) if true.size > 1 else 0.0
    spread = spread if spread > ALIKE * max(float(np.abs(true).max(initial=0.0)), 1.0) else 0.0
    scale = spread or 1.0
    return Recovered(
        *(
            model,
            parameter,
            true.size,
            *_correlations(true, estimated),
            spread,
            float(apart.mean()) / scale if apart.size else np.nan,
        ),
        float(apart.std(ddof=1) / np.sqrt(apart.size)) / scale if apart.size > 1 else np.nan,
        float(covered[has].mean()) if has.any() else np.nan,
        *(int(has.sum()), sum(bool(one.warnings) for one in entries), len(everybody) - len(entries)),
    )


def _correlations(true: np.ndarray, estimated: np.ndarray) -> tuple[float, float]:
    """Pearson's and Spearman's; NaN where one side is constant."""
    from scipy.stats import spearmanr

    if true.size < 3 or min(np.ptp(true), np.ptp(estimated)) <= ALIKE:
        return np.nan, np.nan
    return float(np.corrcoef(true, estimated)[0, 1]), float(spearmanr(true, estimated).statistic)


# --- in words ------------------------------------------------------------------------------------------------------------


def conclusions(recovery: Recovery) -> list[str]:
    """What can be concluded with this data and what cannot, one sentence or two each."""
    return [*_about_models(recovery), *_about_groups(recovery), *(_about_parameter(one) for one in recovered(recovery))]


def thresholds() -> str:
    return (
        f"A model can be identified if it is the best for at least {percent(IDENTIFIED)} of the people simulated from it; two "
        f"models are confused from {percent(CONFUSED)} on. A parameter is recovered if the rank correlation of true and "
        f"estimated values is at least {RECOVERED:g}, weakly if it is at least {WEAK:g}. Intervals are too narrow if their "
        f"coverage has a probability below {DOUBT:g} by chance. A bias is reported if it exceeds {SHIFTED:g} of the spread of "
        "the true values and twice its standard error."
    )


def _about_models(recovery: Recovery) -> Iterator[str]:
    counts, inverse, models = recovery.counts(), recovery.inverse(), recovery.models
    if counts.sum(axis=1).min() < FEW:
        yield f"There are fewer than {FEW} simulated people of some model: the shares below are imprecise."
    for k, model in enumerate(models):
        people = int(counts[k].sum())
        if people == 0:
            yield f"{model}: nobody could be simulated and fitted with all models, so nothing can be concluded."
            continue
        share = counts[k, k] / people
        range_ = _range(int(counts[k, k]), people)
        others = [j for j in np.argsort(-counts[k]) if j != k and counts[k, j] >= CONFUSED * people]
        confused = " and ".join(f"{models[j]} ({percent(counts[k, j] / people)})" for j in others)
        verdict = "can be identified" if share >= IDENTIFIED else "cannot be identified"
        mixed = f"; it is confused with {confused}" if others else ""
        yield f"{model} {verdict} in a single person: it is the best for {percent(share)} of its own people ({range_}){mixed}."
    for j, model in enumerate(models):
        if np.isnan(inverse[j, j]):
            yield f"{model} is never the best, whichever model is true."
        elif inverse[j, j] < IDENTIFIED:
            k = max((k for k in range(len(models)) if k != j), key=lambda k: inverse[k, j])
            yield (
                f"If {model} is the best for a person, it is the true model with a probability of {percent(inverse[j, j])} only, "
                f"and {models[k]} is with {percent(inverse[k, j])} (all models equally likely beforehand)."
            )


def percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


def _range(count: int, people: int) -> str:
    from scipy.stats import binomtest

    ends = binomtest(count, people).proportion_ci(method="wilson")
    return f"95 % interval: {percent(ends.low)} to {percent(ends.high)}"


def _about_groups(recovery: Recovery) -> Iterator[str]:
    protected, size, groups = recovery.group_choice()
    mean = "" if groups == 1 else f", on average over {groups} groups"
    sure = [model for k, model in enumerate(recovery.models) if protected[k, k] >= SURE]
    if sure:
        who = f"In a group of {size} people who all follow one model, these models are identified"
        yield f"{who} (protected exceedance {SURE:g} or more{mean}): {', '.join(sure)}."
    for k, model in enumerate(recovery.models):
        if protected[k, k] < SURE:
            j = int(protected[k].argmax())
            instead = "" if j == k else f"; {recovery.models[j]} has {protected[k, j]:.3f}"
            value = f"protected exceedance {protected[k, k]:.3f}{mean}{instead}"
            yield f"In a group of {size} people who all follow {model}, it may not be identified: {value}."


def _about_parameter(one: Recovered) -> str:
    name = f"{one.parameter} of {one.model}"
    parts = []
    if one.spread == 0.0:
        parts.append("has only one true value: whether differences between people are recovered is unknown")
    elif np.isnan(one.rank_correlation):
        parts.append(f"cannot be judged: {one.people} simulated people, or estimates that are all the same")
    elif one.rank_correlation >= RECOVERED:
        parts.append(f"is recovered ({_correlation(one)})")
    elif one.rank_correlation >= WEAK:
        parts.append(f"is recovered weakly ({_correlation(one)}): do not interpret single people's values")
    else:
        parts.append(f"is not recovered ({_correlation(one)}): do not interpret it")
    if abs(one.bias) > max(SHIFTED, 2.0 * one.bias_error) and one.spread > 0.0:
        parts.append(
            f"is {'over' if one.bias > 0.0 else 'under'}estimated by {abs(one.bias):.2f} of its spread, on its search scale"
        )
    if one.intervals and _too_narrow(one):
        parts.append(f"its 95 % intervals are too narrow: they contain the true value in {percent(one.coverage)} of people")
    if one.flagged:
        parts.append(f"{one.flagged} of {one.people} estimates are at a bound or not identified")
    if one.doubtful:
        parts.append(f"left out: {one.doubtful} whose true value was at a bound or not identified")
    return f"{name} {'; '.join(parts)}."


def _correlation(one: Recovered) -> str:
    few = f" of only {one.people} people, imprecise" if one.people < FEW else ""
    return f"rank correlation {one.rank_correlation:.2f}{few}"


def _too_narrow(one: Recovered) -> bool:
    from scipy.stats import binomtest

    return bool(binomtest(round(one.coverage * one.intervals), one.intervals, 0.95, alternative="less").pvalue < DOUBT)
