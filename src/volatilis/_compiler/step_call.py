"""The shortest way from Python to a compiled step: a built-in function made of machine code.

`float_to_tuple` binds a compiled step to a Python function of one float: it stores the float where the step expects its
observation, runs the step, and returns what the step wrote as a tuple of a given class. Only documented functions of Python's
C interface are called. Through ctypes and NumPy the same takes twice as long.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from volatilis._compiler.host import assemble, link
from volatilis._compiler.translation import Translation

_SYMBOL = "volatilis_float_to_tuple"
_TEXT = f"""
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyType_GenericAlloc(ptr, i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)

define ptr @{_SYMBOL}(ptr %self, ptr %observation) {{
entry:
  %binding = call ptr @PyLong_AsVoidPtr(ptr %self)
  %y.address = load ptr, ptr %binding
  %step.slot = getelementptr ptr, ptr %binding, i64 1
  %step = load ptr, ptr %step.slot
  %argument.slot = getelementptr i64, ptr %binding, i64 2
  %argument = load i64, ptr %argument.slot
  %out.slot = getelementptr ptr, ptr %binding, i64 3
  %out = load ptr, ptr %out.slot
  %size.slot = getelementptr i64, ptr %binding, i64 4
  %size = load i64, ptr %size.slot
  %class.slot = getelementptr ptr, ptr %binding, i64 5
  %class = load ptr, ptr %class.slot
  %y = call double @PyFloat_AsDouble(ptr %observation)
  store double %y, ptr %y.address
  %ignored = call ptr %step(i64 %argument)
  %tuple = call ptr @PyType_GenericAlloc(ptr %class, i64 %size)
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %end, label %fill
fill:
  %i = phi i64 [ 0, %entry ], [ %next, %fill ]
  %from = getelementptr double, ptr %out, i64 %i
  %value = load double, ptr %from
  %number = call ptr @PyFloat_FromDouble(double %value)
  %status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %i, ptr %number)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %size
  br i1 %more, label %fill, label %end
end:
  ret ptr %tuple
}}
"""
_METH_O = 0x0008


class _MethodDefinition(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


_machine_code: tuple[Any, int] | None = None


def float_to_tuple(run: Any, y: np.ndarray, out: np.ndarray, result: type) -> tuple[Callable[[float], Any], object]:
    """A function that stores its argument in y[0], calls the compiled `run`, and returns `out` as a `result`, a tuple class.

    Second comes what must live as long as the function.
    """
    global _machine_code
    if _machine_code is None:
        _machine_code = link(assemble(Translation([_TEXT], _SYMBOL))._replace(needs_numba=False))
    binding = np.array([y.ctypes.data, run.address, run.argument, out.ctypes.data, out.size, id(result)], dtype=np.int64)
    definition = _MethodDefinition(b"update", _machine_code[1], _METH_O, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    function = make(ctypes.addressof(definition), binding.ctypes.data, None)
    return function, (binding, definition, run, y, out, result)
