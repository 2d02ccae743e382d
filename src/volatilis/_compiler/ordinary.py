"""The other way to native code: Numba's ordinary `njit`, by what Numba documents. The same numbers, only slower.

It is taken where a private interface of Numba or LLVM, which the fast way uses, is not as it was: with one warning. Or where
the environment variable VOLATILIS_COMPILER is "numba". Nothing is kept on disk, and arguments are Python objects.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler import cache, host
from volatilis._compiler.instructions import INSTRUCTIONS, ORDINARY_INSTRUCTIONS, ORDINARY_OPTIONS
from volatilis._compiler.translation import CompilationError, failure_text, register_functions, translate
from volatilis._compiler.words import numba_type, tuple_classes, words_of

_compiled: dict[Callable[..., None], Any] = {}


def is_ordinary_chosen() -> bool:
    """Whether the environment asks for the ordinary way."""
    chosen = os.environ.get("VOLATILIS_COMPILER") or "volatilis"
    if chosen not in ("volatilis", "numba"):
        raise ValueError(
            f"the environment variable VOLATILIS_COMPILER is {chosen!r}; volatilis (the default) and numba are accepted"
        )
    return chosen == "numba"


def ordinary_call(driver: Callable[..., None], args: tuple[object, ...]) -> Callable[[], None]:
    """The driver, compiled by Numba alone, bound to its arguments. It releases the GIL: threads need no second compilation."""
    import numba
    from numba.core.errors import NumbaError

    register_functions(ORDINARY_INSTRUCTIONS, ORDINARY_OPTIONS)
    function = _compiled.get(driver)
    if function is None:
        function = _compiled[driver] = numba.njit(nogil=True, **ORDINARY_OPTIONS)(driver)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function.compile(tuple(numba_type(value) for value in args))
    except NumbaError as error:
        raise CompilationError(failure_text(driver, list(dict.fromkeys(tuple_classes(args))), error)) from error
    arguments = tuple(_as_compiled(value) for value in args)

    def run() -> None:
        function(*arguments)

    return run


def _as_compiled(value: Any) -> Any:
    """The argument with the types that `numba_type` gives it: whole numbers are int, arrays can be written."""
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_as_compiled(item) for item in value])
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else _Writable(value).array()
    return float(value) if isinstance(value, float) else int(value)


class _Writable:
    """The same memory as an array that can be written; compiled code never writes to what is not."""

    def __init__(self, value: np.ndarray) -> None:
        self._value = value
        address = value.__array_interface__["data"][0]
        self.__array_interface__ = {**value.__array_interface__, "data": (address, False)}

    def array(self) -> np.ndarray:
        return np.asarray(self)


# --- whether the fast way works --------------------------------------------------------------------------------------


class _Sample(NamedTuple):
    numbers: np.ndarray
    factor: float


def _fma(a: float, b: float, c: float) -> float:
    return a * b + c


def _total(x: np.ndarray, n: int) -> float:
    return float(x[:n].sum())


def _eight_zeros() -> np.ndarray:
    return np.zeros(8)


def _use_everything(sample: _Sample, out: np.ndarray) -> None:
    out[0] = _fma(sample.factor, _total(sample.numbers, sample.numbers.size), 1.0 + _eight_zeros()[5])


@functools.cache
def fast_way_works() -> bool:
    """With a version of Numba that was not tried: compile something small in the fast way and run it. Warns if that fails.

    With functions of its own: what Numba knows of a function that it translated cannot be taken back.
    """
    if cache.installed_version("numba") in cache.TESTED:
        return True
    sample, out = _Sample(np.arange(11.0), 2.0), np.zeros(1)
    try:
        for function in (_fma, _total, _eight_zeros):
            INSTRUCTIONS[function.__name__[1:]](function)
        host.call_once(host.assemble(translate(_use_everything, (sample, out))), words_of(sample, out))
        if out[0] != 111.0:
            raise ArithmeticError(f"a sum of 111 came out as {out[0]}")
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        warnings.warn(
            f"this version of Numba does not work as expected ({type(error).__name__}: {reason}), so volatilis compiles in "
            "Numba's ordinary way: the results are the same, but it takes longer, and every process compiles anew",
            RuntimeWarning,
            stacklevel=cache.outside_package(),
        )
        return False
    return True
