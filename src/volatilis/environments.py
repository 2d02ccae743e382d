"""The generative model: a world that is stable for a while and then changes abruptly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from volatilis._core.fields import Probability, validated
from volatilis._core.seeds import seed_sequence
from volatilis.families._kinds import AnyFamily


class Sample(NamedTuple):
    """What was observed, from which parameter, and when it changed (the first observation always follows a change)."""

    y: np.ndarray
    theta: np.ndarray
    changed: np.ndarray


PAST = 64  # observations: more than the context of any family goes back


@validated
class ChangingEnvironment(NamedTuple):
    """At each step theta is drawn anew from the family's prior with probability p_c, then y given theta (paper, Eq. 1-4).

        family   how observations arise, and where theta is drawn from
        p_c      the probability of a change before an observation

    >>> import volatilis as vl
    >>> y, theta, changed = vl.ChangingEnvironment(vl.Gaussian(sigma=0.5), p_c=0.1).sample(200, seed=1)
    >>> y.shape, theta.shape, bool(changed[0])
    ((200,), (200,), True)
    """

    family: AnyFamily
    p_c: Probability

    def sample(
        self,
        T: int,  # noqa: N803 (the paper's name)
        seed: int | np.random.SeedSequence = 0,
        given: npt.ArrayLike | None = None,
    ) -> Sample:
        """T observations; the same seed gives the same numbers everywhere.

        T       how many
        seed    a whole number, 0 or more, or a NumPy SeedSequence
        given   the context of each, for a family that has contexts

        Returns a `Sample`: y, theta at each step, and whether theta was drawn anew before it. Raises ValueError for a T or a seed
        that is not accepted.
        """
        _check_whole("sample", "T", T, 0)
        return next(self._pieces(T, max(T, 1), seed, _contexts(given, T)))

    def pieces(
        self,
        T: int,  # noqa: N803
        size: int,
        seed: int | np.random.SeedSequence = 0,
        given: npt.ArrayLike | None = None,
    ) -> Iterator[Sample]:
        """The same observations in pieces of at most `size`, so that memory does not grow with T.

        T       how many in all
        size    how many in a piece, at most
        seed    as in `sample`
        given   as in `sample`

        Returns an iterator of `Sample`. Raises ValueError as `sample`.
        """
        _check_whole("pieces", "T", T, 0)
        _check_whole("pieces", "size", size, 1)
        return self._pieces(T, size, seed, _contexts(given, T))

    def _pieces(
        self,
        T: int,  # noqa: N803
        size: int,
        seed: int | np.random.SeedSequence,
        given: np.ndarray | None,
    ) -> Iterator[Sample]:
        changes, parameters, observations = (np.random.default_rng(s) for s in seed_sequence(seed).spawn(3))
        theta = self.family.sample_parameter(parameters)  # c_1 = 1: the first observation follows a change
        past = np.zeros(0)
        for start in range(0, max(T, 1), size):
            length = min(size, T - start)
            changed = changes.random(length) < self.p_c
            changed[: 1 if start == 0 else 0] = True
            new = np.flatnonzero(changed)
            lengths = np.diff(np.concatenate([[0], new, [length]]))
            thetas = [theta, *(theta if start == t == 0 else self.family.sample_parameter(parameters) for t in new)]
            theta = thetas[-1]
            parts, at = [], start
            for p, n in zip(thetas, lengths, strict=True):
                here = None if given is None else given[at : at + n]
                parts.append(self.family.sample_segment(p, n, observations, here, past))
                past = np.concatenate([past, parts[-1]])[-PAST:] if self.family.memory_size() else past
                at += n
            estimated = np.repeat(np.array(thetas), lengths, axis=0)
            yield Sample(np.concatenate(parts), estimated[:, 0] if estimated.shape[1] == 1 else estimated, changed)


def _contexts(given: npt.ArrayLike | None, length: int) -> np.ndarray | None:
    if given is None:
        return None
    contexts = np.asarray(given)
    if len(contexts) != length:
        raise ValueError(f"ChangingEnvironment: given has {len(contexts)} contexts for T = {length}; one each is needed")
    return contexts


def _check_whole(method: str, name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(
            f"ChangingEnvironment.{method}: {name} = {value!r} is not accepted; it must be a whole number, {least} or more"
        )
