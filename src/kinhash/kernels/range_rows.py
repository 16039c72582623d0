"""Rows whose number lies in a range: comparison and extraction in one pass over a column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.scan_gather import passing_rows

_PART = 4096  # a mask of so many rows stays in the first cache


@njit(cache=True, nogil=True)
def range_rows(values: NDArray[Any], limits: NDArray[Any], base: int, out: NDArray[np.int64]) -> int:
    """Numbers (from `base` on) of the rows with limits[0] <= value <= limits[1]; returns how many.

    `values` and `limits` are of one integer type (an array, since Numba takes ten times as long to recognise a NumPy
    scalar); `out` has room for all rows and two more.
    """
    low, high = limits[0], limits[1]
    mask = np.empty(_PART, dtype=np.uint8)
    address = mask.ctypes.data
    found = 0
    for start in range(0, len(values), _PART):
        part = values[start : start + _PART]
        for i in range(len(part)):
            mask[i] = (part[i] >= low) & (part[i] <= high)
        found += passing_rows(address, len(part), base + start, out[found:])
    return found
