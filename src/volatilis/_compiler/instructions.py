"""What `registry.instruction` marks, emitted as a few instructions of LLVM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# How Numba translates every function here: no wrapper for Python, all inlined into the driver
OPTIONS: dict[str, Any] = {"error_model": "numpy", "forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
ORDINARY_OPTIONS: dict[str, Any] = {"error_model": "numpy"}


def _fma(function: Callable[..., Any]) -> None:
    from numba import types
    from numba.extending import intrinsic, overload

    @intrinsic
    def emit(typing_context, a, b, c):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.fma(*arguments)

        return types.float64(types.float64, types.float64, types.float64), generate

    def implementation(a: Any, b: Any, c: Any) -> Any:
        return lambda a, b, c: emit(a, b, c)

    overload(function, strict=False, jit_options=dict(OPTIONS))(implementation)


def _total(function: Callable[..., Any]) -> None:
    """Eight sums in one vector register; what is missing from the last eight reads as nothing.

    Only doubles that lie side by side fill a register: the same sums of anything else are loops.
    """
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload

    word, eight = ir.IntType(64), ir.VectorType(ir.DoubleType(), 8)
    eight_words, nothing = ir.VectorType(word, 8), ir.Constant(eight, [0.0] * 8)

    @intrinsic
    def emit(typing_context, x, n):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            data = context.make_array(x)(context, builder, arguments[0]).data

            def at(i: Any) -> Any:
                return builder.bitcast(builder.gep(data, [i]), eight.as_pointer())

            sums = cgutils.alloca_once_value(builder, nothing)
            whole = builder.and_(arguments[1], ir.Constant(word, -8))
            with cgutils.for_range_slice(builder, ir.Constant(word, 0), whole, ir.Constant(word, 8), word) as (i, _):
                builder.store(builder.fadd(builder.load(sums), builder.load(at(i), align=8)), sums)
            left = builder.and_(arguments[1], ir.Constant(word, 7))
            with builder.if_then(builder.icmp_signed("!=", left, ir.Constant(word, 0))):
                lefts = builder.insert_element(ir.Constant(eight_words, ir.Undefined), left, ir.Constant(word, 0))
                lefts = builder.shuffle_vector(lefts, lefts, ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8))
                mask = builder.icmp_signed("<", ir.Constant(eight_words, list(range(8))), lefts)
                kind = ir.FunctionType(eight, [eight.as_pointer(), ir.IntType(32), mask.type, eight])
                load = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.load.v8f64.p0")
                rest = builder.call(load, [at(whole), ir.Constant(ir.IntType(32), 8), mask, nothing])
                builder.store(builder.fadd(builder.load(sums), rest), sums)
            result = builder.load(sums)
            for half in (4, 2, 1):
                order = ir.Constant(ir.VectorType(ir.IntType(32), half), list(range(half)))
                other = ir.Constant(ir.VectorType(ir.IntType(32), half), list(range(half, 2 * half)))
                result = builder.fadd(
                    builder.shuffle_vector(result, result, order), builder.shuffle_vector(result, result, other)
                )
            return builder.extract_element(result, ir.Constant(word, 0))

        return types.float64(x, types.int64), generate

    by_loops = _sums_by_loops(OPTIONS)

    def implementation(x: Any, n: Any) -> Any:
        if isinstance(x, types.Array) and (x.ndim, x.layout, x.dtype) == (1, "C", types.float64):
            return lambda x, n: emit(x, n)
        return by_loops

    overload(function, strict=False, jit_options=dict(OPTIONS))(implementation)


def _sums_by_loops(options: dict[str, Any]) -> Callable[..., float]:
    """The eight sums, one after the other, and added up in the same order."""
    from numba.extending import register_jitable

    @register_jitable(**options)
    def one_of_eight(x, n, lane):  # type: ignore[no-untyped-def]
        result = 0.0
        for i in range(lane, n, 8):
            result += x[i]
        return result

    def by_loops(x, n):  # type: ignore[no-untyped-def]
        a, b = one_of_eight(x, n, 0) + one_of_eight(x, n, 4), one_of_eight(x, n, 1) + one_of_eight(x, n, 5)
        c, d = one_of_eight(x, n, 2) + one_of_eight(x, n, 6), one_of_eight(x, n, 3) + one_of_eight(x, n, 7)
        return (a + c) + (b + d)

    return by_loops


def _eight_zeros(function: Callable[..., Any]) -> None:
    """An array on the stack of the function that asks for it, which lasts until that function returns.

    So this cannot be an overload: that is a function of its own, even where it is inlined, and its stack is gone afterwards.
    """
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import lower_builtin, type_callable
    from numba.np.arrayobj import populate_array

    numbers, kind = ir.ArrayType(ir.DoubleType(), 8), types.Array(types.float64, 1, "C")

    @type_callable(function)
    def typing(context):  # type: ignore[no-untyped-def]
        return lambda: kind

    @lower_builtin(function)
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        room = cgutils.alloca_once(builder, numbers)
        builder.store(ir.Constant(numbers, [0.0] * 8), room)
        eight = ir.Constant(ir.IntType(64), 8)  # numbers, and bytes of each
        array = context.make_array(kind)(context, builder)
        data = builder.bitcast(room, ir.DoubleType().as_pointer())
        populate_array(array, data=data, shape=[eight], strides=[eight], itemsize=eight, meminfo=None)
        return array._getvalue()


def _total_by_loops(function: Callable[..., Any]) -> None:
    from numba.extending import overload

    by_loops = _sums_by_loops(ORDINARY_OPTIONS)
    overload(function, strict=False, jit_options=dict(ORDINARY_OPTIONS))(lambda x, n: by_loops)


def _zeros_by_numpy(function: Callable[..., Any]) -> None:
    from numba.extending import overload

    overload(function, strict=False, jit_options=dict(ORDINARY_OPTIONS))(lambda: lambda: np.zeros(8))


def _member(function: Callable[..., Any]) -> None:
    """Row i of every array of a tuple, all the way down: a number of a column, a view of anything larger.

    An array of one row has the same for every i.
    """
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload
    from numba.np.arrayobj import populate_array

    def kind(bank: Any) -> Any:
        if isinstance(bank, types.BaseTuple):
            return types.BaseTuple.from_types([kind(item) for item in bank], getattr(bank, "instance_class", None))
        if isinstance(bank, types.Array):
            return bank.dtype if bank.ndim == 1 else types.Array(bank.dtype, bank.ndim - 1, "C")
        return bank

    def row(context: Any, builder: Any, bank: Any, value: Any, i: Any) -> Any:
        if isinstance(bank, types.BaseTuple):
            items = [row(context, builder, item, builder.extract_value(value, k), i) for k, item in enumerate(bank)]
            return context.make_tuple(builder, kind(bank), items)
        if not isinstance(bank, types.Array):
            return value
        array = context.make_array(bank)(context, builder, value)
        shape, strides = (cgutils.unpack_tuple(builder, part, bank.ndim) for part in (array.shape, array.strides))
        one = ir.Constant(ir.IntType(64), 1)
        place = builder.select(builder.icmp_signed(">", shape[0], one), i, ir.Constant(ir.IntType(64), 0))
        data = cgutils.pointer_add(builder, array.data, builder.mul(place, strides[0]))
        if bank.ndim == 1:
            return builder.load(data)
        view = context.make_array(kind(bank))(context, builder)
        populate_array(view, data=data, shape=shape[1:], strides=strides[1:], itemsize=array.itemsize, meminfo=None)
        return view._getvalue()

    @intrinsic
    def emit(typing_context, bank, i):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return row(context, builder, bank, *arguments)

        return kind(bank)(bank, types.int64), generate

    def implementation(bank: Any, i: Any) -> Any:
        return lambda bank, i: emit(bank, i)

    overload(function, strict=False, jit_options=dict(OPTIONS))(implementation)


# How Numba is told of each; and how with what Numba documents alone, for the same numbers
INSTRUCTIONS = {"fma": _fma, "total": _total, "eight_zeros": _eight_zeros, "member": _member}
ORDINARY_INSTRUCTIONS = {"fma": _fma, "total": _total_by_loops, "eight_zeros": _zeros_by_numpy, "member": _member}
