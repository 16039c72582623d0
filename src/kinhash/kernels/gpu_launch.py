"""Launching the Triton kernels: which one scans a range of rows, and with what shape of program."""

from __future__ import annotations

from typing import Any

from kinhash.errors import require
from kinhash.kernels.gpu_lists import Lists
from kinhash.kernels.gpu_shard import Shard

ALIGNED = 1024  # scans begin at a multiple of this many rows
_TENSOR_ROWS = 1 << 18  # shorter ranges are scanned by counting bits
# The fastest shapes of programs on an H200 (results/search/gpu.json).
_SPAN = 8192  # rows of a program on tensor cores
_PIECES = 8  # 16 codes each, that it holds at a time; fewer when codes are longer
_BLOCK, _WARPS = 1024, 4  # rows and warps of a program that counts bits


def set_limits(shard: Shard, lists: Lists, k: int) -> None:
    """From the histograms: the largest distance at which a later row can still be among the k nearest."""
    from kinhash.kernels import gpu_triton

    gpu_triton.set_limits[(lists.padded,)](
        lists.histogram, lists.limits, lists.real, k, shard.bits, BINS=lists.bins, num_warps=1
    )


def append_near(shard: Shard, lists: Lists, lo: int, hi: int) -> None:
    """Append to every list the rows of lo..hi within its limit."""
    if lists.padded > 1 and hi - lo >= _TENSOR_ROWS and has_bit_products(shard):
        lo = append_by_tensor_cores(shard, lists, lo, hi)
    append_by_counting(shard, lists, lo, hi)


def has_bit_products(shard: Shard) -> bool:
    """Multiplication of single bits: from Ampere to Hopper in hardware."""
    torch = require("torch", "train")
    return bool(shard.words.is_cuda) and torch.cuda.get_device_capability(shard.words.device)[0] in (8, 9)


def append_by_tensor_cores(shard: Shard, lists: Lists, lo: int, hi: int) -> int:
    """Scan as many rows as make whole programs, and say where the rest begins."""
    from kinhash.kernels import gpu_tensor

    groups = min(8 if shard.width <= 4 else 4, lists.padded // 8)
    pieces = max(2, _PIECES >> (shard.width - 1).bit_length())
    tiles = lists.padded // (8 * groups)
    programs = (hi - lo) // _SPAN
    if programs:
        gpu_tensor.scan_tensor[(programs * tiles,)](
            *_arguments(shard, lists, lo, lo + programs * _SPAN), tiles, _SPAN // (16 * pieces),
            WIDTH=shard.width, BINS=lists.bins, GROUPS=groups, PIECES=pieces, num_warps=1,
        )  # fmt: skip
    return lo + programs * _SPAN


def append_by_counting(shard: Shard, lists: Lists, lo: int, hi: int) -> None:
    """Whole blocks first, then the rest."""
    from kinhash.kernels import gpu_triton

    tile = 1 if lists.padded == 1 else min(lists.padded, 8 if hi - lo < _TENSOR_ROWS else 64)
    tiles = lists.padded // tile
    cut = lo + (hi - lo) // _BLOCK * _BLOCK
    for start, stop, whole in ((lo, cut, True), (cut, hi, False)):
        if start < stop:
            gpu_triton.scan[(-(-(stop - start) // _BLOCK) * tiles,)](
                *_arguments(shard, lists, start, stop), tiles,
                WIDTH=shard.width, BINS=lists.bins, TILE=tile, BLOCK=_BLOCK, WHOLE=whole, num_warps=_WARPS,
            )  # fmt: skip


def _arguments(shard: Shard, lists: Lists, lo: int, hi: int) -> tuple[Any, ...]:
    """What both kernels take; rows are named in units that tell the compiler how they are aligned."""
    return (
        shard.words, shard.words.shape[1] // 16, lo // ALIGNED, hi, lists.queries, lists.limits, lists.counts,
        lists.histogram, lists.starts, lists.keys,
    )  # fmt: skip
