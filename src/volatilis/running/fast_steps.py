"""The fast way of a stream: single numbers, also with a context, that machine code takes in (`number_to_tuple`)."""

from __future__ import annotations

import sysconfig
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from volatilis._compiler import Layout, number_to_tuple
from volatilis.families._base import AcceptedNumbers
from volatilis.learners._base import Learner
from volatilis.running.steps import Step

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
LARGEST = 1e300  # a number beyond it takes the slower way: a whole number of that size has a check of its own
_INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
WHOLE = frozenset({int, *(np.dtype(name).type for name in _INTEGERS.split())})
NUMBERS = WHOLE | {bool, float, *(np.dtype(name).type for name in ("bool", "float16", "float32", "float64", "longdouble"))}


class Alone:
    """Inside this context one thread has the stream to itself: others wait, and the fast way gives up and waits too."""

    def __init__(self) -> None:
        self._lock, self.busy = threading.Lock(), np.zeros(1, dtype=np.int64)

    def __enter__(self) -> None:
        self._lock.acquire()
        self.busy[0] = 1

    def __exit__(self, *_: object) -> None:
        self.busy[0] = 0
        self._lock.release()


class FastSteps:
    """Steps bound to the memory of one stream. Where the ordinary way is needed both functions do nothing and return None.

    observe(y)         one number; where contexts are needed it is never taken
    observe_in(x, y)   one number in the context x, a whole number
    """

    def __init__(self, learner: Learner, native: Any, y: np.ndarray, layout: Layout, alone: Alone, result: type[Step]) -> None:
        self.observe: Callable[[Any], Any] = _never
        self._contexts, self._alone, self._y = 0, alone, y
        self._owners: object = None  # what must live as long as the functions
        if native is None or FREE_THREADED or learner.refuses_observations():
            return
        accepted, in_contexts = learner.family.accepted_numbers(), learner.family.accepted_in_contexts()
        if accepted is not None:
            self.observe, self._owners = number_to_tuple(native, y, layout, _limits(accepted), alone.busy, result)
        elif in_contexts is not None and y.shape == (1, 2):
            self._contexts, accepted = in_contexts
            never_busy = np.zeros(1, dtype=np.int64)  # it is called where one thread has the stream to itself
            self._observe, self._owners = number_to_tuple(native, y[0, 1:], layout, _limits(accepted), never_busy, result)

    def observe_in(self, context: Any, number: object) -> Step | None:
        if not 0 <= context < self._contexts:
            return None
        with self._alone:
            self._y[0, 0] = context
            return self._observe(number)


def _limits(accepted: AcceptedNumbers) -> tuple[float, float, bool]:
    return max(accepted.low, -LARGEST), min(accepted.high, LARGEST), accepted.whole


def _never(number: object) -> None:
    """Where no number can be taken in the fast way."""
