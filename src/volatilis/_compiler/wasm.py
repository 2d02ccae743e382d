"""The target "wasm": the same text for WebAssembly, so that a browser runs the very learners that Python runs.

The machine has 32-bit addresses and no fused multiply-add. With `exact` the instruction is made of others, and numbers are
the host's to the last bit; without, it is a product and a sum, each rounded, and numbers agree to some 1e-15 of their size:
several times as fast where a learner weighs many hypotheses. Nothing may be called that is not in the text: there is no library.
"""

from __future__ import annotations

import hashlib
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from volatilis._compiler import cache
from volatilis._compiler.host import Code, merged, no_garbage_collection, optimise, outside_functions, trap_exceptions
from volatilis._compiler.instructions import INSTRUCTIONS, OPTIONS
from volatilis._compiler.translation import (
    CompilationError,
    Translation,
    import_numba,
    register_functions,
    translate,
)

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext"
STACK = 1 << 16

# What `total` reads beyond the last number it drops: a browser's memory goes on there, so the whole eight may be read.
# {alignment} is a number among the arguments in older versions of LLVM, and none in newer ones.
_WHOLE_LOAD = """
define internal <8 x double> @volatilis_load(ptr %from, {alignment}<8 x i1> %mask, <8 x double> %otherwise) alwaysinline {{
  %eight = load <8 x double>, ptr %from, align 8
  %kept = select <8 x i1> %mask, <8 x double> %eight, <8 x double> %otherwise
  ret <8 x double> %kept
}}
"""
_MASKED_LOAD = re.compile(r"^declare <8 x double> @llvm\.masked\.load\.v8f64\.p0\((.*)\).*$", flags=re.MULTILINE)


# a b + c, rounded once (Boldo & Melquiond 2008): the product and both sums with their errors, the small parts added up with
# rounding to odd. Beyond where the errors themselves are exact it is the plain product and sum. A function that is called:
# put in place of every instruction it made kernels seven times as long, and one of them took LLVM a minute.
_FMA = """
define internal {double, double} @volatilis_sum(double %a, double %b) alwaysinline {
  %s = fadd double %a, %b
  %t = fsub double %s, %a
  %u = fsub double %s, %t
  %v = fsub double %a, %u
  %w = fsub double %b, %t
  %e = fadd double %v, %w
  %1 = insertvalue {double, double} undef, double %s, 0
  %2 = insertvalue {double, double} %1, double %e, 1
  ret {double, double} %2
}
define internal {double, double} @volatilis_split(double %a) alwaysinline {
  %c = fmul double %a, 134217729.0
  %d = fsub double %c, %a
  %high = fsub double %c, %d
  %low = fsub double %a, %high
  %1 = insertvalue {double, double} undef, double %high, 0
  %2 = insertvalue {double, double} %1, double %low, 1
  ret {double, double} %2
}
define internal double @volatilis_fma(double %a, double %b, double %c) noinline {
  %p = fmul double %a, %b
  %a.split = call {double, double} @volatilis_split(double %a)
  %a.high = extractvalue {double, double} %a.split, 0
  %a.low = extractvalue {double, double} %a.split, 1
  %b.split = call {double, double} @volatilis_split(double %b)
  %b.high = extractvalue {double, double} %b.split, 0
  %b.low = extractvalue {double, double} %b.split, 1
  %hh = fmul double %a.high, %b.high
  %hl = fmul double %a.high, %b.low
  %lh = fmul double %a.low, %b.high
  %ll = fmul double %a.low, %b.low
  %e.1 = fsub double %hh, %p
  %e.2 = fadd double %e.1, %hl
  %e.3 = fadd double %e.2, %lh
  %e = fadd double %e.3, %ll
  %first = call {double, double} @volatilis_sum(double %c, double %e)
  %first.high = extractvalue {double, double} %first, 0
  %first.low = extractvalue {double, double} %first, 1
  %second = call {double, double} @volatilis_sum(double %p, double %first.high)
  %second.high = extractvalue {double, double} %second, 0
  %second.low = extractvalue {double, double} %second, 1
  %small = call {double, double} @volatilis_sum(double %first.low, double %second.low)
  %v = extractvalue {double, double} %small, 0
  %rest = extractvalue {double, double} %small, 1
  %bits = bitcast double %v to i64
  %odd = and i64 %bits, 1
  %is.even = icmp eq i64 %odd, 0
  %is.inexact = fcmp une double %rest, 0.0
  %move = and i1 %is.even, %is.inexact
  %rest.bits = bitcast double %rest to i64
  %differ = xor i64 %bits, %rest.bits
  %inwards = icmp slt i64 %differ, 0
  %step = select i1 %inwards, i64 -1, i64 1
  %moved = add i64 %bits, %step
  %odd.bits = select i1 %move, i64 %moved, i64 %bits
  %z = bitcast i64 %odd.bits to double
  %fused = fadd double %second.high, %z
  %plain = fadd double %p, %c
  %size = call double @llvm.fabs.f64(double %p)
  %not.small = fcmp ogt double %size, 1.0e-250
  %not.large = fcmp olt double %size, 1.0e250
  %a.size = call double @llvm.fabs.f64(double %a)
  %b.size = call double @llvm.fabs.f64(double %b)
  %a.fits = fcmp olt double %a.size, 1.0e250
  %b.fits = fcmp olt double %b.size, 1.0e250
  %c.size = call double @llvm.fabs.f64(double %c)
  %c.fits = fcmp olt double %c.size, 1.0e250
  %fits.1 = and i1 %not.small, %not.large
  %fits.2 = and i1 %a.fits, %b.fits
  %fits.3 = and i1 %fits.1, %fits.2
  %fits = and i1 %fits.3, %c.fits
  %result = select i1 %fits, double %fused, double %plain
  ret double %result
}
declare double @llvm.fabs.f64(double)
"""


def compiled(driver: Callable[..., None], args: tuple[object, ...], name: str, exact: bool = False) -> bytes:
    """A driver for arguments of these types as an object file: from the cache, or compiled now and kept there."""
    parts = (cache.kernel_key(driver, args)[0], TRIPLE, FEATURES, name, exact)
    key = hashlib.sha256(" ".join(map(str, parts)).encode()).hexdigest()[:40]
    kept = cache.load(key)
    if kept is None:
        import_numba()
        register_functions(INSTRUCTIONS, OPTIONS)
        with no_garbage_collection():
            kept = Code(name, False, assemble(translate(driver, args), name, exact))
        cache.save(key, kept)
    return kept.object_file


def assemble(translation: Translation, name: str, exact: bool) -> bytes:
    """An object file for WebAssembly, whose one function is called `name`."""
    texts = [_for_browsers(text, translation.symbol, name, exact) for text in translation.texts]
    module, machine = merged(Translation(texts, name)), _machine()
    trap_exceptions(module)
    optimise(module, machine)
    outside = outside_functions(module)
    if outside:
        raise CompilationError(f"{name} cannot be compiled for browsers: it calls {', '.join(sorted(outside))}")
    return machine.emit_object(module)


def linker() -> str | None:
    """The linker for WebAssembly, where there is one."""
    names = ("wasm-ld", *(f"wasm-ld-{version}" for version in range(30, 10, -1)))
    return next(filter(None, map(shutil.which, names)), None)


def link(objects: Mapping[str, bytes]) -> bytes:
    """One module of all object files, by the names of their functions, with one memory. It imports nothing."""
    command = linker()
    if command is None:
        raise FileNotFoundError(
            "wasm-ld is needed to link for browsers, and is not there; apt-get install lld, or another package of LLVM's linker"
        )
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for number, code in enumerate(objects.values()):
            (place / f"{number}.o").write_bytes(code)
        exports = [f"--export={name}" for name in (*objects, "__heap_base")]
        options = ["--no-entry", "--strip-all", "-z", f"stack-size={STACK}", "-o", "linked.wasm"]
        done = subprocess.run(
            [command, *options, *exports, *(f"{number}.o" for number in range(len(objects)))],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise CompilationError(f"{command} could not link for browsers: {done.stderr.strip()}")
        return (place / "linked.wasm").read_bytes()


def _for_browsers(text: str, symbol: str, name: str, exact: bool) -> str:
    """The text with what this machine has: no fused instruction, no mathematics library, no common symbols, no masked loads."""
    text = text.replace(symbol, name)
    if exact and "@llvm.fma.f64" in text:
        text = re.sub(r"^declare .*@llvm\.(fma|fabs)\.f64.*$", "", text, flags=re.MULTILINE)
        text = text.replace("@llvm.fma.f64", "@volatilis_fma") + _FMA
    text = text.replace("@llvm.fma.", "@llvm.fmuladd.")
    text = re.sub(r"@sqrt\b", "@llvm.sqrt.f64", text)
    text = re.sub(r"\bcommon (local_unnamed_addr )?global\b", "internal global", text)
    text = re.sub(r'^target (datalayout|triple) = ".*"\n', "", text, flags=re.MULTILINE)
    text = re.sub(r'"target-(cpu|features)"="[^"]*"', "", text)
    declared = _MASKED_LOAD.search(text)
    if declared is not None:
        text = _MASKED_LOAD.sub("", text).replace("@llvm.masked.load.v8f64.p0", "@volatilis_load")
        text += _WHOLE_LOAD.format(alignment="i32 %alignment, " if "i32" in declared.group(1) else "")
    return text


def _machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu="generic", features=FEATURES, opt=3, reloc="static", codemodel="default")
