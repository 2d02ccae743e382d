"""Does the model of a learner that weighs parameters (`Averaged`) fit, with what it learned? Does its grid reach far enough?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from volatilis.estimation import laws
from volatilis.estimation.checks import ALPHA, Check, check_model
from volatilis.estimation.models import P_CS
from volatilis.estimation.remedies import Misfit
from volatilis.learners._base import Learner
from volatilis.learners.averaged import Averaged
from volatilis.running.drivers import OBSERVE, RESET
from volatilis.running.grid_ends import Ended, best_point, piles, run_over, weighed

MOST = 16  # sequences that are looked at each with what was learned from it


def check_weighed(learner: Learner, sequences: Sequence[np.ndarray], events: Sequence[np.ndarray], alpha: float = ALPHA) -> Check:
    """As `check_model`, with the values that were learned: of all sequences, or of each where they are the family's own.

    Of contexts that change apart (PerContext), and of a family without one-step errors, only the grid.
    """
    inner = weighed(learner)
    assert inner is not None
    runs = run_over(learner, sequences, events)
    ended = tuple(
        Misfit(laws.GRID, one.message, one.remedy, one.weight, 1.0 / one.size, math.exp(-min(one.gain, 700.0)), one.sequences)
        for one in piles(inner, runs)
    )
    if inner is not learner or inner.family.lacks("predictive_cdf"):
        seen = sum(int(np.count_nonzero(one % RESET == OBSERVE)) for one in events)
        return Check(tuple(one._replace(sequences=()) for one in ended), learner.family, inner.change_probability(), seen, ())
    if set(inner.parameters()) == {"p_c"} or len(runs) < 2:
        check = _checked(inner, runs, sequences, events, alpha)
        return check._replace(misfits=(*ended, *check.misfits))
    kept = list(range(min(len(runs), MOST)))
    checks = [_checked(inner, [runs[i]], [sequences[i]], [events[i]], alpha / len(kept)) for i in kept]
    kinds: dict[str, Misfit] = {}
    for i, check in enumerate(checks):
        for misfit in check.misfits:
            before = kinds.setdefault(misfit.kind, misfit)
            kinds[misfit.kind] = before._replace(sequences=(*before.sequences, i))
    observations = sum(check.observations for check in checks)
    errors = tuple(one for check in checks for one in check.errors)
    return Check((*ended, *kinds.values()), best_point(inner, runs).family, checks[0].p_c, observations, errors)


def _checked(
    learner: Averaged, runs: Sequence[Ended], sequences: Sequence[np.ndarray], events: Sequence[np.ndarray], alpha: float
) -> Check:
    best = best_point(learner, runs) if runs else learner.learner
    known = "p_c" not in learner.parameters() and "p_c" in getattr(learner.learner, "_fields", ())
    rates = (best.change_probability(),) if known else (best.change_probability(), *P_CS)
    return check_model(best.family, sequences, rates, events, alpha)
