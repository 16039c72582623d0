"""Vector instructions for Numba kernels, written as LLVM IR.

Everything works on addresses (int64) of 64-bit words and is portable: LLVM lowers 512-bit values to whatever
registers the CPU has. `kernels/sliced.py` holds the instructions for codes turned into bit planes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8  # uint64 of one value
I64 = ir.IntType(64)
VECTOR = ir.VectorType(I64, LANES)


class Emit:
    """Emits loads, stores and constants of vectors with `lanes` words."""

    def __init__(self, builder: Any, lanes: int = LANES) -> None:
        self.builder = builder
        self.lanes = lanes
        self.type = ir.VectorType(I64, lanes)

    def pointer(self, address: Any, offset: Any, kind: Any) -> Any:
        base = self.builder.inttoptr(address, ir.IntType(8).as_pointer())
        if isinstance(offset, int):
            offset = ir.Constant(I64, offset)
        return self.builder.bitcast(self.builder.gep(base, [offset]), kind.as_pointer())

    def load(self, address: Any, offset: Any = 0) -> Any:
        return self.builder.load(self.pointer(address, offset, self.type), align=8)

    def store(self, value: Any, address: Any, offset: int = 0) -> None:
        self.builder.store(value, self.pointer(address, offset, value.type), align=8)

    def word(self, address: Any, offset: Any = 0) -> Any:
        return self.builder.load(self.pointer(address, offset, I64), align=8)

    def splat(self, scalar: Any) -> Any:
        undef = ir.Constant(self.type, ir.Undefined)
        one = self.builder.insert_element(undef, scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, undef, zeros)

    def constant(self, value: int) -> Any:
        return ir.Constant(self.type, [value] * self.lanes)

    def call(self, name: str, *values: Any) -> Any:
        """An LLVM intrinsic from vectors of this type to one of this type."""
        kind = ir.FunctionType(self.type, [self.type] * len(values))
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}.v{self.lanes}i64")
        return self.builder.call(function, values)

    def any(self, value: Any) -> Any:
        """i1: some bit is set."""
        wide = self.builder.bitcast(value, ir.IntType(64 * self.lanes))
        return self.builder.icmp_unsigned("!=", wide, ir.Constant(wide.type, 0))


@intrinsic
def word_at(typing_context: Any, address: Any) -> Any:
    """The uint64 at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return Emit(builder).word(arguments[0])

    return types.uint64(types.int64), generate


@intrinsic
def prefetch(typing_context: Any, address: Any) -> Any:
    """Ask for the cache line of an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        i32 = ir.IntType(32)
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        hints = [ir.Constant(i32, 0), ir.Constant(i32, 3), ir.Constant(i32, 1)]
        builder.call(function, [builder.inttoptr(arguments[0], byte), *hints])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """The position of the lowest bit set; the word is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _distances(emit: Emit, columns: Any, stride: Any, width: Any, queries: Any, part: Any) -> list[list[Any]]:
    """Distances of every query to 4 vectors of codes at byte `part` of every column: a loop over the words."""
    builder = emit.builder
    count = len(queries)
    sums = [[cgutils.alloca_once_value(builder, emit.constant(0)) for _ in range(4)] for _ in range(count)]
    for row in sums:
        for cell in row:
            builder.store(emit.constant(0), cell)
    with cgutils.for_range(builder, width) as loop:
        column = builder.add(builder.add(columns, part), builder.mul(loop.index, stride))
        at = builder.mul(loop.index, ir.Constant(I64, 8))
        words = [emit.splat(emit.word(query, at)) for query in queries]
        for j in range(4):
            codes = emit.load(column, 64 * j)
            for q in range(count):
                bits = emit.call("ctpop", builder.xor(codes, words[q]))
                builder.store(builder.add(builder.load(sums[q][j]), bits), sums[q][j])
    return [[builder.load(cell) for cell in row] for row in sums]


@intrinsic(prefer_literal=True)
def near_any(
    typing_context: Any,
    columns: Any,
    stride: Any,
    width: Any,
    queries: Any,
    thresholds: Any,
    parts: Any,
    count: Any,
) -> Any:
    """Bit q tells whether one of 32 * parts codes is nearer to query q of `count` (a literal) than its threshold.

    Word w of the codes lies at columns + w * stride (bytes), the queries one after the other at `queries`, each
    `width` words, the thresholds at `thresholds`. One compare for all codes: the minimum is what counts.
    """
    number = count.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, stride, width, queries, thresholds, parts, _ = arguments
        emit = Emit(builder)
        size = builder.mul(width, ir.Constant(I64, 8))
        addresses = [builder.add(queries, builder.mul(size, ir.Constant(I64, q))) for q in range(number)]
        far = emit.constant(2**64 - 1)
        least = [cgutils.alloca_once_value(builder, far) for _ in range(number)]
        for cell in least:
            builder.store(far, cell)
        with cgutils.for_range(builder, parts) as loop:
            part = builder.mul(loop.index, ir.Constant(I64, 256))
            found = _distances(emit, columns, stride, width, addresses, part)
            for cell, distances in zip(least, found, strict=True):
                low = emit.call("umin", *distances[:2])
                high = emit.call("umin", *distances[2:])
                builder.store(emit.call("umin", builder.load(cell), emit.call("umin", low, high)), cell)
        flags = ir.Constant(I64, 0)
        for q, cell in enumerate(least):
            limit = emit.splat(emit.word(thresholds, 8 * q))
            near = builder.bitcast(builder.icmp_unsigned("<", builder.load(cell), limit), ir.IntType(LANES))
            one = builder.icmp_unsigned("!=", near, ir.Constant(near.type, 0))
            flags = builder.or_(flags, builder.shl(builder.zext(one, I64), ir.Constant(I64, q)))
        return flags

    signature = types.int64(*[types.int64] * 6, count)
    return signature, generate


@intrinsic
def near_mask(typing_context: Any, columns: Any, stride: Any, width: Any, query: Any, threshold: Any) -> Any:
    """Which of 64 codes are nearer to the query at address `query` than `threshold`: one bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, stride, width, query, threshold = arguments
        emit = Emit(builder)
        limit = emit.splat(threshold)
        mask = ir.Constant(I64, 0)
        for part in range(2):
            offset = ir.Constant(I64, 256 * part)
            (found,) = _distances(emit, columns, stride, width, [query], offset)
            for j, distances in enumerate(found):
                near = builder.bitcast(builder.icmp_unsigned("<", distances, limit), ir.IntType(LANES))
                shift = ir.Constant(I64, LANES * (4 * part + j))
                mask = builder.or_(mask, builder.shl(builder.zext(near, I64), shift))
        return mask

    return types.uint64(*[types.int64] * 5), generate
