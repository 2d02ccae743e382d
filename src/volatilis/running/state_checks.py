"""A state that was read from a file: compiled code trusts its shapes and its count, so they are checked before."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis.learners._hypotheses import Hypotheses

ROOM_TO_WORK = ("scratch",)  # what is in there means nothing between two steps


def check_state(learner: Any, fresh: Any, found: Any) -> None:
    """A state that was read must be one that the learner could have made."""
    if type(found) is not type(fresh):
        raise ValueError(f"its state is a {type(found).__name__}, not a {type(fresh).__name__}")
    if isinstance(found, Hypotheses):
        room = np.size(found.weights)
        while learner.grows() and fresh.weights.size < min(room, 2**30):
            fresh = learner.grow(fresh)
    _check_arrays(fresh, found)
    if not np.all(found.beliefs.nu >= 0.0):
        raise ValueError("beliefs from fewer than no observations")
    if isinstance(found, Hypotheses):
        live, most = int(found.count[0]), learner.most_hypotheses()
        if not learner.fewest_hypotheses() <= live <= (found.weights.size if most is None else most):
            raise ValueError(f"{live} hypotheses in room for {found.weights.size}")
        weights = found.weights
        if not (np.all(weights >= 0.0) and abs(weights[:live].sum() - 1.0) < 1e-6 and not weights[live:].any()):
            raise ValueError("its weights are not probabilities")


def _check_arrays(expected: Any, found: Any) -> None:
    if isinstance(expected, tuple):
        if type(expected) is not type(found):
            raise ValueError(f"a {type(found).__name__} where a {type(expected).__name__} belongs")
        names: tuple[str, ...] = getattr(expected, "_fields", ())
        for name, a, b in zip(names, expected, found, strict=True):
            _check_arrays(a, b)
            if isinstance(b, np.ndarray) and b.dtype == np.float64 and name not in ROOM_TO_WORK and not np.all(np.isfinite(b)):
                raise ValueError(f"numbers in {name} that are not finite")
    elif isinstance(expected, np.ndarray):
        if not isinstance(found, np.ndarray) or expected.dtype != found.dtype or expected.shape != found.shape:
            raise ValueError(f"an array of another kind where one of shape {expected.shape} belongs")
    elif type(expected) is not type(found) or expected != found:
        raise ValueError(f"{found!r} where {expected!r} belongs")
