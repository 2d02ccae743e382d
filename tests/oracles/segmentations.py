"""Looking back by brute force: all histories of changes of a whole sequence, missing observations and all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .conjugate import Family, Vector
from .enumeration import log_evidence_without_change


class LookedBack(NamedTuple):
    """Given all observations: of each step, whether there was a change; of all histories, which are how probable."""

    probability: Vector  # P(c_t = 1 | y), 0 at the start
    number: Vector  # P(k changes | y)
    histories: dict[tuple[int, ...], float]  # the first observations after changes, of those that can be told apart


def all_histories(family: Family, p_c: float, ys: Sequence[Any]) -> LookedBack:
    """2^(T-1) histories; None is a missing observation. A change at step t > 0 is before the observation there."""
    length = len(ys)
    observed = [t for t in range(length) if ys[t] is not None]
    logs, changes_of, kinds = [], [], []
    for later in itertools.product([0, 1], repeat=length - 1):
        changes = [t + 1 for t, changed in enumerate(later) if changed]
        log_weight = sum(math.log(p_c) if changed else math.log1p(-p_c) for changed in later)
        for start, stop in itertools.pairwise([0, *changes, length]):
            log_weight += log_evidence_without_change(family, [y for y in ys[start:stop] if y is not None])
        firsts = {next((t for t in observed if t >= change), None) for change in changes} - {None, *observed[:1]}
        logs.append(log_weight)
        changes_of.append(changes)
        kinds.append(tuple(sorted(firsts)))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    probability, number = np.zeros(length), np.zeros(length)
    histories: dict[tuple[int, ...], float] = {}
    for weight, changes, kind in zip(weights, changes_of, kinds, strict=True):
        probability[changes] += weight
        number[len(changes)] += weight
        histories[kind] = histories.get(kind, 0.0) + weight
    return LookedBack(probability, number, histories)
