"""What compiled code may call: the list that `translation` hands to Numba when it is first needed.

Marking a class or function costs nothing and imports nothing; the methods stay ordinary Python.
"""

from __future__ import annotations

import inspect
import opcode
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

C = TypeVar("C", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])

RAISE = opcode.opmap["RAISE_VARARGS"]

functions: list[Callable[..., Any]] = []
apart: set[Callable[..., Any]] = set()  # of these functions, those that are not copied into every place that calls them
instructions: list[Callable[..., Any]] = []
classes: dict[str, type] = {}
method_signatures: dict[str, inspect.Signature] = {}
all_fields: set[str] = set()


def compiled_function(function: Function) -> Function:
    """Let compiled code call this function; Python calls it as before.

        function   a plain function of numbers and arrays, which raises nothing

    Returns the function itself. Raises nothing: what cannot be compiled is told when it is first used (`CompilationError`).

    >>> import volatilis as vl
    >>> @vl.compiled_function
    ... def halved(x):
    ...     return 0.5 * x
    >>> halved(3.0)
    1.5
    """
    functions.append(function)
    return function


def rarely_called(function: Function) -> Function:
    """`compiled_function` for what is long and mostly skipped: one function; others are copied into each place that calls them.

    So a kernel compiles sooner, and the loop around the call is short.
    """
    apart.add(function)
    return compiled_function(function)


def instruction(function: Function) -> Function:
    """A function that is one instruction of LLVM, of the function's name; Python runs the definition."""
    instructions.append(function)
    return function


def compiled_methods(cls: C) -> C:
    """Let compiled code call the public methods of this NamedTuple class; Python calls them as before.

    A method whose name starts with an underscore, or that is marked with `python_only`, stays Python's alone.
    """
    _check_fields(cls)
    for name, method in vars(cls).items():
        if name.startswith("_") or not inspect.isfunction(method) or is_python_only(method):
            continue
        _check_method(cls, name, method)
        method_signatures.setdefault(name, inspect.signature(method))
    classes[f"{cls.__module__}:{cls.__qualname__}"] = cls
    return cls


def python_only(method: Function) -> Function:
    """A method that compiled code never calls (validation, sampling, drawing).

        method   of a family or learner of one's own; it may use all of Python

    Returns the method itself. Raises nothing.

    >>> import volatilis as vl
    >>> @vl.python_only
    ... def describe(self):
    ...     return f"noise {self.sigma}"
    >>> describe(vl.Gaussian(sigma=0.5))
    'noise 0.5'
    """
    method._python_only = True  # type: ignore[attr-defined]
    return method


def is_python_only(method: Any) -> bool:
    return getattr(method, "_python_only", False)


def _check_fields(cls: type) -> None:
    """Compiled code looks a name up among all classes' methods first, so no field may be called as any method is."""
    methods = {name for name, value in vars(cls).items() if inspect.isfunction(value) and not name.startswith("_")}
    for field in getattr(cls, "_fields", ()):
        if field in method_signatures:
            raise TypeError(f"{cls.__name__}: a field may not be called {field!r}, which is the name of a compiled method")
        all_fields.add(field)
    taken = sorted(methods & all_fields)
    if taken:
        raise TypeError(f"{cls.__name__}: a method may not be called {taken[0]!r}, which is the name of a field")


def _check_method(cls: type, name: str, method: FunctionType) -> None:
    if hasattr(tuple, name):
        raise TypeError(f"{cls.__name__}.{name}: every tuple has a method {name!r} already; choose another name")
    known = method_signatures.get(name)
    signature = inspect.signature(method)
    if known is not None and len(known.parameters) != len(signature.parameters):
        raise TypeError(
            f"{cls.__name__}.{name}{signature}: in this process every compiled method {name!r} takes {known}; "
            "choose another name, or start Python anew"
        )
    if RAISE in method.__code__.co_code[::2]:  # each instruction is two bytes, the first its number
        raise TypeError(
            f"{cls.__name__}.{name} raises an exception, which compiled code cannot; check values at construction, "
            "or mark the method with volatilis.python_only if no learner calls it"
        )
