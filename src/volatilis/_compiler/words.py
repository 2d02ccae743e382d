"""From a row of 8-byte words back to numbers, arrays and NamedTuples, in LLVM."""

from __future__ import annotations

from typing import Any

import numpy as np


def numba_type(value: Any) -> Any:
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
