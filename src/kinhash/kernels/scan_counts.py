"""Counts of distances: how many codes lie at each from a query."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.bits import popcount64
from kinhash.kernels.vector import word_at


@njit(cache=True, nogil=True)
def count_distances(query: NDArray[np.uint64], address: int, count: int, out: NDArray[np.int64]) -> None:
    """Add the distances of a query to `count` codes into `out` (4, bits + 1): four rows, so that equal
    neighbours do not wait for each other's counter."""
    width = query.shape[0]
    for i in range(count):
        total = 0
        for w in range(width):
            total += popcount64(query[w] ^ word_at(address + 8 * (width * i + w)))
        out[i & 3, total] += 1
