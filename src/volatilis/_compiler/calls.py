"""From ordinary Python to native code.

A *driver* is a plain function over flat arguments and NamedTuples, `driver(learner, state, ys, out)`. `Call(driver, ...)`
compiles it for the classes of its arguments, or takes the machine code from the disk cache, and binds it to them.

How: all arguments are laid out as 8-byte words (a number, or an array's address and shape); the compiled function takes
the address of the words and rebuilds the NamedTuples from them. So a call costs 0.2 us whatever the arguments, holds no
Python object, allocates nothing, and its machine code refers to nothing outside itself: a later process loads it with
LLVM's linker alone and never imports Numba.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np

from volatilis._compiler import ahead, cache, host
from volatilis._compiler.instructions import INSTRUCTIONS, OPTIONS
from volatilis._compiler.ordinary import fast_way_works, is_ordinary_chosen, ordinary_call
from volatilis._compiler.translation import import_numba, register_functions, translate
from volatilis._compiler.words import append_words

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_plain_python: ContextVar[bool] = ContextVar("plain_python", default=False)
_noted: ContextVar[list[tuple[Callable[..., None], tuple[object, ...]]] | None] = ContextVar("noted", default=None)
_lock = threading.RLock()
_by_key: dict[str, MachineCode] = {}
_by_types: dict[tuple[object, ...], MachineCode] = {}  # where all is ours: nothing of ours changes while a process runs


class MachineCode:
    """One driver, compiled and loaded for one set of argument types."""

    def __init__(self, loaded: host.Loaded) -> None:
        self._owner, self.address = loaded  # the owner of the code's memory
        self.holding_gil = ctypes.PYFUNCTYPE(None, ctypes.c_int64)(self.address)
        self.releasing_gil = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self.address)


class Binding(NamedTuple):
    """Native code and the words that it reads its arguments from."""

    code: MachineCode
    words: np.ndarray
    args: tuple[object, ...]  # whose memory the native code reads and writes


class Call:
    """A driver bound to its arguments. Calling it, or its `run`, runs the native code on them, in place.

    `native` is None where plain Python or Numba's ordinary way runs.
    """

    def __init__(self, driver: Callable[..., None], *args: object, release_gil: bool = False) -> None:
        self.native: Binding | None = None
        noted = _noted.get()
        if noted is not None:
            noted.append((driver, args))
        if _plain_python.get():
            self.run = _python_call(driver, args)
        elif is_ordinary_chosen():
            self.run = ordinary_call(driver, args)
        else:
            self.native = _bind(driver, args)
            native = self.native
            self.run = _native_call(native, release_gil) if native else ordinary_call(driver, args)

    def __call__(self) -> None:
        self.run()

    def words(self) -> np.ndarray | None:
        """What the native code reads its arguments from, in their order (`words_of`); None where no native code of ours runs."""
        return None if self.native is None else self.native.words


def _bind(driver: Callable[..., None], args: tuple[object, ...]) -> Binding | None:
    """None where a private interface of Numba has moved."""
    flat: list[int] = []
    kinds: list[object] = []
    append_words(args, flat, kinds)
    code = _by_types.get((driver, *kinds)) or _machine_code(driver, args, kinds)
    return None if code is None else Binding(code, np.array(flat, dtype=np.int64), args)


def _native_call(binding: Binding, release_gil: bool) -> Callable[[], None]:
    function = binding.code.releasing_gil if release_gil else binding.code.holding_gil
    address = ctypes.c_int64(binding.words.ctypes.data)

    def run() -> None:
        function(address)

    run.keeps_alive = binding  # type: ignore[attr-defined]
    return run


def _python_call(driver: Callable[..., None], args: tuple[object, ...]) -> Callable[[], None]:
    def run() -> None:
        with np.errstate(all="ignore"):
            driver(*args)

    return run


def _machine_code(driver: Callable[..., None], args: tuple[object, ...], kinds: list[object]) -> MachineCode | None:
    """The machine code: from this process, compiled ahead, from the disk cache, or compiled now, if that is possible."""
    built_ahead = ahead.load(driver, args)
    key, lasting = cache.kernel_key(driver, args) if built_ahead is None else (built_ahead[0], True)
    with _lock:
        code = _by_key.get(key)
        if code is None and built_ahead is not None:
            code = _by_key[key] = MachineCode(built_ahead[1])
        if code is None:
            kernel = cache.load(key)
            if kernel is None:
                with host.no_garbage_collection():
                    kernel = _compile(driver, args)
                if kernel is None:
                    return None
                cache.save(key, kernel)
            code = _by_key[key] = MachineCode(host.link(kernel))
        if lasting:
            _by_types[(driver, *kinds)] = code
    return code


def _compile(driver: Callable[..., None], args: tuple[object, ...]) -> host.Code | None:
    import_numba()
    if not fast_way_works():
        return None
    register_functions(INSTRUCTIONS, OPTIONS)
    return host.assemble(translate(driver, args))


@contextlib.contextmanager
def plain_python() -> Iterator[None]:
    """Inside this context every learner runs as ordinary Python: for a debugger, for coverage, for teaching.

    The results are the same to the last bit, some thousand times slower. Other threads are not affected. Returns nothing; raises
    whatever the learner's own code raises.

    >>> import volatilis as vl
    >>> with vl.plain_python():
    ...     vl.run(vl.VarSMiLe(vl.Gaussian(sigma=0.5), m=0.1), [0.2]).mean.round(3)
    array([0.16])
    """
    token = _plain_python.set(True)
    try:
        yield
    finally:
        _plain_python.reset(token)


@contextlib.contextmanager
def noting_calls() -> Iterator[list[tuple[Callable[..., None], tuple[object, ...]]]]:
    """The drivers that are called inside this context, with their arguments: what must be compiled ahead of time."""
    noted: list[tuple[Callable[..., None], tuple[object, ...]]] = []
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def for_threads(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The same function for the threads of a pool: `plain_python` holds there as it does here."""
    context = copy_context()

    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return context.copy().run(function, *args, **kwargs)

    return run
