"""The scan in plain NumPy: what runs where Numba's compiler is switched off (NUMBA_DISABLE_JIT=1).

Exact and slow. The compiled kernels of `scan.py` give the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_TILE = 1 << 22  # entries of one block of distances


def distances(queries: NDArray[np.uint64], words: NDArray[np.uint64]) -> NDArray[np.int32]:
    """(m, n) Hamming distances."""
    total = np.zeros((len(queries), len(words)), dtype=np.int32)
    for w in range(words.shape[1]):
        total += np.bitwise_count(queries[:, None, w] ^ words[None, :, w])
    return total


def k_nearest(
    queries: NDArray[np.uint64], words: NDArray[np.uint64], positions: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The min(k, n) nearest rows of `words`, whose names are `positions` (ascending), ties in that order."""
    k = min(k, len(words))
    found = np.empty((len(queries), k), dtype=np.int64)
    dist = np.empty((len(queries), k), dtype=np.int32)
    step = max(1, _TILE // max(1, len(words)))
    for start in range(0, len(queries), step):
        block = distances(queries[start : start + step], words)
        order = np.argsort(block, axis=1, kind="stable")[:, :k]
        found[start : start + step] = positions[order]
        dist[start : start + step] = np.take_along_axis(block, order, axis=1)
    return found, dist


def within(
    queries: NDArray[np.uint64], words: NDArray[np.uint64], positions: NDArray[np.int64], radius: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """(query, position, distance) of every pair within `radius`, in (query, distance, position) order."""
    parts = []
    step = max(1, _TILE // max(1, len(words)))
    for start in range(0, len(queries), step):
        block = distances(queries[start : start + step], words)
        q, i = np.nonzero(block <= radius)
        d = block[q, i]
        order = np.lexsort((i, d, q))
        parts.append((q[order] + start, positions[i[order]], d[order]))
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32)
    q, p, d = (np.concatenate(part) for part in zip(*parts, strict=True))
    return q.astype(np.int64), p, d


def histogram(queries: NDArray[np.uint64], words: NDArray[np.uint64], bits: int) -> NDArray[np.int64]:
    """(m, bits + 1) counts of the distances from every query."""
    counts = np.zeros((len(queries), bits + 1), dtype=np.int64)
    step = max(1, _TILE // max(1, len(words)))
    for start in range(0, len(queries), step):
        block = distances(queries[start : start + step], words)
        for i, row in enumerate(block):
            counts[start + i] = np.bincount(row, minlength=bits + 1)
    return counts


def pair_blocks(
    words: NDArray[np.uint64], bits: int, radius: int, threads: int | None
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]]:
    """(left rows done, left, right, distance) of every pair within `radius`, some left codes at a time."""
    rows = np.arange(len(words))
    step = max(1, _TILE // max(1, len(words)))
    for start in range(0, len(words), step):
        left, right, d = within(words[start : start + step], words, rows, radius)
        later = left + start < right
        yield min(start + step, len(words)), left[later] + start, right[later], d[later]
