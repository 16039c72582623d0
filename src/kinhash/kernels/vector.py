"""Vector instructions for Numba kernels, written as LLVM IR.

Everything works on addresses (int64) of 64-bit words and is portable: LLVM lowers 512-bit values to whatever
registers the CPU has. `kernels/sliced.py` holds the instructions for codes turned into bit planes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

instruction: Any = intrinsic  # numba's own type asks callers for the typing context, which it passes itself
cgutils: Any = _cgutils  # without types

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


@instruction
def word_at(typing_context: Any, address: Any) -> Any:
    """The uint64 at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return Emit(builder).word(arguments[0])

    return types.uint64(types.int64), generate


@instruction
def number_at(typing_context: Any, address: Any) -> Any:
    """The int64 at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return Emit(builder).word(arguments[0])

    return types.int64(types.int64), generate


@instruction
def put(typing_context: Any, address: Any, number: Any) -> Any:
    """Write an int64 to an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        Emit(builder).store(arguments[1], arguments[0])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@instruction
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


@instruction
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """The position of the lowest bit set; the word is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


class _Rows:
    """Distances of queries to codes that lie as they are stored, `width` words each: 1, 2, 4 or 8."""

    def __init__(self, emit: Emit, width: int, queries: list[Any]) -> None:
        self.emit, self.width = emit, width
        some = Emit(emit.builder, width)
        lanes = ir.VectorType(ir.IntType(32), LANES)
        again = ir.Constant(lanes, [i % width for i in range(LANES)])
        none = ir.Constant(some.type, ir.Undefined)
        self.patterns = [emit.builder.shuffle_vector(some.load(query), none, again) for query in queries]
        self.even = ir.Constant(lanes, list(range(0, 2 * LANES, 2)))
        self.odd = ir.Constant(lanes, list(range(1, 2 * LANES, 2)))

    def distances(self, codes: Any, group: int) -> list[Any]:
        """Of 8 codes, one vector per query."""
        emit = self.emit
        words = [emit.load(codes, 64 * (group * self.width + i)) for i in range(self.width)]
        found = []
        for pattern in self.patterns:
            bits = [emit.call("ctpop", emit.builder.xor(word, pattern)) for word in words]
            while len(bits) > 1:  # neighbours added: 8 words of 16, in order
                bits = [self._pairs(a, b) for a, b in zip(bits[::2], bits[1::2], strict=True)]
            found += bits
        return found

    def _pairs(self, a: Any, b: Any) -> Any:
        shuffle = self.emit.builder.shuffle_vector
        return self.emit.builder.add(shuffle(a, b, self.even), shuffle(a, b, self.odd))


class _Columns:
    """Distances of queries to codes of any width in columns: word w of the codes at w * stride bytes."""

    def __init__(self, emit: Emit, width: Any, stride: Any, queries: list[Any]) -> None:
        self.emit, self.width, self.stride, self.queries = emit, width, stride, queries

    def distances(self, columns: Any, group: int) -> list[Any]:
        """Of 8 codes, one vector per query."""
        emit, builder = self.emit, self.emit.builder
        sums = [cgutils.alloca_once(builder, VECTOR) for _ in self.queries]
        for cell in sums:
            builder.store(emit.constant(0), cell)
        with cgutils.for_range(builder, self.width) as loop:
            column = builder.add(columns, builder.mul(loop.index, self.stride))
            code = emit.load(column, 64 * group)
            at = builder.mul(loop.index, ir.Constant(I64, 8))
            for query, cell in zip(self.queries, sums, strict=True):
                bits = emit.call("ctpop", builder.xor(code, emit.splat(emit.word(query, at))))
                builder.store(builder.add(builder.load(cell), bits), cell)
        return [builder.load(cell) for cell in sums]


def _least(emit: Emit, maker: _Rows | _Columns, codes: Any, first: int, groups: int) -> list[Any]:
    """The minimum per lane over groups of 8 codes, as a tree: short chains keep the processor busy."""
    if groups == 1:
        return maker.distances(codes, first)
    half = groups // 2
    left = _least(emit, maker, codes, first, half)
    right = _least(emit, maker, codes, first + half, groups - half)
    return [emit.call("umin", a, b) for a, b in zip(left, right, strict=True)]


def _maker(emit: Emit, width: Any, literal: int | None, stride: Any, queries: list[Any]) -> _Rows | _Columns:
    return _Columns(emit, width, stride, queries) if literal is None else _Rows(emit, literal, queries)


@instruction(prefer_literal=True)
def near_any(
    typing_context: Any,
    codes: Any,
    stride: Any,
    width: Any,
    queries: Any,
    thresholds: Any,
    groups: Any,
    count: Any,
) -> Any:
    """Bit q tells whether one of 8 * groups codes is nearer to query q of `count` than its threshold.

    A literal `width` (1, 2, 4, 8) means codes as they are stored; otherwise word w of the codes lies at
    codes + w * stride. The queries lie one after the other at `queries`, the thresholds at `thresholds`.
    One compare for all codes: the minimum is what counts. `groups` and `count` are literals.
    """
    number, each = count.literal_value, groups.literal_value
    literal = width.literal_value if isinstance(width, types.Literal) else None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        codes, stride, width, queries, thresholds = arguments[:5]
        emit = Emit(builder)
        size = ir.Constant(I64, 8 * literal) if literal else builder.mul(width, ir.Constant(I64, 8))
        addresses = [builder.add(queries, builder.mul(size, ir.Constant(I64, q))) for q in range(number)]
        least = _least(emit, _maker(emit, width, literal, stride, addresses), codes, 0, each)
        flags = ir.Constant(I64, 0)
        for q, distance in enumerate(least):
            limit = emit.splat(emit.word(thresholds, 8 * q))
            near = builder.bitcast(builder.icmp_unsigned("<", distance, limit), ir.IntType(LANES))
            some = builder.icmp_unsigned("!=", near, ir.Constant(near.type, 0))
            flags = builder.or_(flags, builder.shl(builder.zext(some, I64), ir.Constant(I64, q)))
        return flags

    word = types.int64 if literal is None else width
    return types.int64(types.int64, types.int64, word, types.int64, types.int64, groups, count), generate


@instruction(prefer_literal=True)
def near_mask(typing_context: Any, codes: Any, stride: Any, width: Any, query: Any, threshold: Any) -> Any:
    """Which of 64 codes are nearer to the query at address `query` than `threshold`: one bit each."""
    literal = width.literal_value if isinstance(width, types.Literal) else None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        codes, stride, width, query, threshold = arguments
        emit = Emit(builder)
        limit = emit.splat(threshold)
        maker = _maker(emit, width, literal, stride, [query])
        mask = ir.Constant(I64, 0)
        for group in range(8):
            (distances,) = maker.distances(codes, group)
            near = builder.bitcast(builder.icmp_unsigned("<", distances, limit), ir.IntType(LANES))
            mask = builder.or_(mask, builder.shl(builder.zext(near, I64), ir.Constant(I64, LANES * group)))
        return mask

    word = types.int64 if literal is None else width
    return types.uint64(types.int64, types.int64, word, types.int64, types.int64), generate
