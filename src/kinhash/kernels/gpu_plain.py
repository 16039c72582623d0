"""Exact search with torch alone, for devices without Triton: the same answers, chunk by chunk.

What is kept is one sorted row of numbers `query << 50 | distance << 40 | row`, at most k of a query.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import require
from kinhash.kernels.gpu_shard import DISTANCE_BITS, ROW_BITS, Shard

_BATCH = 256  # queries searched together at most
_PAIRS = 1 << 25  # distances computed at a time
_FIRST = 1 << 14  # rows looked at before there is a limit
_QUERY_BITS = ROW_BITS + DISTANCE_BITS
_KEY_MASK = (1 << _QUERY_BITS) - 1


def k_nearest(shard: Shard, queries: NDArray[np.uint64], k: int) -> NDArray[np.int64]:
    """(m, k) keys in ascending order; k is at most the number of rows."""
    found = [_nearest(shard, batch, k) for batch in _batches(shard, queries)]
    return np.concatenate(found)


def within(
    shard: Shard, queries: NDArray[np.uint64], radius: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For consecutive batches of queries: how many keys each has, and all keys, query by query in order."""
    torch = require("torch", "train")
    for batch in _batches(shard, queries):
        limits = torch.full((len(batch),), radius, device=batch.device)
        parts = [_near(shard, batch, limits, lo, hi) for lo, hi in _chunks(shard, len(batch))]
        keys = torch.cat(parts).sort().values
        counts = torch.bincount(keys >> _QUERY_BITS, minlength=len(batch))
        yield counts.cpu().numpy(), (keys & _KEY_MASK).cpu().numpy()


def _nearest(shard: Shard, queries: Any, k: int) -> NDArray[np.int64]:
    """Once k are found, a later row must be strictly nearer than the last of them, because it loses every tie."""
    torch = require("torch", "train")
    kept = torch.empty(0, dtype=torch.int64, device=queries.device)
    limits = torch.full((len(queries),), shard.bits, device=queries.device)
    for lo, hi in _chunks(shard, len(queries)):
        kept = torch.cat([kept, _near(shard, queries, limits, lo, hi)]).sort().values
        query = kept >> _QUERY_BITS
        counts = torch.bincount(query, minlength=len(queries))
        rank = torch.arange(len(kept), device=kept.device) - (counts.cumsum(0) - counts)[query]
        kept = kept[rank < k]
        if hi >= k:
            limits = (kept.view(-1, k)[:, -1] >> ROW_BITS & ((1 << DISTANCE_BITS) - 1)) - 1
    found: NDArray[np.int64] = (kept.view(-1, k) & _KEY_MASK).cpu().numpy()
    return found


def _batches(shard: Shard, queries: NDArray[np.uint64]) -> Iterator[Any]:
    torch = require("torch", "train")
    for start in range(0, len(queries), _BATCH):
        batch = np.array(queries[start : start + _BATCH]).view(np.int64)
        yield torch.from_numpy(batch).to(shard.words.device)


def _chunks(shard: Shard, queries: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows that grow from a few to as many as _PAIRS allows, so that few rows come without a limit."""
    lo, most = 0, max(1, _PAIRS // queries)
    while lo < shard.rows:
        hi = min(lo + min(most, max(_FIRST, 7 * lo)), shard.rows)
        yield lo, hi
        lo = hi


def _near(shard: Shard, queries: Any, limits: Any, lo: int, hi: int) -> Any:
    """One number for every row of lo..hi within the limit of a query, in no particular order."""
    distance = _ones(shard.words[0, lo:hi] ^ queries[:, :1])
    for w in range(1, shard.width):
        distance += _ones(shard.words[w, lo:hi] ^ queries[:, w : w + 1])
    query, row = (distance <= limits[:, None]).nonzero(as_tuple=True)
    return query << _QUERY_BITS | distance[query, row] << ROW_BITS | (row + lo)


def _ones(x: Any) -> Any:
    """Number of set bits of int64. The right shifts drag the sign along; the masks cut it off again."""
    x = x - (x >> 1 & 0x5555555555555555)
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333)
    x = x + (x >> 4) & 0x0F0F0F0F0F0F0F0F
    return x * 0x0101010101010101 >> 56 & 0xFF
