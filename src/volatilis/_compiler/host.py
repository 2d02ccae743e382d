"""The target "host": the processor that Python itself runs on. LLVM's text becomes an object file, and that a function.

Another target is another file like this one: its machine, what its text must have otherwise, and how its code is loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler.translation import Translation, linked


class Code(NamedTuple):
    """An object file, the function in it, and whether it refers to Numba's run-time library."""

    symbol: str
    needs_numba: bool
    object_file: bytes


class Loaded(NamedTuple):
    """A function in memory: what owns it, and its address."""

    owner: Any
    address: int


def assemble(translation: Translation) -> Code:
    """LLVM's text as an object file, for this processor."""
    module, machine = merged(translation), _machine()
    optimise(module, machine)
    needs_numba = any(name.startswith(("NRT_", "numba_", "Py", "_Py")) for name in outside_functions(module))
    return Code(translation.symbol, needs_numba, machine.emit_object(module))


def link(code: Code) -> Loaded:
    """Load an object file."""
    import llvmlite.binding as llvm

    if code.needs_numba:
        start_runtime()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.object_file))
    engine.finalize_object()
    return Loaded(engine, engine.get_function_address(code.symbol))


def start_runtime() -> None:
    """Define the symbols that a kernel that allocates refers to."""
    from numba.core import registry
    from numba.core.runtime import rtsys

    rtsys.initialize(registry.cpu_target.target_context)


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


LOOKED_AFTER = 16  # compilations, each of which leaves about 20 MB that only the collector finds
_compilations = itertools.count(1)


@contextlib.contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Numba makes objects by the hundred thousand, and keeps them: looking for garbage among them takes a fifth of the time.

    A process that compiles many kernels looks now and then, lest it grows by gigabytes.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled and next(_compilations) % LOOKED_AFTER == 0:
            gc.collect()
        if enabled and gc.get_freeze_count() == 0:  # all count as old objects now, so that the next look leaves them out
            gc.freeze()
            gc.unfreeze()
        if enabled:
            gc.enable()


# --- LLVM, the same for every target ---------------------------------------------------------------------------------


def merged(translation: Translation) -> Any:
    """One module of all texts, in which only the symbol can be seen from outside."""
    texts, symbol = translation
    if not any(re.search(r"@NRT_(MemInfo_(alloc|new)|Allocate)", text) for text in texts):
        # Nothing is allocated, and arrays from words own nothing: counting references to them would do nothing, slowly.
        counting = re.compile(r"^ *(tail )?call void @NRT_(incref|decref)\(.*$", flags=re.MULTILINE)
        texts = [counting.sub("", text) for text in texts]
    module = linked(texts)
    module.verify()
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name == symbol else "internal"
    return module


def outside_functions(module: Any) -> dict[str, str]:
    """The functions that a module calls and does not have, with their declarations."""
    return {f.name: str(f) for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}


def trap_exceptions(module: Any) -> None:
    """Where Numba would raise an exception, which no method here can, the program stops: for code without Numba at hand."""
    import llvmlite.binding as llvm

    raising = [text for name, text in outside_functions(module).items() if name.startswith(("Py", "_Py", "numba_"))]
    for text in raising:
        heading = re.sub(r"\s*#\d+", "", text.strip().splitlines()[-1]).replace("declare", "define", 1)
        trap = "declare void @llvm.trap()"
        module.link_in(llvm.parse_assembly(f"{heading} {{\n  call void @llvm.trap()\n  unreachable\n}}\n{trap}\n"))
    for function in module.functions:
        if not function.is_declaration and any(f"@{function.name}(" in text for text in raising):
            function.linkage = "internal"


def optimise(module: Any, machine: Any) -> None:
    """All that LLVM knows, for this machine."""
    import llvmlite.binding as llvm

    # Lock-step loops go over a dozen arrays; let the vectoriser check all of them for overlap.
    llvm.set_option("volatilis", "--runtime-memory-check-threshold=256")
    _run_passes(module, machine, speed_level=3, vectorised=True)


def simplify(module: Any, machine: Any) -> None:
    """What hardly depends on the machine, before `optimise`: done once for several machines, it saves a third of the time."""
    _run_passes(module, machine, speed_level=2, vectorised=False)


def _run_passes(module: Any, machine: Any, speed_level: int, vectorised: bool) -> None:
    import llvmlite.binding as llvm

    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=speed_level)
    tuning.loop_vectorization = vectorised
    tuning.slp_vectorization = vectorised
    tuning.loop_unrolling = False  # a quarter of LLVM's time, and no kernel is faster for it
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
