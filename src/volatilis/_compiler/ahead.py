"""Kernels compiled ahead of time, which a wheel carries: a shared library for each level of processor. A checkout has none.

They are found by the key of the cache without what belongs to one machine: the package's sources, the driver, and the types of
its arguments. So an edit of the sources, or a class of the user's own, finds nothing here and is compiled as ever; neither Numba
nor LLVM is needed or imported for what is found. Within a level all machines compute the same bits, and so do all levels.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import pathlib
import platform
import struct
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from volatilis._compiler import cache
from volatilis._compiler.host import (
    Code,
    Loaded,
    merged,
    no_garbage_collection,
    optimise,
    outside_functions,
    simplify,
    trap_exceptions,
)
from volatilis._compiler.translation import Translation

FOLDER = pathlib.Path(__file__).with_name("kernels")
FROM_THE_SYSTEM = frozenset({"fma", "memcpy", "memmove", "memset", "sqrt"})  # what a kernel may call: of the C library


class Level(NamedTuple):
    """What a processor must be able to do, and LLVM's names for it."""

    name: str
    machine: str  # as `platform.machine()` has it
    triple: str
    cpu: str
    needs: frozenset[str] = frozenset()  # as Linux names them in /proc/cpuinfo


_V2 = frozenset({"cx16", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
LEVELS = (  # the best first
    Level("x86-64-v4", "x86_64", _X86, "x86-64-v4", _V4),
    Level("x86-64-v3", "x86_64", _X86, "x86-64-v3", _V3),
    Level("x86-64-v2", "x86_64", _X86, "x86-64-v2", _V2),
    Level("aarch64", "aarch64", _ARM, "generic"),
)


# --- in a wheel ------------------------------------------------------------------------------------------------------


def load(driver: Callable[..., None], args: tuple[object, ...]) -> tuple[str, Loaded] | None:
    """The key and the kernel of a driver for arguments of these types; None where the wheel does not carry it."""
    if _library() is None:
        return None
    key = cache.portable_key(driver, args)
    code = None if key is None else find(symbol(key))
    return None if key is None or code is None else (key, code)


def load_text(text: str) -> Loaded | None:
    """The function that is written in LLVM's language by hand; None where the wheel does not carry it."""
    return None if _library() is None else find(symbol_of_text(text))


def find(name: str) -> Loaded | None:
    """A function of the library by its symbol; None where it is not there."""
    library = _library()
    try:
        return None if library is None else Loaded(library, ctypes.cast(library[name], ctypes.c_void_p).value or 0)
    except AttributeError:
        return None


def symbol(key: str) -> str:
    return f"volatilis_{key}"


def symbol_of_text(text: str) -> str:
    return symbol(hashlib.sha256(text.encode()).hexdigest()[:40])


@functools.cache
def _library() -> ctypes.CDLL | None:
    """The best library that is there for this machine."""
    if sys.platform != "linux" or not FOLDER.is_dir():
        return None
    for level in usable_levels(platform.machine(), _features()):
        path = FOLDER / f"{level.name}.so"
        if path.is_file() and _is_whole(path):
            try:
                ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)  # where `fma` is; Python has most often loaded it
                return ctypes.CDLL(str(path))
            except OSError:  # another C library: everything is compiled, as in a source checkout
                return None
    return None


def _is_whole(path: pathlib.Path) -> bool:
    """Whether the file is as long as its head says; one that was cut would stop Python where it is read."""
    with path.open("rb") as file:
        head = file.read(64)
    if len(head) < 64 or head[:4] != b"\x7fELF":
        return False
    (table,), (size, count) = struct.unpack_from("<Q", head, 40), struct.unpack_from("<HH", head, 58)
    return path.stat().st_size >= table + size * count  # the table of sections comes last


def usable_levels(machine: str, features: Iterable[str]) -> list[Level]:
    """The levels that a processor with these features has, the best first."""
    present = set(features)
    return [level for level in LEVELS if level.machine == machine and level.needs <= present]


def _features() -> list[str]:
    """What the processor can do, as Linux says it; nothing where it does not say."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
    return next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), [])


# --- making it -------------------------------------------------------------------------------------------------------


def compiled(driver: Callable[..., None], args: tuple[object, ...], levels: Iterable[Level]) -> dict[str, bytes]:
    """A driver for arguments of these types as an object file for every level, from the cache, or compiled now and kept there.

    None at all where it allocates, or calls what a machine without Numba may not have.
    """
    from volatilis._compiler.instructions import INSTRUCTIONS, OPTIONS
    from volatilis._compiler.translation import import_numba, register_functions, translate

    key, name = cache.kernel_key(driver, args)[0], cache.portable_key(driver, args)
    if name is None:
        raise ValueError(f"{driver.__name__} is not of this package, or its arguments are not")
    keys = {level: _key_of(key, level) for level in levels}
    kept = {level.name: cache.load(its_key) for level, its_key in keys.items()}
    if all(kept.values()):
        return {level: code.object_file for level, code in kept.items() if code is not None and code.object_file}
    import_numba()
    register_functions(INSTRUCTIONS, OPTIONS)
    with no_garbage_collection():
        objects = assembled(translate(driver, args), symbol(name), keys)
    for level, its_key in keys.items():
        cache.save(its_key, Code(symbol(name), False, objects.get(level.name, b"")))
    return objects


def compiled_text(text: str, name: str, levels: Iterable[Level], outside: frozenset[str]) -> dict[str, bytes]:
    """A function called `name` in LLVM's language as an object file for every level; it may call what is named as outside."""
    return assembled(Translation([text], name), symbol_of_text(text), levels, outside)


def assembled(
    translation: Translation, name: str, levels: Iterable[Level], outside: frozenset[str] = frozenset()
) -> dict[str, bytes]:
    """Simplified once, since that takes the most time; then what depends on the processor, for every level."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machines = {level.name: _machine(level) for level in levels}
    module = merged(translation)
    if not outside:
        trap_exceptions(module)
    module.get_function(translation.symbol).name = name
    simplify(module, next(iter(machines.values())))
    if set(outside_functions(module)) - FROM_THE_SYSTEM - outside:
        return {}
    simplified, objects = module.as_bitcode(), {}
    for level, machine in machines.items():
        module = llvm.parse_bitcode(simplified)
        optimise(module, machine)
        objects[level] = machine.emit_object(module)
    return objects


def _key_of(key: str, level: Level) -> str:
    return hashlib.sha256(f"{key} ahead {level}".encode()).hexdigest()[:40]


def _machine(level: Level) -> Any:
    import llvmlite.binding as llvm

    target = llvm.Target.from_triple(level.triple)
    return target.create_target_machine(cpu=level.cpu, opt=3, reloc="pic", codemodel="default")
