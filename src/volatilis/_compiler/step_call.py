"""The shortest way from Python to a compiled step: a built-in function made of machine code.

`number_to_tuple` binds a compiled step to a Python function of one number. The function tests that the number is in range, stores
it where the step expects its observation, runs the step, and returns what the step wrote as a tuple of a given class. It returns
None, and does nothing, where the ordinary way is needed: the number is out of range, the step found no room, or another thread
holds the memory. Only documented functions of Python's C interface are called. Through ctypes and NumPy it takes twice as long.

With the GIL one call is one whole step: nothing else runs between storing the number and reading the results, since all Python
objects that could start the garbage collector are made before.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler import ahead
from volatilis._compiler.calls import Binding
from volatilis._compiler.host import Loaded, assemble, link
from volatilis._compiler.translation import Translation

SYMBOL = "volatilis_number_to_tuple"
# The words of a binding, in this order
_WORDS = ("y", "step", "argument", "out", "size", "rest", "full", "class", "low", "high", "whole", "busy", "none", "hash")


def _load(name: str, kind: str) -> str:
    """One word of the binding as the value %name."""
    return f"""  %{name}.slot = getelementptr i64, ptr %binding, i64 {_WORDS.index(name)}
  %{name} = load {kind}, ptr %{name}.slot
"""


TEXT = f"""
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyErr_Occurred()
declare void @PyErr_Clear()
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyType_GenericAlloc(ptr, i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)

define internal void @fill(ptr %tuple, i64 %first, i64 %n, ptr %numbers) {{
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %after, %next ]
  %from = getelementptr double, ptr %numbers, i64 %i
  %value = load double, ptr %from
  %number = call ptr @PyFloat_FromDouble(double %value)
  %place = add i64 %first, %i
  %status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %place, ptr %number)
  %after = add i64 %i, 1
  %more = icmp ult i64 %after, %n
  br i1 %more, label %next, label %end
end:
  ret void
}}

define ptr @{SYMBOL}(ptr %self, ptr %observation) {{
entry:
  %binding = call ptr @PyLong_AsVoidPtr(ptr %self)
{_load("none", "ptr")}{_load("low", "double")}{_load("high", "double")}{_load("whole", "i64")}{_load("size", "i64")}
  %number = call double @PyFloat_AsDouble(ptr %observation)
  %suspicious = fcmp oeq double %number, -1.0
  br i1 %suspicious, label %ask, label %range
ask:
  %error = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %error, null
  br i1 %failed, label %clear, label %range
clear:
  call void @PyErr_Clear()
  br label %refuse
range:
  %above = fcmp oge double %number, %low
  %below = fcmp ole double %number, %high
  %within = and i1 %above, %below
  br i1 %within, label %kind, label %refuse
kind:
  %as.double = bitcast double %number to i64
  %counts = icmp ne i64 %whole, 0
  br i1 %counts, label %count, label %make
count:
  %as.integer = fptosi double %number to i64
  %back = sitofp i64 %as.integer to double
  %exact = fcmp oeq double %back, %number
  br i1 %exact, label %make, label %refuse
make:
  %observed = phi i64 [ %as.double, %kind ], [ %as.integer, %count ]
{_load("rest", "i64")}{_load("class", "ptr")}
  %items = add i64 %rest, 2
  %tuple = call ptr @PyType_GenericAlloc(ptr %class, i64 %items)
  %no.memory = icmp eq ptr %tuple, null
  br i1 %no.memory, label %fail, label %hash.word
hash.word:
{_load("hash", "i64")}
  %keeps.hash = icmp ne i64 %hash, 0
  br i1 %keeps.hash, label %unknown.hash, label %shape
unknown.hash:
  %hash.place = getelementptr i8, ptr %tuple, i64 %hash
  store i64 -1, ptr %hash.place
  br label %shape
shape:
  %several = icmp ugt i64 %size, 1
  br i1 %several, label %nest, label %observe
nest:
  %means = call ptr @PyTuple_New(i64 %size)
  %means.set = call i32 @PyTuple_SetItem(ptr %tuple, i64 0, ptr %means)
  %variances = call ptr @PyTuple_New(i64 %size)
  %variances.set = call i32 @PyTuple_SetItem(ptr %tuple, i64 1, ptr %variances)
  %no.means = icmp eq ptr %means, null
  %no.variances = icmp eq ptr %variances, null
  %none.made = or i1 %no.means, %no.variances
  br i1 %none.made, label %drop.and.fail, label %observe
observe:
  %mean.tuple = phi ptr [ %tuple, %shape ], [ %means, %nest ]
  %variance.tuple = phi ptr [ %tuple, %shape ], [ %variances, %nest ]
  %variance.first = phi i64 [ 1, %shape ], [ 0, %nest ]
{_load("busy", "ptr")}
  %held = load i64, ptr %busy
  %is.held = icmp ne i64 %held, 0
  br i1 %is.held, label %drop, label %run
run:
{_load("y", "ptr")}{_load("step", "ptr")}{_load("argument", "i64")}{_load("out", "ptr")}{_load("full", "i64")}
  store i64 %observed, ptr %y
  %ignored = call ptr %step(i64 %argument)
  %full.place = getelementptr double, ptr %out, i64 %full
  %fullness = load double, ptr %full.place
  %is.full = fcmp one double %fullness, 0.0
  br i1 %is.full, label %drop, label %read
read:
  call void @fill(ptr %mean.tuple, i64 0, i64 %size, ptr %out)
  %out.variances = getelementptr double, ptr %out, i64 %size
  call void @fill(ptr %variance.tuple, i64 %variance.first, i64 %size, ptr %out.variances)
  %out.rest = getelementptr double, ptr %out.variances, i64 %size
  call void @fill(ptr %tuple, i64 2, i64 %rest, ptr %out.rest)
  ret ptr %tuple
drop:
  call void @Py_DecRef(ptr %tuple)
  br label %refuse
refuse:
  call void @Py_IncRef(ptr %none)
  ret ptr %none
drop.and.fail:
  call void @Py_DecRef(ptr %tuple)
  br label %fail
fail:
  ret ptr null
}}
"""
OUTSIDE = frozenset(re.findall(r"^declare .*@(\w+)", TEXT, flags=re.MULTILINE))
_METH_O = 0x0008


class _MethodDefinition(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


class Layout(NamedTuple):
    """What a step writes: size means, size variances, then numbers of which the first `rest` belong to the result.

    out[full] is not 0 where the step found no room and did nothing.
    """

    out: np.ndarray
    size: int
    rest: int
    full: int


@functools.cache
def _place_of_hash() -> int:
    """Where a tuple keeps its hash, in bytes from its start; 0 where it keeps none, as before Python 3.14.

    -1 stands there until the hash is computed; memory from PyType_GenericAlloc is 0, which would count as the hash. The place is
    in no documentation, so it is used only where a tuple made by its constructor behaves so.
    """
    place = tuple.__basicsize__ - 8
    if tuple.__basicsize__ <= object.__basicsize__ + 8:  # only the length stands before the items
        return 0
    example = type("Example", (tuple,), {"__slots__": ()})([0.5, 1.5])
    word = ctypes.c_int64.from_address(id(example) + place)
    before, value = word.value, hash(example)
    return place if before == -1 and word.value == value else 0


@functools.cache
def _machine_code() -> Loaded:
    return ahead.load_text(TEXT) or link(assemble(Translation([TEXT], SYMBOL))._replace(needs_numba=False))


def number_to_tuple(
    step: Binding, y: np.ndarray, layout: Layout, accepted: tuple[float, float, bool], busy: np.ndarray, result: type
) -> tuple[Callable[[Any], Any], object]:
    """A function that stores its argument in y[0], runs the compiled step, and returns its output as a `result`, a tuple class.

    accepted   the least and the largest number that it takes in, and whether only whole ones: those are stored as integers
    busy       while busy[0] is not 0, it does nothing and returns None

    The result starts with mean and variance, numbers where theta has one element, else tuples. Returned second: what must live
    as long as the function.
    """
    low, high, whole = accepted
    bits = np.array([low, high]).view(np.int64)
    words = {
        "y": y.ctypes.data,
        "step": step.code.address,
        "argument": step.words.ctypes.data,
        "out": layout.out.ctypes.data,
        "size": layout.size,
        "rest": layout.rest,
        "full": layout.full,
        "class": id(result),
        "low": bits[0],
        "high": bits[1],
        "whole": int(whole),
        "busy": busy.ctypes.data,
        "none": id(None),
        "hash": _place_of_hash(),
    }
    binding = np.array([words[name] for name in _WORDS], dtype=np.int64)
    definition = _MethodDefinition(b"update", _machine_code().address, _METH_O, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    function = make(ctypes.addressof(definition), binding.ctypes.data, None)
    return function, (binding, definition, step, y, layout, busy, result)
