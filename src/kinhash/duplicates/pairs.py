"""Pairs of pictures that show the same: candidates by perceptual hash, of parts and orientations too, then a second look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinhash.arrays import is_whole
from kinhash.duplicates.alike import likeness
from kinhash.duplicates.perceptual import BITS, Looks, oriented_codes
from kinhash.duplicates.windows import Windows
from kinhash.errors import InputError
from kinhash.index import scan

RADIUS, LEAST = 10, 0.84  # chosen on validation photos by experiments/dedup.py
PARTS: Windows = ((1.0, 1), (0.9, 3), (0.8, 5))


@dataclass(frozen=True, eq=False)
class PicturePairs:
    """Pairs left < right of rows, how many bits their codes differ in at best, and how well they lie on each other."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    distances: NDArray[np.int32]
    likeness: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.left)

    def take(self, chosen: NDArray[np.bool_]) -> PicturePairs:
        """Those where `chosen` is true."""
        return PicturePairs(
            self.left[chosen], self.right[chosen], self.distances[chosen], self.likeness[chosen]
        )


def picture_pairs(
    squares: Looks,
    radius: int = RADIUS,
    least: float = LEAST,
    *,
    parts: Windows = PARTS,
    progress: Callable[[int, int], object] | None = None,
) -> PicturePairs:
    """All pairs of pictures that are alike: within `radius` bits, and at least so well correlated.

    `parts` of every picture, in all eight orientations, are searched among the whole ones. `progress` is called with
    (searches done, searches).
    """
    if not is_whole(radius) or not 0 <= radius < BITS // 2:
        raise InputError(
            f"a radius of perceptual hashes is a whole number from 0 to {BITS // 2 - 1}, got {radius!r}"
        )
    if not -1 <= least <= 1:
        raise InputError(f"the least likeness is a correlation from -1 to 1, got {least!r}")
    left, right, distances = candidates(squares, radius, parts, progress)
    found = PicturePairs(left, right, distances, likeness(squares, left, right))
    return found.take(found.likeness >= least)


def candidates(
    squares: Looks,
    radius: int,
    parts: Windows = PARTS,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Pairs whose codes differ in at most `radius` bits in some part and orientation, and in how many at best."""
    n = len(squares)
    queries = oriented_codes(squares, parts) if n else []
    keys, bits = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for done, codes in enumerate(queries, 1):
        hits = scan.within(codes, queries[0], radius)
        rows = np.repeat(np.arange(n), np.diff(hits.offsets))
        other = rows != hits.positions
        pairs = np.minimum(rows, hits.positions) * n + np.maximum(rows, hits.positions)
        keys.append(pairs[other])
        bits.append(hits.distances[other])
        if progress is not None:
            progress(done, len(queries))
    key, far = np.concatenate(keys), np.concatenate(bits)
    order = np.lexsort((far, key))
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    best = order[first]
    return key[best] // max(n, 1), key[best] % max(n, 1), far[best]
