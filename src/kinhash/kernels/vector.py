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


def _distances(
    emit: Emit, columns: Any, stride: Any, width: Any, queries: Any, vectors: int
) -> list[list[Any]]:
    """Distances of every query to some vectors of codes at `columns`: straight code for one word (width None),
    otherwise a loop over the words."""
    builder = emit.builder
    if width is None:
        splats = [emit.splat(emit.word(query)) for query in queries]
        codes = [emit.load(columns, 64 * j) for j in range(vectors)]
        return [[emit.call("ctpop", builder.xor(code, word)) for code in codes] for word in splats]
    sums = [[cgutils.alloca_once(builder, VECTOR) for _ in range(vectors)] for _ in queries]
    for cell in (cell for row in sums for cell in row):
        builder.store(emit.constant(0), cell)
    with cgutils.for_range(builder, width) as loop:
        column = builder.add(columns, builder.mul(loop.index, stride))
        at = builder.mul(loop.index, ir.Constant(I64, 8))
        splats = [emit.splat(emit.word(query, at)) for query in queries]
        for j in range(vectors):
            code = emit.load(column, 64 * j)
            for word, row in zip(splats, sums, strict=True):
                bits = emit.call("ctpop", builder.xor(code, word))
                builder.store(builder.add(builder.load(row[j]), bits), row[j])
    return [[builder.load(cell) for cell in row] for row in sums]


def _least(emit: Emit, values: list[Any]) -> Any:
    """The minimum per lane, as a tree: short chains keep the processor busy."""
    while len(values) > 1:
        pairs = [emit.call("umin", a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[len(pairs) * 2 :]
    return values[0]


@intrinsic(prefer_literal=True)
def near_any(
    typing_context: Any,
    columns: Any,
    stride: Any,
    width: Any,
    queries: Any,
    thresholds: Any,
    vectors: Any,
    count: Any,
) -> Any:
    """Bit q tells whether one of 8 * vectors codes is nearer to query q of `count` than its threshold.

    Word w of the codes lies at columns + w * stride (bytes), the queries one after the other at `queries`, each
    `width` words, the thresholds at `thresholds`. One compare for all codes: the minimum is what counts.
    `vectors` and `count` are literals, and `width` too where it is 1.
    """
    number, each = count.literal_value, vectors.literal_value
    one_word = isinstance(width, types.Literal) and width.literal_value == 1

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, stride, width, queries, thresholds = arguments[:5]
        emit = Emit(builder)
        size = ir.Constant(I64, 8) if one_word else builder.mul(width, ir.Constant(I64, 8))
        addresses = [builder.add(queries, builder.mul(size, ir.Constant(I64, q))) for q in range(number)]
        found = _distances(emit, columns, stride, None if one_word else width, addresses, each)
        flags = ir.Constant(I64, 0)
        for q, distances in enumerate(found):
            limit = emit.splat(emit.word(thresholds, 8 * q))
            below = builder.icmp_unsigned("<", _least(emit, distances), limit)
            near = builder.bitcast(below, ir.IntType(LANES))
            some = builder.icmp_unsigned("!=", near, ir.Constant(near.type, 0))
            flags = builder.or_(flags, builder.shl(builder.zext(some, I64), ir.Constant(I64, q)))
        return flags

    word = width if one_word else types.int64
    return types.int64(types.int64, types.int64, word, types.int64, types.int64, vectors, count), generate


@intrinsic
def near_mask(typing_context: Any, columns: Any, stride: Any, width: Any, query: Any, threshold: Any) -> Any:
    """Which of 64 codes are nearer to the query at address `query` than `threshold`: one bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, stride, width, query, threshold = arguments
        emit = Emit(builder)
        limit = emit.splat(threshold)
        mask = ir.Constant(I64, 0)
        (found,) = _distances(emit, columns, stride, width, [query], 8)
        for j, distances in enumerate(found):
            near = builder.bitcast(builder.icmp_unsigned("<", distances, limit), ir.IntType(LANES))
            mask = builder.or_(mask, builder.shl(builder.zext(near, I64), ir.Constant(I64, LANES * j)))
        return mask

    return types.uint64(*[types.int64] * 5), generate
