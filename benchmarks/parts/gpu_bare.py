"""What `gpu_search.py` compares with: reading alone, counting alone, and what one writes with torch. Needs Triton."""

from __future__ import annotations

import functools
from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def _least(words, queries, out, QUERIES: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # a kernel
    """The least distance in a block of codes to any of the queries."""
    x = tl.load(words + tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)).to(
        tl.uint64, bitcast=True
    )
    least = tl.full((BLOCK,), 64, tl.int32)
    UNROLL: tl.constexpr = QUERIES if QUERIES < 8 else 8  # all 64 at once do not fit the registers
    for first in range(0, QUERIES, UNROLL):
        for i in tl.static_range(UNROLL):
            y = x ^ tl.load(queries + first + i).to(tl.uint64, bitcast=True)
            y = y - ((y >> 1) & 0x5555555555555555)
            y = (y & 0x3333333333333333) + ((y >> 2) & 0x3333333333333333)
            y = (y + (y >> 4)) & 0x0F0F0F0F0F0F0F0F
            least = tl.minimum(least, ((y * 0x0101010101010101) >> 56).to(tl.int32))
    tl.store(out + tl.program_id(0), tl.min(least, 0))


@triton.jit
def _or(words, out, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # a kernel
    """Read a block of codes and do next to nothing with it."""
    x = tl.load(words + tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK))
    tl.store(out + tl.program_id(0), tl.max(x, 0).to(tl.int32))


class Bare:
    """Exclusive or, count, minimum of a block, over 64-bit codes; nothing is selected, so no answer comes out."""

    def __init__(self, words: torch.Tensor, block: int = 2048) -> None:
        self.words, self.block = words, block
        self.out = torch.empty(words.shape[0] // block, dtype=torch.int32, device=words.device)

    def scan(self, queries: torch.Tensor) -> None:
        _least[(len(self.out),)](
            self.words, queries, self.out, QUERIES=len(queries), BLOCK=self.block, num_warps=4
        )
        torch.cuda.synchronize()

    def read(self) -> None:
        _or[(len(self.out),)](self.words, self.out, BLOCK=self.block, num_warps=4)
        torch.cuda.synchronize()


def signs(words: torch.Tensor) -> torch.Tensor:
    """(n, 64) of -1 and +1 in half precision."""
    shifts = torch.arange(64, device=words.device)
    out = torch.empty((len(words), 64), dtype=torch.float16, device=words.device)
    for start in range(0, len(words), 1 << 22):
        part = words[start : start + (1 << 22), None] >> shifts & 1
        out[start : start + (1 << 22)] = part * 2 - 1
    return out


def matrix_product(database: torch.Tensor, queries: torch.Tensor, k: int, chunk: int = 1 << 22) -> Any:
    """The usual way with torch: half-precision product of signs, top k of a chunk, top k of the tops. No tie rule."""
    values, rows = [], []
    for start in range(0, len(database), chunk):
        top = (queries @ database[start : start + chunk].T).topk(k, dim=1)
        values.append(top.values)
        rows.append(top.indices + start)
    best = torch.cat(values, 1).topk(k, dim=1)
    return torch.cat(rows, 1).gather(1, best.indices).cpu(), best.values.cpu()


def xor_and_topk(words: torch.Tensor, queries: torch.Tensor, k: int, pairs: int = 1 << 27) -> torch.Tensor:
    """The other way: exclusive or, bits counted by arithmetic, top k of keys `distance << 40 | row`, so ties are right."""
    best = []
    chunk = pairs // len(queries)
    for start in range(0, len(words), chunk):
        x = words[start : start + chunk] ^ queries[:, None]
        x -= x >> 1 & 0x5555555555555555
        x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333)
        x = x + (x >> 4) & 0x0F0F0F0F0F0F0F0F
        x = (x * 0x0101010101010101 >> 56 & 0xFF) << 40
        x |= torch.arange(start, start + x.shape[1], device=x.device)
        best.append(x.topk(k, dim=1, largest=False).values)
    return torch.cat(best, 1).topk(k, dim=1, largest=False).values.cpu()


@functools.cache
def _ones_in_16_bits(device: torch.device) -> torch.Tensor:
    return torch.tensor([i.bit_count() for i in range(1 << 16)], dtype=torch.int64, device=device)


def exact(words: torch.Tensor, query: torch.Tensor, k: int) -> torch.Tensor:
    """(k,) keys `distance << 40 | row` in order for (n, width) words, by a table of counts and torch's sort."""
    best = torch.empty(0, dtype=torch.int64, device=words.device)
    table = _ones_in_16_bits(words.device)
    for start in range(0, len(words), 1 << 26):
        x = words[start : start + (1 << 26)] ^ query
        keys = torch.arange(start, start + len(x), device=words.device)
        for w in range(words.shape[1]):
            for shift in (0, 16, 32, 48):
                keys += table[x[:, w] >> shift & 0xFFFF] << 40
        best = torch.cat([best, keys.topk(min(k, len(keys)), largest=False).values])
    return best.sort().values[:k].cpu()
