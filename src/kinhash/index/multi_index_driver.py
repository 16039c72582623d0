"""What drives the kernels of multi-index hashing: blocks of queries go to threads, pairs become hits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.results import RaggedHits
from kinhash.kernels.multi_best import NUMBER, SHIFT
from kinhash.kernels.multi_search import COUNTED, Prices, Tables, search_nearest, search_within
from kinhash.kernels.threads import available_threads, map_blocks

_ROOM = 1 << 14  # pairs that a radius search has room for at first
_MOST = 256  # queries of a block
_PAIRS = 1 << 18  # pairs of a block, which stay in the cache
Part = tuple[NDArray[np.int64], NDArray[np.int32]]


def k_nearest(
    tables: Tables, prices: Prices, queries: Codes, k: int, threads: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """(m, k) positions and distances, and what was counted; queries that fell back have no answer yet."""
    m = len(queries)
    positions, distances = np.empty((m, k), dtype=np.int64), np.empty((m, k), dtype=np.int32)
    counted = np.zeros((m, COUNTED), dtype=np.int64)

    def run(start: int, stop: int) -> None:
        best = np.empty((stop - start, k), dtype=np.int64)
        search_nearest(tables, prices, queries.words[start:stop], best, counted[start:stop])
        best.sort(axis=1)
        positions[start:stop] = best & NUMBER
        distances[start:stop] = best >> SHIFT

    map_blocks(run, m, min(_block(m, threads), max(1, _PAIRS // k)), threads)
    return positions, distances, counted


def within(
    tables: Tables, prices: Prices, queries: Codes, radius: int, threads: int | None
) -> tuple[list[Part], NDArray[np.int64]]:
    """(positions, distances) of every query, and what was counted."""
    m = len(queries)
    counted = np.zeros((m, COUNTED), dtype=np.int64)
    parts: list[Part] = [(np.empty(0, np.int64), np.empty(0, np.int32))] * m

    def run(start: int, stop: int) -> None:
        room, done = _ROOM, 0
        words, count = queries.words[start:stop], counted[start:stop]
        ends = np.zeros(stop - start, dtype=np.int64)
        while done < len(words):
            found = np.empty(room, dtype=np.int64)
            first = done
            done = search_within(tables, prices, words, radius, first, found, ends, count)
            low = 0
            for i in range(first, done):
                pairs = np.sort(found[low : ends[i]])
                low = ends[i]
                parts[start + i] = pairs & NUMBER, (pairs >> SHIFT).astype(np.int32)
            room *= 2

    map_blocks(run, m, _block(m, threads), threads)
    return parts, counted


def _block(m: int, threads: int | None) -> int:
    """Queries that a thread takes at a time: some turns each, since queries differ in cost."""
    return max(1, min(_MOST, m // (4 * (threads or available_threads()))))


def joined(parts: list[Part]) -> RaggedHits:
    """The hits of all queries, one after the other."""
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(positions) for positions, _ in parts], out=offsets[1:])
    if not parts:
        return RaggedHits(offsets, np.empty(0, np.int64), np.empty(0, np.int32))
    return RaggedHits(
        offsets, np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    )
