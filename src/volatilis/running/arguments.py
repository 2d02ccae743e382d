"""What `run`, `run_many` and `Stream` are given: checked once, with errors that say what is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from volatilis.learners._base import Learner
from volatilis.learners._kinds import RECORDS
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET, SKIP
from volatilis.running.steps import defined_readouts

Seed = int | np.random.SeedSequence
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
    return tuple(readouts)


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
    return np.unique(marks)
