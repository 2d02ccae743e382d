"""Kernels compiled ahead of time, which a wheel carries: one archive for each level of processor. A source checkout has none.

They are found by the key of the cache without what belongs to one machine: the package's sources, the driver, and the types of
its arguments. So an edit of the sources, or a class of the user's own, finds nothing here and is compiled as ever; Numba is
neither needed nor imported for what is found. Within a level all machines compute the same bits, and so do all levels.
"""

from __future__ import annotations

import functools
import hashlib
import json
import pathlib
import platform
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

from volatilis._compiler import cache
from volatilis._compiler.host import Code, assemble, no_garbage_collection

FOLDER = pathlib.Path(__file__).with_name("kernels")


class Level(NamedTuple):
    """What a processor must be able to do, and LLVM's names for it."""

    name: str
    machine: str  # as `platform.machine()` has it
    triple: str
    cpu: str
    needs: frozenset[str] = frozenset()  # among LLVM's names of features


_V2 = frozenset({"cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"})
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
LEVELS = (  # the best first
    Level("x86-64-v4", "x86_64", _X86, "x86-64-v4", _V4),
    Level("x86-64-v3", "x86_64", _X86, "x86-64-v3", _V3),
    Level("x86-64-v2", "x86_64", _X86, "x86-64-v2", _V2),
    Level("aarch64", "aarch64", _ARM, "generic"),
)


def load(driver: Callable[..., None], args: tuple[object, ...]) -> tuple[str, Code] | None:
    """The key and the kernel of a driver for arguments of these types; None where no archive has it."""
    archive = _archive()
    if archive is None:
        return None
    key = cache.portable_key(driver, args)
    code = None if key is None else archive.load(key)
    return None if key is None or code is None else (key, code)


@functools.cache
def _archive() -> Archive | None:
    """The best archive that is there for this machine and these sources."""
    if sys.platform != "linux" or not FOLDER.is_dir():
        return None
    for level in usable_levels(platform.machine(), _features()):
        path = FOLDER / f"{level.name}.kernels"
        if path.is_file():
            archive = Archive(path)
            return archive if archive.sources == cache.sources_digest() else None
    return None


def usable_levels(machine: str, features: Iterable[str]) -> list[Level]:
    """The levels that a processor with these features has, the best first."""
    present = set(features)
    return [level for level in LEVELS if level.machine == machine and level.needs <= present]


def _features() -> list[str]:
    import llvmlite.binding as llvm

    return [name for name, there in llvm.get_host_cpu_features().items() if there]


class Archive:
    """A file of kernels: a line of JSON that says what is where, and then the compressed object files."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        with path.open("rb") as file:
            head = json.loads(file.readline())
            self._start = file.tell()
        self.sources: str = head["sources"]
        self._index: dict[str, list[Any]] = head["index"]

    def __len__(self) -> int:
        return len(self._index)

    def load(self, key: str) -> Code | None:
        """The kernel of a key; None where it is not there or not whole."""
        if key not in self._index:
            return None
        symbol, needs_numba, offset, length, digest = self._index[key]
        with self._path.open("rb") as file:
            file.seek(self._start + offset)
            packed = file.read(length)
        if hashlib.sha256(packed).hexdigest() != digest:
            return None
        return Code(symbol, needs_numba, zlib.decompress(packed))


def write_archive(file: BinaryIO, kernels: Mapping[str, Code]) -> None:
    """An archive of kernels by their keys, for the sources as they are now."""
    index, parts, offset = {}, [], 0
    for key, code in sorted(kernels.items()):
        packed = zlib.compress(code.object_file, 9)
        index[key] = [code.symbol, code.needs_numba, offset, len(packed), hashlib.sha256(packed).hexdigest()]
        parts.append(packed)
        offset += len(packed)
    head = {"sources": cache.sources_digest(), "index": index}
    file.write(json.dumps(head, separators=(",", ":")).encode() + b"\n" + b"".join(parts))


def compiled(driver: Callable[..., None], args: tuple[object, ...], levels: Iterable[Level]) -> dict[str, Code]:
    """A driver for arguments of these types, translated once and assembled for every level."""
    import llvmlite.binding as llvm

    from volatilis._compiler.instructions import INSTRUCTIONS, OPTIONS
    from volatilis._compiler.translation import import_numba, register_functions, translate

    import_numba()
    register_functions(INSTRUCTIONS, OPTIONS)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    kernels = {}
    with no_garbage_collection():
        translation = translate(driver, args)
        for level in levels:
            target = llvm.Target.from_triple(level.triple)
            machine = target.create_target_machine(cpu=level.cpu, opt=3, jit=True, reloc="default", codemodel="jitdefault")
            kernels[level.name] = assemble(translation, machine)
    return kernels
