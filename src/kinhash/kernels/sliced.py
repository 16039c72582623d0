"""Vector instructions for 512 codes turned into bit planes: plane j holds bit j of every code.

A distance is the sum of one plane per bit, complemented where the query has a one. Three planes at a time have
only 8 outcomes, so a table holds them as two-bit numbers; full adders (one instruction for the sum, one for the
carry) add the table entries that a query picks. About 80 additions and 44 loads give 512 distances of 64 bits,
where counting bits takes 192 instructions, half of them slow.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from kinhash.kernels.vector import I64, LANES, Emit, cgutils, instruction

BLOCK = 512  # codes
GROUPS = 22  # of three planes in 64
ENTRY = 128  # bytes of a table entry: the low and the high plane of a number from 0 to 3
TABLE = GROUPS * 8 * ENTRY  # bytes
ONE_WORD, MANY_WORDS = 7, 10  # planes of a counter for codes of one word, of up to 8 words


class _Adders(Emit):
    """Emits full adders, as wide as the registers of the CPU: wider values would only spill."""

    def __init__(self, context: Any, builder: Any) -> None:
        features = context.codegen()._get_host_cpu_features()
        self.ternary = "+avx512f" in features
        super().__init__(builder, 8 if self.ternary else 4 if "+avx2" in features else 2)

    def add(self, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
        """(sum, carry) of three planes."""
        if self.ternary:
            return self._ternary(a, b, c, 0x96), self._ternary(a, b, c, 0xE8)
        x = self.builder.xor(a, b)
        carry = self.builder.or_(self.builder.and_(a, b), self.builder.and_(c, x))
        return self.builder.xor(x, c), carry

    def _ternary(self, a: Any, b: Any, c: Any, table: int) -> Any:
        kind = ir.FunctionType(self.type, [self.type] * 3 + [ir.IntType(32)])
        name = "llvm.x86.avx512.pternlog.q.512"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [a, b, c, ir.Constant(ir.IntType(32), table)])


class _Counter:
    """The sum of planes of different weight; what passes the top is remembered as `over`."""

    def __init__(self, emit: _Adders, start: list[Any], over: Any | None) -> None:
        self.emit = emit
        self.pending = [[value] for value in start]
        self.over = over

    def push(self, weight: int, value: Any) -> None:
        """Add a plane; three of one weight become one of it and one of the next."""
        if weight == len(self.pending):
            self.over = value if self.over is None else self.emit.builder.or_(self.over, value)
            return
        waiting = self.pending[weight]
        waiting.append(value)
        if len(waiting) == 3:
            total, carry = self.emit.add(*waiting)
            self.pending[weight] = [total]
            self.push(weight + 1, carry)

    def settle(self) -> list[Any]:
        """One plane per weight."""
        builder = self.emit.builder
        for weight in range(len(self.pending)):
            if len(self.pending[weight]) == 2:
                a, b = self.pending[weight]
                self.pending[weight] = [builder.xor(a, b)]
                self.push(weight + 1, builder.and_(a, b))
        return [row[0] for row in self.pending]


@instruction(prefer_literal=True)
def sliced_pair(
    typing_context: Any,
    table: Any,
    queries: Any,
    stride: Any,
    source: Any,
    target: Any,
    groups: Any,
    first: Any,
    last: Any,
) -> Any:
    """Add one word's distances of two queries to 512 codes; `groups`, `first` and `last` are literals.

    `queries` is the address of that word of the first query, the second follows `stride` bytes later. The counters
    start at 2^B - threshold, so that passing 2^B tells distance >= threshold. For the first word `source` points
    at the start values (B words of all zeros or all ones per query), later at what the word before left: B + 1
    planes per query (B counters, and what went over). That goes to `target`; the last word writes there one bit
    per code nearer than the threshold, 8 words per query, and returns bit q set where query q has such a code.
    """
    number, is_first, is_last = groups.literal_value, first.literal_value, last.literal_value
    planes = ONE_WORD if is_first and is_last else MANY_WORDS

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, queries, stride, source, target = arguments[:5]
        emit = _Adders(context, builder)
        words = [emit.word(queries), emit.word(builder.add(queries, stride))]
        flags = [ir.Constant(ir.IntType(1), 0)] * 2
        for part in range(0, LANES, emit.lanes):
            counters = [_start(emit, source, q, planes, part, is_first) for q in range(2)]
            for group in range(number):
                for word, counter in zip(words, counters, strict=True):
                    base = builder.add(table, _entry(builder, word, group))
                    counter.push(0, emit.load(base, 8 * part))
                    if group < GROUPS - 1 or number < GROUPS:  # the last of 64 bits is alone in its group
                        counter.push(1, emit.load(base, 8 * (part + LANES)))
            for q, counter in enumerate(counters):
                settled = counter.settle()
                if not is_last:
                    for w, plane in enumerate([*settled, counter.over]):
                        emit.store(plane, target, 64 * (q * (planes + 1) + w) + 8 * part)
                    continue
                found = builder.not_(counter.over)
                emit.store(found, target, 64 * q + 8 * part)
                flags[q] = builder.or_(flags[q], emit.any(found))
        one, two = (builder.zext(flag, I64) for flag in flags)
        return builder.or_(one, builder.shl(two, ir.Constant(I64, 1)))

    return types.int64(*[types.int64] * 5, groups, first, last), generate


def _start(emit: _Adders, source: Any, q: int, planes: int, part: int, is_first: bool) -> _Counter:
    """The counter of query q before a word."""
    if is_first:
        size = 8 * planes
        return _Counter(emit, [emit.splat(emit.word(source, q * size + 8 * w)) for w in range(planes)], None)
    base = 64 * q * (planes + 1) + 8 * part
    values = [emit.load(source, base + 64 * w) for w in range(planes + 1)]
    return _Counter(emit, values[:-1], values[-1])


def _entry(builder: Any, word: Any, group: int) -> Any:
    """The offset of the table entry that three bits of a query pick: shifted into place, not loaded."""
    shift = 3 * group - ENTRY.bit_length() + 1
    moved = (builder.lshr if shift >= 0 else builder.shl)(word, ir.Constant(I64, abs(shift)))
    return builder.add(builder.and_(moved, ir.Constant(I64, 7 * ENTRY)), ir.Constant(I64, 8 * ENTRY * group))


@instruction
def sliced_table(typing_context: Any, planes: Any, table: Any) -> Any:
    """From 3 planes make the 8 entries of a group: for every 3 bits of a query their distance, 0 to 3."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = _Adders(context, builder)
        for part in range(0, LANES, emit.lanes):
            x = [emit.load(arguments[0], 8 * (part + LANES * i)) for i in range(3)]
            y = [builder.not_(value) for value in x]
            for c in range(8):
                low, high = emit.add(*(y[i] if c >> i & 1 else x[i] for i in range(3)))
                emit.store(low, arguments[1], ENTRY * c + 8 * part)
                emit.store(high, arguments[1], ENTRY * c + 8 * (part + LANES))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@instruction(prefer_literal=True)
def butterflies(typing_context: Any, source: Any, target: Any, apart: Any) -> Any:
    """Three of the six stages of a 64 x 64 bit transposition in every lane, over 8 vectors `apart` (8 or 1)."""
    distance = apart.literal_value
    masks = {
        32: 0x00000000FFFFFFFF,
        16: 0x0000FFFF0000FFFF,
        8: 0x00FF00FF00FF00FF,
        4: 0x0F0F0F0F0F0F0F0F,
        2: 0x3333333333333333,
        1: 0x5555555555555555,
    }

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = _Adders(context, builder)
        for part in range(0, LANES, emit.lanes):
            row = [emit.load(arguments[0], 8 * (part + LANES * distance * i)) for i in range(8)]
            for half in (4, 2, 1):
                step = half * distance
                mask, shift = emit.constant(masks[step]), emit.constant(step)
                for i in range(8):
                    if not i & half:
                        a, b = row[i], row[i + half]
                        t = builder.and_(builder.xor(builder.lshr(a, shift), b), mask)
                        row[i + half] = builder.xor(b, t)
                        row[i] = builder.xor(a, builder.shl(t, shift))
            for i in range(8):
                emit.store(row[i], arguments[1], 8 * (part + LANES * distance * i))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, apart), generate
