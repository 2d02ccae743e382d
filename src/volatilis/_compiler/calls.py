"""From ordinary Python to native code, with a disk cache.

A *driver* is a plain function over flat arguments and NamedTuples, `driver(learner, state, ys, out)`. `Call(driver, ...)`
compiles it for the classes of its arguments, or takes the machine code from the disk cache, and binds it to them.

How: all arguments are laid out as 8-byte words (a number, or an array's address and shape); the compiled function takes
the address of the words and rebuilds the NamedTuples from them. So a call costs 0.2 us whatever the arguments, holds no
Python object, allocates nothing, and its machine code refers to nothing outside itself: a later process loads it with
LLVM's linker alone and never imports Numba.

The cache is keyed on text: this package's sources, the byte code of every foreign class and what it calls, the types of
the arguments, the versions and the processor. An edit anywhere gives another key; nothing is ever stale.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.metadata
import inspect
import json
import os
import pathlib
import struct
import sys
import threading
import types as python_types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from volatilis._compiler.translation import Code, CompilationError, compile_driver, link, processor, tuple_classes
from volatilis._core.files import whole_file

FORMAT = 2
# The sources that kernels are made of
CORE = (
    *("special", "surprise", "running/drivers", "families/", "learners/", "behaviour/responses/", "behaviour/fitting/drivers"),
    *("_compiler/", "_core/fields"),
)
_lock = threading.RLock()
_entries: dict[str, Entry] = {}
_quick: dict[tuple[Any, ...], Entry] = {}  # by driver and types, where all is ours: nothing of ours changes while a process runs
_plain_python = False


class Entry:
    """The machine code of one driver for one set of argument types."""

    def __init__(self, code: Code) -> None:
        self._engine, self.address = link(code)  # the engine owns the code's memory
        self.holding_gil = ctypes.PYFUNCTYPE(None, ctypes.c_int64)(self.address)
        self.releasing_gil = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self.address)


class Call:
    """A driver bound to its arguments. Calling it, or its `run`, runs the native code on them, in place."""

    def __init__(self, driver: Callable[..., None], *args: Any, release_gil: bool = False) -> None:
        self.run = _python_call(driver, args) if _plain_python else _native_call(driver, args, release_gil)

    def __call__(self) -> None:
        self.run()

    def words(self) -> np.ndarray | None:
        """What the native code reads its arguments from, in their order (`words_of`); None where plain Python runs."""
        kept = getattr(self.run, "keeps_alive", None)
        return None if kept is None else kept[0]


def _native_call(driver: Callable[..., None], args: tuple[Any, ...], release_gil: bool) -> Callable[[], None]:
    flat: list[int] = []
    kinds: list[Any] = []
    _flatten(args, flat, kinds)
    words = np.array(flat, dtype=np.int64)
    entry = _quick.get((driver, *kinds)) or _entry(driver, args, kinds)
    function = entry.releasing_gil if release_gil else entry.holding_gil
    address = ctypes.c_int64(words.ctypes.data)

    def run() -> None:
        function(address)

    run.address, run.argument = entry.address, address.value  # type: ignore[attr-defined]
    run.keeps_alive = (words, args, entry)  # type: ignore[attr-defined]  # whose memory the native code reads and writes
    return run


def _python_call(driver: Callable[..., None], args: tuple[Any, ...]) -> Callable[[], None]:
    def run() -> None:
        with np.errstate(all="ignore"):
            driver(*args)

    return run


@contextlib.contextmanager
def plain_python() -> Iterator[None]:
    """Inside this context every learner runs as ordinary Python: for a debugger, for coverage, for teaching.

    The results are the same to the last bit, some thousand times slower.
    """
    global _plain_python
    before, _plain_python = _plain_python, True
    try:
        yield
    finally:
        _plain_python = before


# --- words -----------------------------------------------------------------------------------------------------------


def _flatten(value: Any, words: list[int], kinds: list[Any]) -> None:
    """The argument as 8-byte words; and what its type is made of, for a quick look whether there is code for it already."""
    if isinstance(value, tuple):
        kinds += (type(value), len(value))
        for item in value:
            _flatten(item, words, kinds)
    elif isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError("compiled code takes contiguous arrays")
        kinds += (value.dtype, value.ndim)
        words.append(value.__array_interface__["data"][0])
        words += value.shape
    elif isinstance(value, float):
        kinds.append(float)
        words += struct.unpack("q", struct.pack("d", value))
    else:
        kinds.append(int)
        words.append(int(value))


def words_of(*args: Any) -> np.ndarray:
    """The words of a call's first arguments."""
    words: list[int] = []
    _flatten(args, words, [])
    return np.array(words, dtype=np.int64)


def _description(value: Any) -> str:
    """The argument's type as text: what the cache is keyed on."""
    if isinstance(value, tuple):
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        return f"{name}({','.join(map(_description, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}[{value.ndim}]"
    if isinstance(value, float):
        return "float"
    if isinstance(value, int):
        return "int"
    raise TypeError(f"compiled code takes numbers, arrays and NamedTuples of them, not {type(value).__name__}")


# --- the cache -------------------------------------------------------------------------------------------------------


def _entry(driver: Callable[..., None], args: tuple[Any, ...], kinds: list[Any]) -> Entry:
    """The machine code: from this process, from the disk cache, or compiled now."""
    foreign = _foreign(args)
    key = _key(driver, args, foreign)
    with _lock:
        entry = _entries.get(key) or _load(key) or _compile_and_save(key, driver, args)
        _entries[key] = entry
        if not foreign and _is_ours(driver.__module__):
            _quick[(driver, *kinds)] = entry
    return entry


def _foreign(args: tuple[Any, ...]) -> list[type]:
    return sorted({cls for cls in tuple_classes(args) if not _is_ours(cls.__module__)}, key=repr)


def _key(driver: Callable[..., None], args: tuple[Any, ...], foreign: list[type]) -> str:
    parts = [_environment(), _fingerprint(driver, set()), _description(args), *(_fingerprint(cls, set()) for cls in foreign)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


__all__ = ["Call", "CompilationError", "cache_directory", "plain_python", "words_of"]
_environment_text: str | None = None


def _environment() -> str:
    """Everything a kernel depends on that is the same for the whole process, as text."""
    global _environment_text
    if _environment_text is None:
        package = pathlib.Path(__file__).parents[1]
        digest = hashlib.sha256()
        for name in CORE:
            for path in [package / f"{name}.py"] if "/" not in name else sorted(package.glob(f"{name}*.py")):
                digest.update(path.read_bytes())
        versions = [importlib.metadata.version(name) for name in ("numba", "llvmlite", "numpy")]
        _environment_text = " ".join([str(FORMAT), digest.hexdigest(), sys.version, *versions, processor()])
    return _environment_text


def _is_ours(module: str | None) -> bool:
    """Whether a module is among those whose text is part of every key; all others count as a user's."""
    package, _, name = (module or "").partition(".")
    return package == "volatilis" and any(name == known or f"{name}.".startswith(known.replace("/", ".")) for known in CORE)


def _fingerprint(value: Any, seen: set[int]) -> str:
    """What compiled code can see of a Python object, as text: byte code, constants, and all that they refer to."""
    if isinstance(value, (int, float, complex, str, bytes, bool, type(None), np.generic, np.dtype)):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}{value.shape}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, (tuple, frozenset)) and type(value) in (tuple, frozenset):
        return f"({','.join(_fingerprint(item, seen) for item in value)})"
    if id(value) in seen:
        return ""
    seen.add(id(value))
    value = getattr(value, "py_func", value)  # of a function that the user compiled with Numba
    if inspect.isfunction(value):
        if _is_ours(value.__module__) and value.__closure__ is None:
            return f"{value.__module__}.{value.__qualname__}"
        return _fingerprint_function(value, seen)
    if inspect.isclass(value):
        if _is_ours(value.__module__):
            return f"{value.__module__}.{value.__qualname__}"
        methods = sorted((n, m) for n, m in inspect.getmembers(value, inspect.isfunction) if not n.startswith("_"))
        return f"{value.__module__}.{value.__qualname__}" + "".join(n + _fingerprint(m, seen) for n, m in methods)
    if inspect.ismodule(value):
        return _fingerprint_module(value)
    if isinstance(value, python_types.CodeType):
        return _fingerprint_code(value, seen)
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _fingerprint_function(function: Any, seen: set[int]) -> str:
    closure = [cell.cell_contents for cell in function.__closure__ or ()]
    names = [name for code in _all_code(function.__code__) for name in code.co_names]
    reached = [(name, function.__globals__[name]) for name in sorted(set(names)) if name in function.__globals__]
    parts = [_fingerprint_code(function.__code__, seen), _fingerprint(function.__defaults__, seen)]
    parts += [_fingerprint(value, seen) for value in closure]
    parts += [name + _fingerprint(value, seen) for name, value in reached]
    return "|".join(parts)


def _all_code(code: python_types.CodeType) -> Iterator[python_types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            yield from _all_code(constant)


def _fingerprint_code(code: python_types.CodeType, seen: set[int]) -> str:
    constants = ",".join(_fingerprint(constant, seen) for constant in code.co_consts)
    return f"{code.co_code.hex()}{code.co_names}{code.co_varnames}{constants}"


def _fingerprint_module(module: python_types.ModuleType) -> str:
    """A module's text if it is the user's own; the name of a library, whose version the environment holds or the user keeps."""
    path = getattr(module, "__file__", None)
    if path is None or "site-packages" in path or path.startswith(sys.base_prefix) or _is_ours(module.__name__):
        return module.__name__ + str(getattr(module, "__version__", ""))
    with contextlib.suppress(OSError):
        return module.__name__ + hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    return module.__name__


def _compile_and_save(key: str, driver: Callable[..., None], args: tuple[Any, ...]) -> Entry:
    code = compile_driver(driver, args)
    _save(key, code)
    return Entry(code)


def cache_directory() -> pathlib.Path:
    """Where compiled kernels are kept: $VOLATILIS_CACHE_DIR, or the user's cache folder."""
    chosen = os.environ.get("VOLATILIS_CACHE_DIR")
    if chosen:
        return pathlib.Path(chosen)
    if sys.platform == "win32":
        base = pathlib.Path(os.environ.get("LOCALAPPDATA", pathlib.Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = pathlib.Path.home() / "Library" / "Caches"
    else:
        base = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    return base / "volatilis"


def _load(key: str) -> Entry | None:
    """The kernel from the cache; None if it is not there or is not whole."""
    try:
        content = (cache_directory() / f"{key}.kernel").read_bytes()
        head, _, code = content.partition(b"\n")
        header = json.loads(head)
        if header["sha256"] != hashlib.sha256(code).hexdigest():
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Entry(Code(header["symbol"], header["needs_numba"], code))


def _save(key: str, code: Code) -> None:
    digest = hashlib.sha256(code.object_file).hexdigest()
    header = {"symbol": code.symbol, "needs_numba": code.needs_numba, "sha256": digest}
    directory = cache_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with whole_file(directory / f"{key}.kernel", private=True) as file:
            file.write(json.dumps(header).encode() + b"\n" + code.object_file)
    except OSError as error:
        warnings.warn(
            f"compiled code cannot be kept in {directory} ({os.strerror(error.errno or 0)}), so every process compiles anew; "
            "set VOLATILIS_CACHE_DIR to a folder that can be written",
            RuntimeWarning,
            stacklevel=2,
        )
