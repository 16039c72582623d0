"""Exact search over codes that stay on one GPU: which rows to scan in which order, and what to keep.

The rows are scanned in segments that grow by a constant factor. Before each, the k-th distance found so far is
the limit: a later row must be strictly nearer, because it loses every tie. In random order a segment then adds
fewer than k * (factor - 1) candidates to a query's list, and only the last segment costs anything. A list that
runs over (rows sorted by distance, say) is noticed, and its query is searched again in steps that cannot.

A key is `distance << 40 | row`, so sorting keys is sorting by (distance, row). Torch and Triton are imported
inside the functions: searching on a CPU never loads them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import InputError, require

ROW_BITS = 40
_NOTHING = np.iinfo(np.int64).max
_ALIGNED = 1024  # segments begin at a multiple of this
_UPLOAD = 1 << 24  # rows sent to a device at a time
_BATCH = 256  # queries searched together at most
_LISTED = 1 << 26  # keys in the lists of one batch at most
_TENSOR_ROWS = 1 << 18  # shorter segments are scanned by counting bits


@dataclass(frozen=True)
class Shard:
    """The codes on one device: word w of row i is words[w, i], an int64 tensor."""

    words: Any
    rows: int

    @property
    def width(self) -> int:
        """Words of a code."""
        return int(self.words.shape[0])


@dataclass
class _Lists:
    """What one batch of queries has found: query q owns keys[starts[q]:starts[q + 1]]."""

    queries: Any  # (padded, width) int64
    limits: Any  # (padded,) int32: the largest distance that still matters
    counts: Any  # (padded,) int64: codes within the limit, those without room included
    histogram: Any  # (padded, bins) int64: how many of them at each distance; no bins where nobody asks
    starts: Any  # (padded + 1,) int64
    keys: Any  # int64
    real: int  # queries that are no padding


# ---- devices and upload --------------------------------------------------------------------------------


def checked_devices(names: Sequence[object] | None) -> list[Any]:
    """The devices as torch knows them; None means every GPU. A device may be named twice."""
    torch = require("torch", "train")
    require("triton", "train")
    if (
        os.environ.get("TRITON_INTERPRET") == "1"
        and names is not None
        and list(names) == ["cpu"] * len(names)
    ):
        return [torch.device("cpu") for _ in names]  # Triton's interpreter: slow, for tests without a GPU
    count = torch.cuda.device_count()
    if count == 0:
        raise InputError(
            "searching on a GPU needs one that torch can use, and torch sees none: use MultiIndex or Index instead"
        )
    if names is None:
        return [torch.device("cuda", number) for number in range(count)]
    devices = []
    for name in names:
        try:
            device = torch.device("cuda", name) if isinstance(name, int) else torch.device(str(name))
        except RuntimeError:
            raise InputError(f"{name!r} names no device: write 'cuda:0', 'cuda:1', ...") from None
        if device.type != "cuda" or (device.index or 0) >= count:
            raise InputError(
                f"{name!r} is none of the {count} GPUs that torch sees, 'cuda:0' to 'cuda:{count - 1}'"
            )
        devices.append(torch.device("cuda", device.index or 0))
    if not devices:
        raise InputError("an empty list of devices: name at least one, or pass None for all")
    return devices


def is_tensor(words: object) -> bool:
    """Whether `words` is a torch tensor, which may already be on a GPU."""
    return type(words).__module__.split(".")[0] == "torch"


def upload(parts: Sequence[Any], device: Any) -> Shard:
    """Copy arrays (n, width) of uint64, or tensors of int64, one after the other into planes on a device."""
    torch = require("torch", "train")
    rows, width = sum(len(part) for part in parts), parts[0].shape[1]
    words = torch.empty((width, -(-rows // 16) * 16), dtype=torch.int64, device=device)
    end = 0
    for part in parts:
        for start in range(0, len(part), _UPLOAD):
            block = part[start : start + _UPLOAD]
            if not is_tensor(block):
                block = torch.from_numpy(np.array(block).view(np.int64))  # a copy: torch wants it writable
            words[:, end : end + len(block)] = block.T.to(device)
            end += len(block)
    return Shard(words, rows)


# ---- k nearest -----------------------------------------------------------------------------------------


def k_nearest(shard: Shard, queries: NDArray[np.uint64], k: int) -> NDArray[np.int64]:
    """(m, k) keys in ascending order; k is at most the number of rows."""
    growth = 32 if len(queries) == 1 else 8
    room = min(shard.rows, _first(k) + 4 * growth * k)
    batch = max(1, min(_BATCH, _LISTED // room))
    found = np.empty((len(queries), k), dtype=np.int64)
    with _active(shard):
        for start in range(0, len(queries), batch):
            found[start : start + batch] = _nearest(shard, queries[start : start + batch], k, room, growth)
    return found


def segments(rows: int, k: int, growth: int) -> list[tuple[int, int]]:
    """Consecutive ranges of rows, the first just long enough for k, each end about `growth` times the one before."""
    ends = [rows]
    while ends[-1] > _first(k):
        ends.append(max(_first(k), _aligned(-(-ends[-1] // growth))))
    return list(zip([0, *ends[:0:-1]], ends[::-1], strict=True))


def _first(k: int) -> int:
    return _aligned(2 * k)


def _aligned(rows: int) -> int:
    return -(-rows // _ALIGNED) * _ALIGNED


def _nearest(shard: Shard, queries: NDArray[np.uint64], k: int, room: int, growth: int) -> NDArray[np.int64]:
    """All segments without asking how full the lists are; the few queries whose list ran over once more."""
    lists = _lists(shard, queries, room)
    for lo, hi in segments(shard.rows, k, growth):
        _set_limits(shard, lists, k)
        _scan(shard, lists, lo, hi)
    counts = lists.counts[: lists.real].cpu().numpy()
    over = counts > room
    found: NDArray[np.int64] = np.empty((lists.real, k), dtype=np.int64)
    if not over.all():
        found[:] = _best(lists, k, int(np.minimum(counts, room).max()))[: lists.real].cpu().numpy()
    if over.any():
        found[over] = _nearest_carefully(shard, queries[over], k, room)
    return found


def _nearest_carefully(shard: Shard, queries: NDArray[np.uint64], k: int, room: int) -> NDArray[np.int64]:
    """Piece by piece: keep the k best after each, halve the piece where a list runs over, else double it."""
    torch = require("torch", "train")
    lists = _lists(shard, queries, room)
    smallest = (room - k) // _ALIGNED * _ALIGNED  # always fits
    lo, step = 0, smallest
    while lo < shard.rows:
        hi = min(lo + step, shard.rows)
        before = lists.counts.clone(), lists.histogram.clone()
        _set_limits(shard, lists, k)
        _scan(shard, lists, lo, hi)
        if int(lists.counts[: lists.real].max()) > room:
            lists.counts, lists.histogram = before
            step = max(smallest, step // 2 // _ALIGNED * _ALIGNED)
            continue
        kept = _best(lists, k, room)
        lists.keys.view(-1, room)[:, :k] = kept
        lists.counts.clamp_(max=k)
        there = torch.arange(k, device=kept.device) < lists.counts[:, None]
        distances = torch.where(there, kept >> ROW_BITS, 0)
        lists.histogram.zero_().scatter_add_(1, distances, there.long())
        lo, step = hi, 2 * step
    found: NDArray[np.int64] = lists.keys.view(-1, room)[: lists.real, :k].cpu().numpy()
    return found


def _best(lists: _Lists, k: int, used: int) -> Any:
    """(padded, k) smallest keys of every list in order, of which at most `used` entries are taken."""
    torch = require("torch", "train")
    keys = lists.keys.view(len(lists.counts), -1)[:, :used]
    taken = torch.arange(used, device=keys.device) < lists.counts[:, None]
    return torch.where(taken, keys, _NOTHING).topk(k, largest=False).values


# ---- within a radius -----------------------------------------------------------------------------------


def within(
    shard: Shard, queries: NDArray[np.uint64], radius: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For consecutive batches of queries: how many keys each has, and all keys, query by query in order."""
    with _active(shard):
        for start in range(0, len(queries), _BATCH):
            yield _within(shard, queries[start : start + _BATCH], radius)


def _within(
    shard: Shard, queries: NDArray[np.uint64], radius: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A first scan with little room; if that was not enough, its counts say how much is."""
    torch = require("torch", "train")
    room = min(shard.rows, 4096)
    lists = _lists(shard, queries, room, bins=0)
    lists.limits[: lists.real] = radius
    _scan(shard, lists, 0, shard.rows)
    if int(lists.counts.max()) > room:
        torch.cumsum(lists.counts, 0, out=lists.starts[1:])
        lists.keys = torch.empty(int(lists.starts[-1]), dtype=torch.int64, device=lists.keys.device)
        lists.counts.zero_()
        _scan(shard, lists, 0, shard.rows)
    query = torch.repeat_interleave(lists.counts)
    ends = lists.counts.cumsum(0)
    place = torch.arange(len(query), device=query.device) - (ends - lists.counts - lists.starts[:-1])[query]
    keys = (lists.keys[place] | query << (ROW_BITS + 10)).sort().values & ((1 << (ROW_BITS + 10)) - 1)
    return lists.counts[: lists.real].cpu().numpy(), keys.cpu().numpy()


# ---- launching -----------------------------------------------------------------------------------------


def _active(shard: Shard) -> contextlib.AbstractContextManager[Any]:
    """Triton launches on the current device."""
    torch = require("torch", "train")
    return torch.cuda.device(shard.words.device) if shard.words.is_cuda else contextlib.nullcontext()


def _lists(shard: Shard, queries: NDArray[np.uint64], room: int, bins: int | None = None) -> _Lists:
    """Empty lists with `room` for every query; queries are padded to what a program takes."""
    torch = require("torch", "train")
    device = shard.words.device
    padded = _padded(len(queries))
    words = np.zeros((padded, shard.width), dtype=np.int64)
    words[: len(queries)] = queries.view(np.int64)
    bins = 1 << (64 * shard.width).bit_length() if bins is None else bins
    return _Lists(
        queries=torch.from_numpy(words).to(device),
        limits=torch.full((padded,), -1, dtype=torch.int32, device=device),
        counts=torch.zeros(padded, dtype=torch.int64, device=device),
        histogram=torch.zeros((padded, bins), dtype=torch.int64, device=device),
        starts=torch.arange(padded + 1, dtype=torch.int64, device=device) * room,
        keys=torch.empty(padded * room, dtype=torch.int64, device=device),
        real=len(queries),
    )


def _padded(queries: int) -> int:
    """One, or 8, 16, 32, or a multiple of 64."""
    if queries == 1:
        return 1
    return -(-queries // 64) * 64 if queries > 32 else max(8, 1 << (queries - 1).bit_length())


def _set_limits(shard: Shard, lists: _Lists, k: int) -> None:
    from kinhash.kernels import gpu_triton

    padded, bins = lists.histogram.shape
    gpu_triton.set_limits[(padded,)](
        lists.histogram, lists.limits, lists.real, k, 64 * shard.width, BINS=bins, num_warps=1
    )


def _has_tensor_cores(shard: Shard) -> bool:
    """Multiplication of single bits: from Ampere to Hopper in hardware."""
    torch = require("torch", "train")
    return bool(shard.words.is_cuda) and torch.cuda.get_device_capability(shard.words.device)[0] in (8, 9)


def _scan(shard: Shard, lists: _Lists, lo: int, hi: int) -> None:
    """Append to every list the rows of lo..hi within its limit."""
    if len(lists.counts) > 1 and hi - lo >= _TENSOR_ROWS and _has_tensor_cores(shard):
        lo = _scan_tensor(shard, lists, lo, hi)
    _scan_counting(shard, lists, lo, hi)


def _scan_tensor(shard: Shard, lists: _Lists, lo: int, hi: int, pieces: int = 8, span: int = 8192) -> int:
    """Scan as many rows as make whole programs, and say where the rest begins."""
    from kinhash.kernels import gpu_triton

    groups = min(8 if shard.width <= 4 else 4, len(lists.counts) // 8)
    pieces = max(2, pieces >> (shard.width - 1).bit_length())
    tiles = len(lists.counts) // (8 * groups)
    programs = (hi - lo) // span
    if programs:
        gpu_triton.scan_tensor[(programs * tiles,)](
            *_arguments(shard, lists, lo, lo + programs * span), tiles,
            WIDTH=shard.width, BINS=lists.histogram.shape[1], GROUPS=groups, PIECES=pieces,
            STEPS=span // (16 * pieces), AHEAD=True, num_warps=1,
        )  # fmt: skip
    return lo + programs * span


def _scan_counting(shard: Shard, lists: _Lists, lo: int, hi: int) -> None:
    """Whole blocks first, then the rest."""
    from kinhash.kernels import gpu_triton

    padded = len(lists.counts)
    tile = 1 if padded == 1 else min(padded, 8 if hi - lo < _TENSOR_ROWS else 64)
    block, warps = 1024, 4
    cut = lo + (hi - lo) // block * block
    for start, stop, whole in ((lo, cut, True), (cut, hi, False)):
        if start < stop:
            gpu_triton.scan[(-(-(stop - start) // block) * (padded // tile),)](
                *_arguments(shard, lists, start, stop), padded // tile,
                WIDTH=shard.width, BINS=lists.histogram.shape[1], TILE=tile, BLOCK=block, WHOLE=whole,
                num_warps=warps,
            )  # fmt: skip


def _arguments(shard: Shard, lists: _Lists, lo: int, hi: int) -> tuple[Any, ...]:
    return (
        shard.words, shard.words.shape[1] // 16, lo // _ALIGNED, hi, lists.queries, lists.limits, lists.counts, lists.histogram,
        lists.starts, lists.keys,
    )  # fmt: skip
