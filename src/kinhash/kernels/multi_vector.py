"""The vector instruction of multi-index hashing: 16 short signatures against a query's, as LLVM IR.

Portable like `kernels/vector.py`: LLVM lowers the 512-bit value to whatever registers the CPU has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types

from kinhash.kernels.vector import cgutils, instruction

SIGNATURES = 16  # uint32 of one value
_I32 = ir.IntType(32)
_VECTOR = ir.VectorType(_I32, SIGNATURES)


def _splat(builder: Any, value: Any) -> Any:
    """A 64-bit number, cut to 32 bits, in every lane."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(undefined, builder.trunc(value, _I32), ir.Constant(_I32, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(_VECTOR, [0] * SIGNATURES))


@instruction
def near_signatures(typing_context: Any, address: Any, query: Any, limit: Any) -> Any:
    """Bit i is set where signature i of 16 at `address` differs from the query's in at most `limit` bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, query, limit = arguments
        pointer = builder.inttoptr(address, _VECTOR.as_pointer())
        codes = builder.load(pointer, align=4)
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        count = cgutils.get_or_insert_function(builder.module, kind, "llvm.ctpop.v16i32")
        distances = builder.call(count, [builder.xor(codes, _splat(builder, query))])
        near = builder.icmp_unsigned("<=", distances, _splat(builder, limit))
        mask = builder.bitcast(near, ir.IntType(SIGNATURES))
        return builder.zext(mask, ir.IntType(64))

    return types.uint64(types.int64, types.int64, types.int64), generate


@instruction
def half_at(typing_context: Any, address: Any) -> Any:
    """The uint32 at an address, as int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        half = builder.load(builder.inttoptr(arguments[0], _I32.as_pointer()), align=4)
        return builder.zext(half, ir.IntType(64))

    return types.int64(types.int64), generate


@njit(cache=True, nogil=True, forceinline=True)
def signed(number: Any) -> int:
    """As int64: Numba makes a float of what may be signed or not."""
    return np.int64(number)  # type: ignore[return-value]  # compiled
