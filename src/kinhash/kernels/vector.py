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
        return self.builder.load(self.pointer(address, offset, self.type), align=1)

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
def bytes_set(typing_context: Any, address: Any) -> Any:
    """Which of 64 bytes at an address are not 0: one bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = Emit(builder)
        kind = ir.VectorType(ir.IntType(8), 8 * LANES)
        values = builder.bitcast(emit.load(arguments[0]), kind)
        some = builder.icmp_unsigned("!=", values, ir.Constant(kind, [0] * 8 * LANES))
        return builder.bitcast(some, I64)

    return types.uint64(types.int64), generate


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


@instruction(prefer_literal=True)
def columns_of_eight(typing_context: Any, codes: Any, width: Any, columns: Any, stride: Any) -> Any:
    """Word w of 8 codes of a literal width 1, 2, 4 or 8 to columns + w * stride, in vectors."""
    number = width.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        codes, _, columns, stride = arguments
        emit = Emit(builder)
        lanes = ir.VectorType(ir.IntType(32), LANES)
        halves = [ir.Constant(lanes, list(range(first, 2 * LANES, 2))) for first in range(2)]

        def split(vectors: list[Any], word: int, step: int) -> None:
            """Vectors that hold words `word`, `word + step`, ... in turn."""
            if len(vectors) == 1:
                emit.store(vectors[0], builder.add(columns, builder.mul(stride, ir.Constant(I64, word))))
                return
            for i, half in enumerate(halves):
                pairs = zip(vectors[::2], vectors[1::2], strict=True)
                split([builder.shuffle_vector(a, b, half) for a, b in pairs], word + i * step, 2 * step)

        split([emit.load(codes, 64 * i) for i in range(number)], 0, 1)
        return context.get_dummy_value()

    apart = stride if isinstance(stride, types.Literal) else types.int64
    return types.void(types.int64, width, types.int64, apart), generate
