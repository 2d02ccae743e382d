"""The target "host": the processor that Python itself runs on. LLVM's text becomes an object file, and that a function.

Another target is another file like this one: its machine, what its text must have otherwise, and how its code is loaded.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler.translation import Translation, merged, optimise, start_runtime, trap_exceptions


class Code(NamedTuple):
    """An object file, the function in it, and whether it refers to Numba's run-time library."""

    symbol: str
    needs_numba: bool
    object_file: bytes


def assemble(translation: Translation, machine: Any = None) -> Code:
    """LLVM's text as an object file, for this processor; or for another machine, where Numba may not be at hand."""
    import llvmlite.binding as llvm

    # Lock-step loops go over a dozen arrays; let the vectoriser check all of them for overlap.
    llvm.set_option("volatilis", "--runtime-memory-check-threshold=256")
    module = merged(translation)
    if machine is not None:
        trap_exceptions(module)
    machine = _machine() if machine is None else machine
    optimise(module, machine)
    outside = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    needs_numba = any(name.startswith(("NRT_", "numba_", "Py", "_Py")) for name in outside)
    return Code(translation.symbol, needs_numba, machine.emit_object(module))


def link(code: Code) -> tuple[Any, int]:
    """Load an object file; returns its owner and the address of its function."""
    import llvmlite.binding as llvm

    if code.needs_numba:
        start_runtime()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.object_file))
    engine.finalize_object()
    return engine, engine.get_function_address(code.symbol)


def call_once(code: Code, words: np.ndarray) -> None:
    """Load a function of the address of words, and call it."""
    engine, address = link(code)
    ctypes.CFUNCTYPE(None, ctypes.c_int64)(address)(words.ctypes.data)
    del engine


def processor() -> str:
    """The processor and what it can do, as text."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name() + llvm.get_host_cpu_features().flatten()


def _machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        jit=True,
        reloc="default",
        codemodel="jitdefault",
    )
