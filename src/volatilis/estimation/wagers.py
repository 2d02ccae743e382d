"""Would outliers, or a trend, predict the observations much better? Wagers against a Gaussian model whose errors look right.

A model with many changes takes each outlier for one, and a trend for a flight of steps; its one-step errors then hardly show it.
So alternatives that are fixed before anything was seen, and weighted, bet on the observations:

    E = sum_k w_k P(observations | alternative k) / P(observations | model)

On data from the model E is 1 on average, so that it exceeds 1 / alpha with probability alpha at most (Markov; Ville 1939). It has
no unknown law that would have to hold. Parameters or a p_c that suit the data better than the model's only make E smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np

from volatilis.estimation import laws
from volatilis.estimation.evidence import Data, joined, log_evidence
from volatilis.estimation.models import P_CS, Sequences, first_of, reference
from volatilis.estimation.remedies import NO_PARAMETERS, Misfit, suggested
from volatilis.families._base import Family
from volatilis.families.contaminated import Contaminated
from volatilis.families.gaussian import Gaussian
from volatilis.learners._base import Learner
from volatilis.running.drivers import OBSERVE, RESET

FEW = 2000  # observations that are bet on: many more than it takes
OUTLIERS, FAR = (0.02, 0.1), (3.0, 10.0)  # how many observations are outliers, and how far they lie, in units of the noise
NOISE, RARER = (1.0, 0.8), (1.0, 0.2)  # the noise without them, and the changes: as the model has them, or less
STEPS = 4  # places of slopes to both sides of the likeliest that are bet on
FINE = 0.5  # of the error with which a slope can be known: how far apart its places lie
STEEP = 2.0  # over a whole sequence trends reach as far as this many standard deviations of the observations


class Bet(NamedTuple):
    """One alternative: log w_k P(observations), and what it says, p_o or a slope."""

    log_evidence: float
    says: float


def misfits_by_wager(family: Family, p_c: float, data: Sequences, alpha: float) -> tuple[Misfit, ...]:
    """The one alternative that wins most, if the model, or the same family with other parameters, leaves it less than alpha."""
    if not isinstance(family, Gaussian):
        return ()
    few = first_of(*data, FEW)
    steps = joined(few.values, few.events)
    base = _base(family, p_c, few, steps)
    won = [(_gain(bets, base), kind, bets) for kind, bets in _all_bets(family, p_c, few, steps) if bets]
    gain, kind, bets = max(won, key=lambda one: one[0], default=(-math.inf, "", []))
    if not gain > -math.log(alpha):
        return ()
    says, much = max(bets).says, f"by {gain:.3g} nats; chance gives {-math.log(alpha):.2g} or more in a share of {alpha:.1g}"
    if kind == laws.BACK:
        words = f"predictions are better if some observations are outliers, not changes: {much}"
        remedy = f"{NO_PARAMETERS}; another family may: contaminated, the same family with outliers (p_o about {says:.1g})"
    else:
        turn = "rise" if says > 0.0 else "fall"
        words = f"predictions are better if levels {turn} by {abs(says):.2g} at each observation, instead of changing: {much}"
        remedy = f"{NO_PARAMETERS}; take the trend out first (differences, or what is left beside a straight line)"
    return (Misfit(kind, words, remedy, gain, 0.0, math.exp(-gain)),)


def _gain(bets: list[Bet], base: float) -> float:
    """log E."""
    return float(np.logaddexp.reduce([one.log_evidence for one in bets])) - base


def _base(family: Gaussian, p_c: float, data: Sequences, steps: Data) -> float:
    """The highest log evidence of the model itself, with a few p_c, and of its family with parameters that the data suggest."""
    families = (family, family._replace(sigma=min(NOISE) * family.sigma), suggested(cast(Family, family), data))
    return max(log_evidence(_predictor(one, p), steps) for one in families for p in dict.fromkeys((p_c, *P_CS)))


def _all_bets(family: Gaussian, p_c: float, data: Sequences, steps: Data) -> Iterator[tuple[str, list[Bet]]]:
    yield laws.BACK, list(_outliers(family, p_c, steps))
    yield laws.TREND, list(_trends(family, p_c, data, steps))


def _predictor(family: object, p_c: float) -> Learner:
    return reference(cast(Family, family), p_c)


def _outliers(family: Gaussian, p_c: float, steps: Data) -> Iterator[Bet]:
    """Some observations are outliers, and the rest varies as much or less."""
    log_weight = -math.log(len(OUTLIERS) * len(FAR) * len(NOISE) * len(RARER))
    for less in NOISE:
        inner = family._replace(sigma=less * family.sigma)
        unit = inner.sigma / math.hypot(inner.sigma, inner.sigma_0)
        for p_o in OUTLIERS:
            for far in FAR:
                for rarer in RARER:
                    learner = _predictor(Contaminated(inner, p_o, far * unit), rarer * p_c)
                    yield Bet(log_weight + log_evidence(learner, steps), p_o)


def _trends(family: Gaussian, p_c: float, data: Sequences, steps: Data) -> Iterator[Bet]:
    """Levels rise or fall by a fixed amount at each step of a sequence.

    Slopes are the places of a lattice that the model sets, with the weights of a normal law. Only the few that lie nearest to the
    likeliest are tried: those left out could only have added to E.
    """
    t = np.concatenate([np.arange(len(e), dtype=float) for e in data.events])
    seen = steps.events % RESET == OBSERVE
    longest = max(len(e) for e in data.events)
    from_mean = t[seen] - t[seen].mean()
    if longest < laws.FEWEST or not float(from_mean @ from_mean) > 0.0:
        return
    apart = FINE * family.sigma / math.sqrt(float(from_mean @ from_mean))
    width = STEEP * math.hypot(family.sigma, family.sigma_0) / longest
    middle = round(float(from_mean @ steps.values[seen]) / float(from_mean @ from_mean) / apart)
    for place in range(middle - STEPS, middle + STEPS + 1):
        slope = place * apart
        log_share = math.log(apart / (width * math.sqrt(2.0 * math.pi))) - 0.5 * (slope / width) ** 2
        straight = steps._replace(values=np.ascontiguousarray(steps.values - slope * (t - t.mean())))
        for rarer in RARER:
            learner = _predictor(family, rarer * p_c)
            yield Bet(log_share - math.log(len(RARER)) + log_evidence(learner, straight), slope)
