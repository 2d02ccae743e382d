"""One block of a sequence, up to a reset, looked back over: its segmentation, and where each of its changes may lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from volatilis.changepoints.drivers import Found
from volatilis.changepoints.passes import Passes
from volatilis.learners._base import Learner
from volatilis.running.drivers import SKIP


class Change(NamedTuple):
    """One change of the most probable segmentation. Positions count steps of time from 0.

    position      the first observation after it
    earliest      before `position` where observations are missing: the change is somewhere from here on
    low, high     the ends of its credible set, gaps included
    times         the credible set: positions of first observations after the change, most probable first
    probability   that it is there: of one change between its neighbours against none
    """

    position: int
    earliest: int
    low: int
    high: int
    times: np.ndarray
    probability: float


class Block(NamedTuple):
    """What is known of one block, up to a reset: positions, probabilities and segments. `gaps[o]` steps led to observation o."""

    first: int
    length: int
    passes: Passes
    starts: np.ndarray
    a: np.ndarray
    found: Found
    means: np.ndarray
    variances: np.ndarray
    gaps: np.ndarray
    trailing: int


def look_at(learner: Learner, values: np.ndarray, events: np.ndarray, first: int) -> Block:
    passes = Passes(learner, values, events)
    starts = passes.best()
    a, found, levels = passes.probabilities(starts)
    ends = np.append(starts[1:], passes.seen) if passes.seen else np.zeros(0, dtype=np.int64)
    counts = np.cumsum(events != SKIP)  # steps of time up to each
    at = counts[passes.steps] if passes.seen else np.zeros(0, dtype=np.int64)
    gaps = np.diff(at, prepend=1)  # the first step begins the block: no change is counted there
    total = int(counts[-1]) if len(counts) else 0
    trailing = total - (int(at[-1]) if passes.seen else min(total, 1))
    return Block(first, len(values), passes, starts, a, found, levels.means[ends], levels.variances[ends], gaps, trailing)


def found_changes(block: Block, level: float) -> list[Change]:
    """The changes of the most probable segmentation of a block, each with the smallest set of times of this probability.

    Given changes at l and r and one between, that one is just before observation s with a probability proportional to
    w_s(l) w_r(s); the odds of one between against none are the sum of these over w_r(l).
    """
    edges, found, result = [*block.starts.tolist(), block.passes.seen], block.found, []
    steps = block.first + block.passes.steps
    for left, here, right in zip(edges, edges[1:], edges[2:], strict=False):
        before = found.own[left + 1 : here + 1] * np.append(found.far[left + 1 : here], found.near[here])
        after = found.older[here + 1 : right] * found.near[here + 1 : right]
        law = np.concatenate([before, after])  # over left + 1 .. right - 1
        total = float(law.sum())
        order = np.argsort(-law, kind="stable")
        enough = int(np.searchsorted(np.cumsum(law[order]), level * total * (1.0 - 1e-12))) + 1
        chosen = left + 1 + order[:enough]
        ends = int(steps[chosen.min() - 1]) + 1, int(steps[chosen.max()])
        probability = total / (total + float(found.far[left]))
        result.append(Change(int(steps[here]), int(steps[here - 1]) + 1, *ends, steps[chosen], probability))
    return result
