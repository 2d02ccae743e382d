"""The generative model: a world that is stable for a while and then changes abruptly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from volatilis._core.fields import Probability, validated
from volatilis._core.seeds import seed_sequence
from volatilis.families._kinds import AnyFamily


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
        _check_whole("sample", "T", T, 0)
        return next(self._pieces(T, max(T, 1), seed))

    def pieces(self, T: int, size: int, seed: int | np.random.SeedSequence = 0) -> Iterator[Sample]:  # noqa: N803
        """The same observations in pieces of at most `size`, so that memory does not grow with T."""
        _check_whole("pieces", "T", T, 0)
        _check_whole("pieces", "size", size, 1)
        return self._pieces(T, size, seed)

    def _pieces(self, T: int, size: int, seed: int | np.random.SeedSequence) -> Iterator[Sample]:  # noqa: N803
        changes, parameters, observations = (np.random.default_rng(s) for s in seed_sequence(seed).spawn(3))
        theta = self.family.sample_parameter(parameters)  # c_1 = 1: the first observation follows a change
        for start in range(0, max(T, 1), size):
            length = min(size, T - start)
            changed = changes.random(length) < self.p_c
            changed[: 1 if start == 0 else 0] = True
            new = np.flatnonzero(changed)
            lengths = np.diff(np.concatenate([[0], new, [length]]))
            thetas = [theta, *(theta if start == t == 0 else self.family.sample_parameter(parameters) for t in new)]
            theta = thetas[-1]
            parts = [self.family.sample_observations(p, n, observations) for p, n in zip(thetas, lengths, strict=True)]
            estimated = np.repeat(np.array(thetas), lengths, axis=0)
            yield Sample(np.concatenate(parts), estimated[:, 0] if estimated.shape[1] == 1 else estimated, changed)


def _check_whole(method: str, name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(
            f"ChangingEnvironment.{method}: {name} = {value!r} is not accepted; it must be a whole number, {least} or more"
        )
