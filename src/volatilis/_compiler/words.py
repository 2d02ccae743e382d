"""Arguments as a row of 8-byte words, and back: in Python a row from values, in LLVM the values from a row.

A number is one word; an array is its address and its shape; a tuple is its items, one after the other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

# --- in Python -------------------------------------------------------------------------------------------------------


def append_words(value: object, words: list[int], kinds: list[object]) -> None:
    """Add the argument's words; and to `kinds` what its type is made of, for a quick search for code made before."""
    if isinstance(value, tuple):
        kinds += (type(value), len(value))
        for item in value:
            append_words(item, words, kinds)
    elif isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError("compiled code takes contiguous arrays")
        kinds += (value.dtype, value.ndim)
        words.append(value.__array_interface__["data"][0])
        words += value.shape
    elif isinstance(value, float):
        kinds.append(float)
        words += struct.unpack("q", struct.pack("d", value))
    elif isinstance(value, (int, np.integer, np.bool_)):
        kinds.append(int)
        words.append(int(value))
    else:
        raise TypeError(f"compiled code takes numbers, arrays and NamedTuples of them, not {type(value).__name__}")


def words_of(*args: object) -> np.ndarray:
    """The words of a call's first arguments."""
    words: list[int] = []
    append_words(args, words, [])
    return np.array(words, dtype=np.int64)


def type_text(value: object) -> str:
    """The argument's type as text: part of the key of the cache."""
    if isinstance(value, tuple):
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        return f"{name}({','.join(map(type_text, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}[{value.ndim}]"
    if isinstance(value, float):
        return "float"
    if isinstance(value, int):
        return "int"
    raise TypeError(f"compiled code takes numbers, arrays and NamedTuples of them, not {type(value).__name__}")


def tuple_classes(value: object) -> Iterator[type]:
    """The NamedTuple classes in an argument, outermost first."""
    if isinstance(value, tuple):
        if type(value) is not tuple:
            yield type(value)
        for item in value:
            yield from tuple_classes(item)


# --- in LLVM ---------------------------------------------------------------------------------------------------------


def numba_type(value: object) -> Any:
    """The argument's type as Numba has it."""
    from numba import from_dtype, types

    if isinstance(value, tuple):
        kind = None if type(value) is tuple else type(value)
        return types.BaseTuple.from_types([numba_type(item) for item in value], kind)
    if isinstance(value, np.ndarray):
        return types.Array(from_dtype(value.dtype), value.ndim, "C")
    return types.float64 if isinstance(value, float) else types.int64


def loader(typ: Any) -> Any:
    """An intrinsic that rebuilds a tuple of this type from the words at an address."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def load(typing_context, address):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            words = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
            return _Words(context, builder, words).read(typ)

        return typ(types.int64), generate

    return load


class _Words:
    """Reads typed values off a row of words, in LLVM."""

    def __init__(self, context: Any, builder: Any, words: Any) -> None:
        self.context, self.builder, self.words, self.position = context, builder, words, 0

    def read(self, typ: Any) -> Any:
        from llvmlite import ir
        from numba import types

        if isinstance(typ, types.BaseTuple):
            return self.context.make_tuple(self.builder, typ, [self.read(item) for item in typ])
        if isinstance(typ, types.Array):
            return self._read_array(typ)
        where = self.builder.gep(self.words, [ir.Constant(ir.IntType(64), self.position)])
        self.position += 1
        return self.builder.load(self.builder.bitcast(where, self.context.get_value_type(typ).as_pointer()))

    def _read_array(self, typ: Any) -> Any:
        from llvmlite import ir
        from numba import types
        from numba.np.arrayobj import populate_array

        element = self.context.get_data_type(typ.dtype)
        data = self.builder.inttoptr(self.read(types.int64), element.as_pointer())
        shape = [self.read(types.int64) for _ in range(typ.ndim)]
        size = ir.Constant(ir.IntType(64), self.context.get_abi_sizeof(element))
        strides = [size]
        for extent in reversed(shape[1:]):
            strides.insert(0, self.builder.mul(strides[0], extent))
        array = self.context.make_array(typ)(self.context, self.builder)
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return array._getvalue()
