"""Vector instructions for Numba kernels, written as LLVM IR: 512 bits at a time, or as wide as the CPU allows.

Each intrinsic works on addresses (`array.ctypes.data`) and is portable: LLVM lowers it to whatever the CPU has.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8  # uint64 of one block
_I64 = ir.IntType(64)


def _lanes(context: Any) -> int:
    """uint64 per register of the CPU compiled for; wider values would only spill."""
    features = context.codegen()._get_host_cpu_features()
    return 8 if "+avx512f" in features else 4 if "+avx2" in features else 2


class _Emit:
    """Emits vector code of one width."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.builder = builder
        self.lanes = _lanes(context)
        self.type = ir.VectorType(_I64, self.lanes)
        self.ternary = self.lanes == 8

    def load(self, address: Any, offset: Any = 0, align: int = 8) -> Any:
        return self.builder.load(self._pointer(address, offset, self.type), align=align)

    def store(self, value: Any, address: Any, offset: int = 0, align: int = 8) -> None:
        self.builder.store(value, self._pointer(address, offset, value.type), align=align)

    def _pointer(self, address: Any, offset: Any, kind: Any) -> Any:
        base = self.builder.inttoptr(address, ir.IntType(8).as_pointer())
        if isinstance(offset, int):
            offset = ir.Constant(_I64, offset)
        return self.builder.bitcast(self.builder.gep(base, [offset]), kind.as_pointer())

    def scalar(self, address: Any, offset: int, bits: int) -> Any:
        return self.builder.load(self._pointer(address, offset, ir.IntType(bits)))

    def splat(self, scalar: Any) -> Any:
        undef = ir.Constant(self.type, ir.Undefined)
        one = self.builder.insert_element(undef, scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, undef, zeros)

    def constant(self, value: int) -> Any:
        return ir.Constant(self.type, [value] * self.lanes)

    def any(self, value: Any) -> Any:
        """i1: a lane is not zero."""
        wide = self.builder.bitcast(value, ir.IntType(64 * self.lanes))
        return self.builder.icmp_unsigned("!=", wide, ir.Constant(wide.type, 0))

    def add3(self, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
        """Full adder on every bit: (sum, carry)."""
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


@intrinsic(prefer_literal=True)
def sliced_below(typingctx: Any, table: Any, offsets: Any, threshold: Any, out: Any, planes: Any) -> Any:
    """Which of 512 codes are nearer than a threshold: their bits go to `out`; returns whether there is one.

    `planes` (a literal) is the number of bit planes, in groups of 3. At `table` + offsets[g] lie two planes: the
    low and the high bit of the distance, 0 to 3, that group g contributes (see `sliced_table`). `threshold`
    points at the bits, as full words, of 2^B - threshold; adding all up, bit B tells distance >= threshold.
    """
    count = planes.literal_value
    width = (-(-count // 64) * 64).bit_length()

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emit(context, builder)
        some = ir.Constant(ir.IntType(1), 0)
        for part in range(0, LANES, emit.lanes):
            pending: list[list[Any]] = [
                [emit.splat(emit.scalar(args[2], 8 * w, 64))] for w in range(width)
            ] + [[]]
            for g in range(-(-count // 3)):
                at = builder.zext(emit.scalar(args[1], 4 * g, 32), _I64)
                base = builder.add(args[0], at)
                _push(emit, pending, 0, emit.load(base, 8 * part))
                if 3 * g + 1 < count:
                    _push(emit, pending, 1, emit.load(base, 8 * (part + LANES)))
            for w in range(width):
                if len(pending[w]) == 2:
                    pending[w + 1].append(builder.and_(*pending[w]))
                    if w + 1 < width and len(pending[w + 1]) == 3:
                        total, carry = emit.add3(*pending[w + 1])
                        pending[w + 1] = [total]
                        pending[w + 2].append(carry)
            far = pending[width][0]
            for value in pending[width][1:]:
                far = builder.or_(far, value)
            near = builder.not_(far)
            emit.store(near, args[3], 8 * part)
            some = builder.or_(some, emit.any(near))
        return builder.zext(some, _I64)

    return types.int64(types.uintp, types.uintp, types.uintp, types.uintp, planes), codegen


def _push(emit: _Emit, pending: list[list[Any]], weight: int, value: Any) -> None:
    """Add a plane of some weight; three of one weight become one of it and one of the next."""
    pending[weight].append(value)
    if len(pending[weight]) == 3 and weight + 1 < len(pending):
        total, carry = emit.add3(*pending[weight])
        pending[weight] = [total]
        _push(emit, pending, weight + 1, carry)


@intrinsic(prefer_literal=True)
def sliced_table(typingctx: Any, planes: Any, table: Any, last: Any) -> Any:
    """From 3 planes at `planes` make the 8 x 2 planes of a group: for every 3 bits of a query, the two bits of
    their distance to the codes. Combination c takes 128 bytes at table + 128 c."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emit(context, builder)
        ones = emit.constant(2**64 - 1)
        for part in range(0, LANES, emit.lanes):
            x = [emit.load(args[0], 8 * (part + LANES * i)) for i in range(3)]
            y = [builder.xor(v, ones) for v in x]
            for c in range(8):
                low, high = emit.add3(*(y[i] if c >> i & 1 else x[i] for i in range(3)))
                emit.store(low, args[1], 128 * c + 8 * part)
                emit.store(high, args[1], 128 * c + 8 * (part + LANES))
        return ir.Constant(_I64, 0)

    return types.int64(types.uintp, types.uintp, types.int64), codegen


@intrinsic(prefer_literal=True)
def butterflies(typingctx: Any, source: Any, target: Any, stride: Any) -> Any:
    """Three stages of a 64 x 64 bit transposition in every lane, over 8 vectors `stride` (8 or 1) apart."""
    apart = stride.literal_value
    masks = {
        32: 0x00000000FFFFFFFF,
        16: 0x0000FFFF0000FFFF,
        8: 0x00FF00FF00FF00FF,
        4: 0x0F0F0F0F0F0F0F0F,
        2: 0x3333333333333333,
        1: 0x5555555555555555,
    }

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emit(context, builder)
        for part in range(0, LANES, emit.lanes):
            row = [emit.load(args[0], 8 * (part + LANES * apart * i)) for i in range(8)]
            for half in (4, 2, 1):
                step = half * apart
                mask, shift = emit.constant(masks[step]), emit.constant(step)
                for i in range(8):
                    if not i & half:
                        a, b = row[i], row[i + half]
                        t = builder.and_(builder.xor(builder.lshr(a, shift), b), mask)
                        row[i + half] = builder.xor(b, t)
                        row[i] = builder.xor(a, builder.shl(t, shift))
            for i in range(8):
                emit.store(row[i], args[1], 8 * (part + LANES * apart * i))
        return ir.Constant(_I64, 0)

    return types.int64(types.uintp, types.uintp, stride), codegen
