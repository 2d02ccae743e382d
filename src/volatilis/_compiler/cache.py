"""Kernels on disk: found by a key that changes with everything they are made of, so that none is ever stale.

The key is a digest of text: this package's sources, the byte code of every class and function of the user that the kernel
uses, the types of the arguments, the versions of Numba and LLVM, and the processor.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
import os
import pathlib
import stat
import sys
import types as python_types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from volatilis._compiler.host import Code, processor
from volatilis._compiler.registry import is_python_only
from volatilis._compiler.words import tuple_classes, type_text
from volatilis._core.files import whole_file

FORMAT = 2  # of the files
# Versions of Numba that were tried, oldest first. pyproject.toml accepts all from the first to the last of these minor versions.
TESTED = ("0.62.0", "0.62.1", "0.63.1", "0.64.0", "0.65.0", "0.65.1", "0.66.0", "0.67.0", "0.68.0", "0.68.1")

# The sources of kernels: a module, or a package where the name ends with a slash. Every key holds their text.
SOURCES = (
    *(
        "special/",
        "surprise",
        "running/drivers",
        "running/weights",
        "running/pieces",
        "running/beliefs",
        "estimation/errors",
        "families/",
    ),
    *("estimation/evidence", "learners/", "behaviour/responses/", "behaviour/situations", "behaviour/drivers"),
    *(
        "changepoints/alarms",
        "changepoints/drivers",
        "changepoints/evidence",
        "changepoints/blocks",
        "_compiler/",
        "_core/fields",
    ),
)


def outside_package() -> int:
    """The stack level of the user's own line, for a warning of the caller: the first frame that is not of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "volatilis":
        level, frame = level + 1, frame.f_back
    return level


# --- the key ---------------------------------------------------------------------------------------------------------


def kernel_key(driver: Callable[..., None], args: tuple[object, ...]) -> tuple[str, bool]:
    """The key of a driver for arguments of these types, and whether it can never change while this process runs."""
    users = sorted({cls for cls in tuple_classes(args) if not is_source(cls.__module__)}, key=repr)
    parts = [_environment(), _fingerprint(driver, set()), type_text(args), *(_fingerprint(cls, set()) for cls in users)]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]
    return key, not users and is_source(driver.__module__)


def portable_key(driver: Callable[..., None], args: tuple[object, ...]) -> str | None:
    """The same without what belongs to one machine: of kernels that were compiled ahead. None where anything is the user's."""
    if not is_source(driver.__module__) or any(not is_source(cls.__module__) for cls in tuple_classes(args)):
        return None
    parts = [str(FORMAT), sources_digest(), _fingerprint(driver, set()), type_text(args)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def source_files() -> list[pathlib.Path]:
    """The files that `SOURCES` names."""
    package = pathlib.Path(__file__).parents[1]
    files: list[pathlib.Path] = []
    for name in SOURCES:
        files += sorted((package / name).rglob("*.py")) if name.endswith("/") else [package / f"{name}.py"]
    return files


def is_source(module: str | None) -> bool:
    """Whether a module's text is part of every key; all other modules count as the user's."""
    package, _, name = (module or "").partition(".")
    return package == "volatilis" and any(
        f"{name}.".startswith(source.replace("/", ".")) if source.endswith("/") else name == source.replace("/", ".")
        for source in SOURCES
    )


@functools.cache
def sources_digest() -> str:
    """Of the text of all sources."""
    digest = hashlib.sha256()
    for path in source_files():
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _environment() -> str:
    """Everything a kernel depends on that is the same for the whole process, as text."""
    versions = [installed_version(name) for name in ("numba", "llvmlite", "numpy")]
    check_numba(versions[0])
    return " ".join([str(FORMAT), sources_digest(), sys.version, *versions, processor()])


def installed_version(name: str) -> str:
    """The version of a package, which need not be imported for it."""
    import importlib.metadata  # slow: a command that computes nothing does without

    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        raise ImportError(
            f"what this needs was not compiled ahead of time, and {name} is not installed to compile it now: pip install {name}"
        ) from None


def check_numba(version: str) -> None:
    """Refuse a version of Numba outside the range that was tried: its private interfaces, which we use, may be others."""
    oldest, newest, installed = (tuple(int(part) for part in text.split(".")[:2]) for text in (TESTED[0], TESTED[-1], version))
    if not oldest <= installed <= newest:
        first, last, following = (f"{major}.{minor}" for major, minor in (oldest, newest, (newest[0], newest[1] + 1)))
        raise ImportError(
            f"volatilis works with Numba {first} to {last}, and {version} is installed: "
            f"pip install 'numba>={first},<{following}', or set VOLATILIS_COMPILER=numba "
            "for a slower compiler that works with any Numba"
        )


def _fingerprint(value: Any, seen: set[int]) -> str:
    """What compiled code can see of a Python object, as text: byte code, constants, and all that they refer to."""
    if isinstance(value, (int, float, complex, str, bytes, bool, type(None), np.generic, np.dtype)):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}{value.shape}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if type(value) is tuple:
        return f"({','.join(_fingerprint(item, seen) for item in value)})"
    if type(value) is frozenset:  # texts in it stand in another order in every process
        return f"{{{','.join(sorted(_fingerprint(item, seen) for item in value))}}}"
    if id(value) in seen:
        return ""
    seen.add(id(value))
    value = getattr(value, "py_func", value)  # of a function that the user compiled with Numba
    if inspect.isfunction(value):
        if is_source(value.__module__) and value.__closure__ is None:
            return f"{value.__module__}.{value.__qualname__}"
        return _fingerprint_function(value, seen)
    if inspect.isclass(value):
        if is_source(value.__module__):
            return f"{value.__module__}.{value.__qualname__}"
        functions = inspect.getmembers(value, inspect.isfunction)
        methods = sorted((n, m) for n, m in functions if not (n.startswith("_") or is_python_only(m)))
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
    if path is None or "site-packages" in path or path.startswith(sys.base_prefix) or is_source(module.__name__):
        return module.__name__ + str(getattr(module, "__version__", ""))
    with contextlib.suppress(OSError):
        return module.__name__ + hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    return module.__name__


# --- the files -------------------------------------------------------------------------------------------------------


def cache_directory() -> pathlib.Path:
    """Where compiled kernels are kept: $VOLATILIS_CACHE_DIR, or the user's cache folder.

    Returns the path of a folder, which need not be there yet. Raises RuntimeError where there is neither a variable nor a home.

    >>> import volatilis as vl
    >>> vl.cache_directory().name != ""
    True
    """
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


def load(key: str) -> Code | None:
    """The kernel from the cache; None if it is not there, is not whole, or somebody else may have written it."""
    path = cache_directory() / f"{key}.kernel"
    try:
        if _refused(path.parent, *_owner_and_mode(path.parent.stat())):
            return None
        with path.open("rb") as file:
            if _refused(path, *_owner_and_mode(os.fstat(file.fileno()))):
                return None
            head, _, code = file.read().partition(b"\n")
        header = json.loads(head)
        if header["sha256"] != hashlib.sha256(code).hexdigest():
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Code(header["symbol"], header["needs_numba"], code)


@functools.cache
def _refused(path: pathlib.Path, owner: int, mode: int) -> bool:
    """Whether another user may have put machine code there, or altered it; says so, once."""
    if sys.platform == "win32":  # no owners and modes there: access lists protect the user's folders
        return False
    if owner != os.geteuid():
        reason = f"{path} belongs to another user"
    elif mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = f"other users may write to {path}"
    else:
        return False
    warnings.warn(
        f"compiled code in the cache is not used, since {reason}; "
        "make it yours alone (chown, chmod go-w), or set VOLATILIS_CACHE_DIR to another folder",
        RuntimeWarning,
        stacklevel=outside_package(),
    )
    return True


def _owner_and_mode(status: os.stat_result) -> tuple[int, int]:
    return status.st_uid, status.st_mode


def save(key: str, code: Code) -> None:
    """Keep a kernel, whole or not at all."""
    digest = hashlib.sha256(code.object_file).hexdigest()
    header = {"symbol": code.symbol, "needs_numba": code.needs_numba, "sha256": digest}
    directory = cache_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if _refused(directory, *_owner_and_mode(directory.stat())):
            return
        with whole_file(directory / f"{key}.kernel", private=True) as file:
            file.write(json.dumps(header).encode() + b"\n" + code.object_file)
    except OSError as error:
        warnings.warn(
            f"compiled code cannot be kept in {directory} ({os.strerror(error.errno or 0)}), so every process compiles anew; "
            "set VOLATILIS_CACHE_DIR to a folder that can be written",
            RuntimeWarning,
            stacklevel=outside_package(),
        )
