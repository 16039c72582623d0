"""Vector instructions that compare codes with queries: population counts, minima, one compare for many codes."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from kinhash.kernels.vector import I64, LANES, VECTOR, Emit, cgutils, instruction


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
    """Distances of queries to codes in columns: word w of the codes at w * `stride` bytes; any width."""

    def __init__(self, emit: Emit, width: Any, literal: int | None, stride: Any, queries: list[Any]) -> None:
        self.emit, self.width, self.stride = emit, width, stride
        self.queries = queries
        if literal is not None:
            self.words = [[emit.splat(emit.word(query, 8 * w)) for query in queries] for w in range(literal)]
        self.literal = literal

    def distances(self, columns: Any, group: int) -> list[Any]:
        """Of 8 codes, one vector per query."""
        if self.literal is None:
            return self._looped(columns, group)
        builder = self.emit.builder
        sums: list[Any] = []
        for w, words in enumerate(self.words):
            offset = builder.mul(self.stride, ir.Constant(I64, w))
            code = self.emit.load(builder.add(columns, offset), 64 * group)
            bits = [self.emit.call("ctpop", builder.xor(code, word)) for word in words]
            sums = [builder.add(a, b) for a, b in zip(sums, bits, strict=True)] if sums else bits
        return sums

    def _looped(self, columns: Any, group: int) -> list[Any]:
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
    return [_smaller(emit, a, b) for a, b in zip(left, right, strict=True)]


def _smaller(emit: Emit, a: Any, b: Any) -> Any:
    """The minimum of distances, which fit into 16 bits: a faster instruction than that for 64."""
    short = ir.VectorType(ir.IntType(16), 4 * emit.lanes)
    kind = ir.FunctionType(short, [short, short])
    name = f"llvm.umin.v{4 * emit.lanes}i16"
    function = cgutils.get_or_insert_function(emit.builder.module, kind, name)
    values = [emit.builder.bitcast(value, short) for value in (a, b)]
    return emit.builder.bitcast(emit.builder.call(function, values), emit.type)


def _maker(emit: Emit, width: Any, stride: Any, queries: list[Any], kinds: list[Any]) -> _Rows | _Columns:
    """Rows where the stride is the literal 0, columns otherwise."""
    word, apart = (kind.literal_value if isinstance(kind, types.Literal) else None for kind in kinds)
    if apart == 0 and word is not None:
        return _Rows(emit, word, queries)
    return _Columns(emit, width, word, stride, queries)


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

    Word w of the codes lies at codes + w * stride; a literal stride of 0 means codes as they are stored, of a
    literal width 1, 2, 4 or 8. Columns of literal width are faster than others. The queries lie one after the
    other at `queries`, the thresholds at `thresholds`.
    One compare for all codes: the minimum is what counts. `groups` and `count` are literals.
    """
    number, each = count.literal_value, groups.literal_value
    wide, apart = width, stride

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        codes, stride, width, queries, thresholds = arguments[:5]
        emit = Emit(builder)
        if isinstance(wide, types.Literal):
            width = ir.Constant(I64, wide.literal_value)
        size = builder.mul(width, ir.Constant(I64, 8))
        addresses = [builder.add(queries, builder.mul(size, ir.Constant(I64, q))) for q in range(number)]
        least = _least(emit, _maker(emit, width, stride, addresses, [wide, apart]), codes, 0, each)
        flags = ir.Constant(I64, 0)
        for q, distance in enumerate(least):
            limit = emit.splat(emit.word(thresholds, 8 * q))
            near = builder.bitcast(builder.icmp_unsigned("<", distance, limit), ir.IntType(LANES))
            some = builder.icmp_unsigned("!=", near, ir.Constant(near.type, 0))
            flags = builder.or_(flags, builder.shl(builder.zext(some, I64), ir.Constant(I64, q)))
        return flags

    wide, apart = (kind if isinstance(kind, types.Literal) else types.int64 for kind in (width, stride))
    return types.int64(types.int64, apart, wide, types.int64, types.int64, groups, count), generate


@instruction(prefer_literal=True)
def near_mask(typing_context: Any, codes: Any, stride: Any, width: Any, query: Any, threshold: Any) -> Any:
    """Which of 64 codes are nearer to the query at address `query` than `threshold`: one bit each."""
    wide, apart = width, stride

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        codes, stride, width, query, threshold = arguments
        emit = Emit(builder)
        limit = emit.splat(threshold)
        maker = _maker(emit, width, stride, [query], [wide, apart])
        mask = ir.Constant(I64, 0)
        for group in range(8):
            (distances,) = maker.distances(codes, group)
            near = builder.bitcast(builder.icmp_unsigned("<", distances, limit), ir.IntType(LANES))
            mask = builder.or_(mask, builder.shl(builder.zext(near, I64), ir.Constant(I64, LANES * group)))
        return mask

    wide, apart = (kind if isinstance(kind, types.Literal) else types.int64 for kind in (width, stride))
    return types.uint64(types.int64, apart, wide, types.int64, types.int64), generate
