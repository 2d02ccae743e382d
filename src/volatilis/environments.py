"""The generative model: a world that is stable for a while and then changes abruptly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from volatilis._fields import AnyFamily, Probability, validated
from volatilis._seeds import seed_sequence


class Sample(NamedTuple):
    """What was observed, from which parameter, and when it changed (the first observation always follows a change)."""

    y: np.ndarray
    theta: np.ndarray
    changed: np.ndarray


@validated
class ChangingEnvironment(NamedTuple):
    """At each step theta is drawn anew from the family's prior with probability p_c, then y given theta (paper, Eq. 1-4)."""

    family: AnyFamily
    p_c: Probability

    def sample(self, T: int, seed: int | np.random.SeedSequence = 0) -> Sample:  # noqa: N803 (the paper's name)
        """T observations; the same seed gives the same numbers everywhere."""
        if isinstance(T, bool) or not isinstance(T, (int, np.integer)) or T < 0:
            raise ValueError(f"ChangingEnvironment.sample: T = {T!r} is not accepted; it must be a whole number, 0 or more")
        changes, parameters, observations = (np.random.default_rng(s) for s in seed_sequence(seed).spawn(3))
        changed = changes.random(T) < self.p_c
        changed[:1] = True
        starts = np.flatnonzero(changed)
        lengths = np.diff(np.append(starts, T))
        thetas = [self.family.sample_parameter(parameters) for _ in starts]
        pieces = [self.family.sample_observations(t, n, observations) for t, n in zip(thetas, lengths, strict=True)]
        if not pieces:
            example = self.family.sample_parameter(parameters)
            pieces, thetas = [self.family.sample_observations(example, 0, observations)], [example]
            lengths = np.zeros(1, dtype=int)
        theta = np.repeat(np.array(thetas), lengths, axis=0)
        return Sample(np.concatenate(pieces), theta[:, 0] if theta.shape[1] == 1 else theta, changed)
