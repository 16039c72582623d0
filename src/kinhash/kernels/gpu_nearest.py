"""The k nearest on one GPU: which rows to scan in which order, and what to keep.

The rows are scanned in segments that grow by a constant factor. Before each, the k-th distance found so far is
the limit: a later row must be strictly nearer, because it loses every tie. In random order a segment then adds
at most k * (factor - 1) candidates to a query's list on average, and only the last segment costs anything. A list
that runs over (rows sorted by distance, say) is noticed, and its query is searched again in steps that cannot.
That takes milliseconds, so lists have room for bad luck: see `room_for`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import require
from kinhash.kernels import gpu_launch
from kinhash.kernels.gpu_graph import Replays
from kinhash.kernels.gpu_lists import Lists, new_lists
from kinhash.kernels.gpu_shard import NOTHING, ROW_BITS, Shard, active

_BATCH = 256  # queries searched together at most
_LISTED = 1 << 26  # keys in the lists of one batch at most
_REPLAYED = 1 << 22  # keys in the lists of a search that is worth keeping


def k_nearest(shard: Shard, queries: NDArray[np.uint64], k: int, replays: Replays) -> NDArray[np.int64]:
    """(m, k) keys in ascending order; k is at most the number of rows."""
    growth = 32 if len(queries) == 1 else 8
    room = room_for(shard.rows, k, growth)
    batch = max(1, min(_BATCH, _LISTED // room))
    found = np.empty((len(queries), k), dtype=np.int64)
    with active(shard):
        for start in range(0, len(queries), batch):
            part = queries[start : start + batch]
            found[start : start + batch] = _nearest(shard, part, k, room, growth, replays)
    return found


def segments(rows: int, k: int, growth: int) -> list[tuple[int, int]]:
    """Consecutive ranges of rows, the first just long enough for k, each end about `growth` times the one before."""
    ends = [rows]
    while ends[-1] > _first(k):
        ends.append(max(_first(k), _aligned(-(-ends[-1] // growth))))
    return list(zip([0, *ends[:0:-1]], ends[::-1], strict=True))


def room_for(rows: int, k: int, growth: int) -> int:
    """Keys that a list has room for: the candidates of rows in random order, and six standard deviations more.

    A segment r times as long as all rows before it adds k * r candidates on average, where no distances tie, and
    their variance is k * r * (r + 1). Beyond that the k best and 1024 rows fit, which `nearest_carefully` needs.
    """
    parts = segments(rows, k, growth)
    added = k * sum((hi - lo) / lo for lo, hi in parts[1:])
    return min(rows, parts[0][1] + k + math.ceil(added + 6 * math.sqrt(growth * added)))


def _first(k: int) -> int:
    return _aligned(2 * k)


def _aligned(rows: int) -> int:
    return -(-rows // gpu_launch.ALIGNED) * gpu_launch.ALIGNED


def _nearest(
    shard: Shard, queries: NDArray[np.uint64], k: int, room: int, growth: int, replays: Replays
) -> NDArray[np.int64]:
    """All segments without asking how full the lists are; the few queries whose list ran over once more."""

    def prepare() -> Lists:
        return new_lists(shard, queries, room, histogram=True)

    def search(lists: Lists) -> Any:
        return _search(shard, lists, k, growth)

    keep = shard.words.is_cuda and len(queries) * room <= _REPLAYED
    answer = replays.run((len(queries), k) if keep else None, queries, prepare, search)
    found: NDArray[np.int64] = answer[:, :k]
    over = answer[:, k] > room
    if over.any():
        found[over] = nearest_carefully(shard, queries[over], k, room)
    return found


def _search(shard: Shard, lists: Lists, k: int, growth: int) -> Any:
    """(real, k + 1): the best keys of every query, and how many its list was asked to take."""
    torch = require("torch", "train")
    lists.clear()
    for lo, hi in segments(shard.rows, k, growth):
        gpu_launch.set_limits(shard, lists, k)
        gpu_launch.append_near(shard, lists, lo, hi)
    return torch.cat([lists.best(k), lists.counts[:, None]], 1)[: lists.real]


def nearest_carefully(shard: Shard, queries: NDArray[np.uint64], k: int, room: int) -> NDArray[np.int64]:
    """Piece by piece: keep the k best after each, halve the piece where a list runs over, else double it."""
    lists = new_lists(shard, queries, room, histogram=True)
    keys = lists.keys.view(lists.padded, room)
    smallest = (room - k) // gpu_launch.ALIGNED * gpu_launch.ALIGNED  # always fits
    lo, step = 0, smallest
    while lo < shard.rows:
        hi = min(lo + step, shard.rows)
        before = lists.counts.clone(), lists.histogram.clone()
        gpu_launch.set_limits(shard, lists, k)
        gpu_launch.append_near(shard, lists, lo, hi)
        if int(lists.counts[: lists.real].max()) > room:
            lists.counts, lists.histogram = before
            keys[:, k:] = NOTHING
            step = max(smallest, step // 2 // gpu_launch.ALIGNED * gpu_launch.ALIGNED)
            continue
        kept = lists.best(k)
        lists.clear()
        keys[:, :k] = kept
        there = kept != NOTHING
        lists.counts += there.sum(1)
        lists.histogram.scatter_add_(1, (kept >> ROW_BITS).masked_fill(~there, 0), there.long())
        lo, step = hi, 2 * step
    found: NDArray[np.int64] = keys[: lists.real, :k].cpu().numpy()
    return found
