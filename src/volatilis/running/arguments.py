"""What `run`, `run_many` and `Stream` are given: checked once, with errors that say what is accepted."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from volatilis.families._base import Family, prior_beliefs
from volatilis.families.contaminated import Contaminated
from volatilis.learners._base import Learner, State
from volatilis.learners._kinds import RECORDS
from volatilis.running.angles import NAMES, may_wrap, wrapping
from volatilis.running.drivers import ELAPSE, NOT_ASKED, OBSERVE, RESET, SKIP
from volatilis.running.steps import defined_readouts

Seed = int | np.random.SeedSequence
MOST_WITHIN = 1_000_000
MISSING = {"error": OBSERVE, "elapse": ELAPSE, "skip": SKIP}


def checked_learner(learner: object) -> Learner:
    if type(learner) not in RECORDS:
        raise TypeError(f"{learner!r} ({type(learner).__name__}) is not a learner, such as volatilis.VarSMiLe(family, m=0.1)")
    return cast(Learner, learner)


def wanted_readouts(learner: Learner, readouts: Sequence[str] | None) -> tuple[str, ...]:
    defined = defined_readouts(learner)
    if readouts is None:
        return defined
    if isinstance(readouts, str):
        readouts = (readouts,)
    for name in readouts:
        if name not in defined:
            raise ValueError(f"readouts: {name!r} is not accepted; {type(learner).__name__} defines {', '.join(defined)}")
    surprises = set(readouts) - {"mean", "variance", "run_length"}
    needed = (
        ("change_probability",) if learner.learns_change_probability() and surprises else ()
    )  # their p_c is another each step
    return tuple(dict.fromkeys((*readouts, *needed)))


def with_recent(learner: Learner, state: State, within: int) -> State:
    """A fresh state that keeps what `recent_change(within)` needs. Raises where the learner does not define it."""
    recent = learner.keep_recent(checked_within(within))
    return state._replace(recent=recent)  # type: ignore[attr-defined]


def checked_within(within: object) -> int:
    """A number of observations."""
    if isinstance(within, bool) or not isinstance(within, (int, np.integer)) or not 1 <= within <= MOST_WITHIN:
        raise ValueError(f"within = {within!r} is not accepted; it must be a whole number of observations, 1 to {MOST_WITHIN:,}")
    return int(within)


def labelled(y: object) -> tuple[Any, Any]:
    """Observations without their frame, and the index of a pandas Series or DataFrame (None: positions; others have none)."""
    if _is(y, "pandas", "Series", "DataFrame"):
        return np.asarray(y), y.index  # type: ignore[attr-defined]
    return (np.asarray(y) if _is(y, "pandas", "Index") or _is(y, "polars", "Series", "DataFrame") else y), None


def columns_of(ys: Any) -> tuple[Any, Any]:
    """The columns of a pandas or polars DataFrame as sequences, and its index; anything else as it is."""
    if _is(ys, "pandas", "DataFrame") or _is(ys, "polars", "DataFrame"):
        return [np.asarray(ys[name]) for name in ys.columns], labelled(ys)[1]
    return ys, None


def _is(value: object, library: str, *classes: str) -> bool:
    """Whether it is of these classes of a library, or of classes made from them. The library is not imported for that."""
    module = sys.modules.get(library)
    return module is not None and isinstance(value, tuple(getattr(module, name, ()) for name in classes))


def missing_policy(missing: str) -> int:
    if not isinstance(missing, str) or missing not in MISSING:
        raise ValueError(f"missing = {missing!r} is not accepted; it must be one of {', '.join(map(repr, MISSING))}")
    return MISSING[missing]


def step_events(absent: np.ndarray, reset: npt.ArrayLike | None, missing: str, sequence: int | None = None) -> np.ndarray:
    """What happens at each step: an observation, time passing, nothing; and resets."""
    policy, where = missing_policy(missing), "" if sequence is None else f"sequence {sequence}: "
    if policy == OBSERVE and absent.any():
        position = int(np.argmax(absent))
        raise ValueError(f"{where}observation {position} is missing; missing='elapse' or missing='skip' accepts that")
    events = np.zeros(absent.size, dtype=np.uint8)
    events[absent] = policy
    if reset is not None:
        events[_reset_positions(reset, absent.size, where)] += RESET
    return events


def _reset_positions(reset: npt.ArrayLike, length: int, where: str) -> np.ndarray:
    marks = np.asarray(reset)
    if marks.dtype == bool:
        if marks.shape != (length,):
            raise ValueError(f"{where}reset has shape {marks.shape} for {length} observations; one boolean each is accepted")
        return np.flatnonzero(marks)
    if marks.size == 0:
        return np.zeros(0, dtype=np.intp)
    if marks.dtype.kind not in "iu" or marks.ndim != 1:
        raise TypeError(f"{where}reset has dtype {marks.dtype}; booleans, one per observation, or positions are accepted")
    bad = (marks < 0) | (marks >= length)
    if bad.any():
        raise ValueError(f"{where}reset at {marks[bad][0]} is not accepted; positions are from 0 to {length - 1}")
    positions = np.unique(marks)
    if marks.size == length > positions.size:  # 0 and 1, or labels of blocks, one for each observation
        raise ValueError(
            f"{where}reset has a number for each of {length} observations, and some come again: positions where learners start "
            "anew are accepted, or one boolean for each observation (reset != 0)"
        )
    return positions


# --- a model that is far from the observations -------------------------------------------------------------------------------

FEWEST, MANY = 30, 0.02  # observations that say something, and a share of them that outliers are not
IMPOSSIBLE, RARE = 1e-5, 1e-6
LOOKED_AT = 10_000  # observations that may look like angles
MOST_TURNS = 3.0  # periods over which angles reach: more, and the period is perhaps another


class ModelMismatchWarning(UserWarning):
    """The observations contradict the model: its readouts mean little. `volatilis.check` says more."""


def warn_of_mismatch(
    learner: Learner, values: np.ndarray, absent: np.ndarray, log_p_0: np.ndarray, outlying: np.ndarray = NOT_ASKED
) -> None:
    """The gross cases, at the price of a glance: observations where the prior expects next to none, angles that go round and
    round, outliers where few are expected.

    Under the model each observation has the law that the prior predicts. Where its density is below 1e-5 / r, a stretch of length
    r (a box of that volume, for vectors) has 1e-5 of it at most; r is the reach of the observations. So on data from the model
    more than 2 % are there in at most 1 of 2,000 data sets (Markov's inequality, whatever the changes). `outlying` is the
    probability that an observation is an outlier, where the family has some: it is above one half at most at a rate of 2 p_o.
    """
    if values.shape[0] < FEWEST:
        few = _said_of_few(learner.family, values[~absent])
        if few is not None:
            warn(few)
    if values.shape[0] < FEWEST or not log_p_0.size:
        return
    family, seen = learner.family, learner.family.as_observed(values)[~absent]
    if not seen.size:
        return
    lowest, highest, log_volume = _box(seen)
    turns = float((highest - lowest).max()) / family.circumference()
    if turns >= MOST_TURNS:
        warn(
            f"the period is contradicted: observations reach from {lowest.min():.4g} to {highest.max():.4g}, {turns:.3g} times "
            f"the period {family.circumference():.6g} of {family!r}; give theirs (period=360 for degrees), or bring them into one"
        )
    if math.isinf(family.circumference()) and seen.ndim == 1 and may_wrap(float(lowest[0]), float(highest[0])):
        looks = wrapping([seen[:LOOKED_AT]])
        if looks is not None:
            warn(
                f"degrees on a line: observations look like {NAMES[looks.period]}, which go round ({looks.wrapped} of "
                f"{looks.far} jumps of more than half a turn end close to where they began), and {type(family).__name__} takes "
                f"such a jump for a change; use vl.VonMises(kappa, period={looks.period:.6g})"
            )
    log_p_0 = log_p_0[~absent] if log_p_0.size == absent.size else log_p_0  # looking back has it of the observed steps alone
    if np.ndim(log_volume) and log_volume.size != log_p_0.size:
        log_volume = log_volume.max()
    count = np.count_nonzero(log_p_0 < np.log(IMPOSSIBLE) - log_volume)
    if count > MANY * len(seen):
        spans = " and ".join(f"from {low:.4g} to {high:.4g}" for low, high in list(zip(lowest, highest, strict=True))[:3])
        warn(
            f"the prior is contradicted: {count:,} of {len(seen):,} observations, which reach {spans}, lie where the prior of "
            f"{family!r} expects less than 1 in 100,000; volatilis.check(learner, y) says what would mend it"
        )
        return
    if isinstance(family, Contaminated) and outlying.size:
        outliers, most = np.count_nonzero(outlying[~absent] > 0.5), 2.0 * family.p_o * len(seen)
        if outliers > most + 6.0 * math.sqrt(most) + 5.0:
            warn(
                f"the share of outliers is contradicted: {outliers:,} of {len(seen):,} observations are taken for outliers, of "
                f"which {family!r} expects {family.p_o:.3g}: what it believes rests on the rest; volatilis.check(learner, y) "
                "says what would mend it"
            )


def _said_of_few(family: Family, values: np.ndarray) -> str | None:
    """Of few single numbers the outermost, by their place in what the prior predicts: 30 of the model are beyond one in a million
    in 1 of 30,000 data sets."""
    if values.ndim != 1 or not values.size or family.memory_size() or family.lacks("predictive_cdf"):
        return None
    if math.isfinite(family.circumference()):  # no place on a circle is far from all others
        return None
    pi_0 = prior_beliefs(family)
    with np.errstate(all="ignore"):
        for y in (values.min(), values.max()):
            place = family.predictive_cdf(pi_0, 0, y.item(), 0, 0.5, family.mean(pi_0, 0, 0))
            if 2.0 * min(place, 1.0 - place) < RARE:
                return (
                    f"the prior is contradicted: {y:.5g} among {values.size} observations lies where the prior of {family!r} "
                    "expects less than 1 in 1,000,000; give a prior that expects such observations (vl.estimate finds one, from "
                    "more of them)"
                )
    return None


def _box(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The least and the largest of each column, and the log volume of the box that they make (of the columns with a number)."""
    if seen.ndim == 1:
        lowest, highest, known = np.array([seen.min()]), np.array([seen.max()]), np.ones(1)
    else:
        numbers = np.isfinite(seen)
        used = numbers.any(axis=0)
        known, seen = numbers[:, used].astype(np.float64), seen[:, used]
        lowest, highest = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
    reach = highest.astype(np.float64) - lowest + (seen.dtype.kind == "i")
    reach = np.where(reach > 0.0, reach, np.maximum(np.abs(highest), 1.0))  # all alike: any stretch will do
    return lowest, highest, known @ np.log(reach)


def warn(text: str) -> None:
    warnings.warn(text, ModelMismatchWarning, stacklevel=4)  # where run was called
