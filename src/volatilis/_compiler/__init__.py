"""From ordinary Python to native code: the only room that knows Numba and LLVM.

registry       what compiled code may call
translation    a driver in LLVM's language, by Numba; `instructions` and `words` are parts of that language
host, wasm     targets: LLVM's language to machine code for this processor, and for browsers
cache, ahead   machine code on disk, and compiled ahead of time for a wheel
ordinary       the other way to machine code, by Numba alone
calls          a driver bound to its arguments; `step_call`, the shortest such call
"""

from volatilis._compiler.cache import cache_directory, source_files
from volatilis._compiler.calls import Call, for_threads, plain_python
from volatilis._compiler.registry import compiled_function, compiled_methods, instruction, is_python_only, python_only
from volatilis._compiler.step_call import Layout, number_to_tuple
from volatilis._compiler.translation import CompilationError
from volatilis._compiler.words import words_of

__all__ = [
    "Call",
    "CompilationError",
    "Layout",
    "cache_directory",
    "compiled_function",
    "compiled_methods",
    "for_threads",
    "instruction",
    "is_python_only",
    "number_to_tuple",
    "plain_python",
    "python_only",
    "source_files",
    "words_of",
]
