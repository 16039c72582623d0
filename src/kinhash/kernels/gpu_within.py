"""Everything within a radius on one GPU."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import require
from kinhash.kernels import gpu_launch
from kinhash.kernels.gpu_lists import new_lists
from kinhash.kernels.gpu_shard import DISTANCE_BITS, ROW_BITS, Shard, active

_BATCH = 256  # queries searched together at most
_ROOM = 4096  # keys a query has room for at first


def within(
    shard: Shard, queries: NDArray[np.uint64], radius: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For consecutive batches of queries: how many keys each has, and all keys, query by query in order."""
    with active(shard):
        for start in range(0, len(queries), _BATCH):
            yield _within(shard, queries[start : start + _BATCH], radius)


def _within(
    shard: Shard, queries: NDArray[np.uint64], radius: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A first scan with little room; if that was not enough, its counts say how much is."""
    torch = require("torch", "train")
    room = min(shard.rows, _ROOM)
    lists = new_lists(shard, queries, room, histogram=False)
    lists.limits[: lists.real] = radius
    gpu_launch.append_near(shard, lists, 0, shard.rows)
    if int(lists.counts.max()) > room:
        torch.cumsum(lists.counts, 0, out=lists.starts[1:])
        lists.keys = torch.empty(int(lists.starts[-1]), dtype=torch.int64, device=lists.keys.device)
        lists.counts.zero_()
        gpu_launch.append_near(shard, lists, 0, shard.rows)
    query = torch.repeat_interleave(lists.counts)
    ends = lists.counts.cumsum(0)
    place = torch.arange(len(query), device=query.device) - (ends - lists.counts - lists.starts[:-1])[query]
    shift = ROW_BITS + DISTANCE_BITS
    keys = (lists.keys[place] | query << shift).sort().values & ((1 << shift) - 1)
    return lists.counts[: lists.real].cpu().numpy(), keys.cpu().numpy()
