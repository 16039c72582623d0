"""Distances of real vectors, tile by tile.

The terms are added in the order of the dimensions, in double precision, for every item alike, so equal vectors
have equal distances bit for bit. A matrix product does not promise that, and ties would be lost in its noise.
The inner loops run over slices: an index with an offset keeps LLVM from using vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_SEGMENT = 1024  # items whose partial sums stay in the first-level cache
Vectors = NDArray[Any]  # float32 or float64


@njit(cache=True, nogil=True)
def l1_tile(queries: Vectors, columns: Vectors, out: NDArray[np.float64]) -> None:
    """Manhattan distances of queries (m, d) to items given as columns (d, n)."""
    out[:] = 0.0
    for left in range(0, out.shape[1], _SEGMENT):
        right = min(left + _SEGMENT, out.shape[1])
        for q in range(queries.shape[0]):
            row = out[q, left:right]
            for j in range(queries.shape[1]):
                value, column = np.float64(queries[q, j]), columns[j, left:right]
                for i in range(row.shape[0]):
                    row[i] += abs(value - np.float64(column[i]))


@njit(cache=True, nogil=True)
def squared_l2_tile(queries: Vectors, columns: Vectors, out: NDArray[np.float64]) -> None:
    """Squared Euclidean distances; no square root, which could round different distances to one."""
    out[:] = 0.0
    for left in range(0, out.shape[1], _SEGMENT):
        right = min(left + _SEGMENT, out.shape[1])
        for q in range(queries.shape[0]):
            row = out[q, left:right]
            for j in range(queries.shape[1]):
                value, column = np.float64(queries[q, j]), columns[j, left:right]
                for i in range(row.shape[0]):
                    difference = value - np.float64(column[i])
                    row[i] += difference * difference


@njit(cache=True, nogil=True)
def negative_dot_tile(queries: Vectors, columns: Vectors, out: NDArray[np.float64]) -> None:
    """Negative dot products: the largest product is nearest."""
    out[:] = 0.0
    for left in range(0, out.shape[1], _SEGMENT):
        right = min(left + _SEGMENT, out.shape[1])
        for q in range(queries.shape[0]):
            row = out[q, left:right]
            for j in range(queries.shape[1]):
                value, column = np.float64(queries[q, j]), columns[j, left:right]
                for i in range(row.shape[0]):
                    row[i] -= value * np.float64(column[i])
