"""Vector instructions against NumPy, one by one, on addresses that are not aligned."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from kinhash.kernels.vector import bytes_set, columns_of_eight
from kinhash.kernels.vector_near import near_any, near_mask


@njit
def _bytes_set(address: int) -> int:
    return bytes_set(address)  # type: ignore[no-any-return]


@njit
def _columns(codes: int, width: int, out: int) -> None:
    if width == 2:
        columns_of_eight(codes, 2, out, 64)
    elif width == 4:
        columns_of_eight(codes, 4, out, 64)
    else:
        columns_of_eight(codes, 8, out, 64)


@njit
def _near(codes: int, width: int, query: int, limit: int) -> tuple[int, int]:
    """Of 64 codes: in rows of one to eight words, and in columns of any number."""
    thresholds = np.full(1, limit)
    at = np.int64(thresholds.ctypes.data)
    if width == 1:
        return near_any(codes, 0, 1, query, at, 8, 1), near_mask(codes, 512, 1, query, limit)
    if width == 2:
        return near_any(codes, 0, 2, query, at, 8, 1), near_mask(codes, 0, 2, query, limit)
    if width == 8:
        return near_any(codes, 0, 8, query, at, 8, 1), near_mask(codes, 0, 8, query, limit)
    return near_any(codes, 512, width, query, at, 8, 1), near_mask(codes, 512, width, query, limit)


@pytest.mark.parametrize("offset", [0, 1, 13])
def test_bytes_set(offset: int, rng: np.random.Generator) -> None:
    data = (rng.random(100) < 0.4).astype(np.uint8) * rng.integers(1, 256, 100).astype(np.uint8)
    expected = sum(1 << i for i in range(64) if data[offset + i])
    assert _bytes_set(data.ctypes.data + offset) & (1 << 64) - 1 == expected


@pytest.mark.parametrize("width", [2, 4, 8])
def test_columns(width: int, rng: np.random.Generator) -> None:
    codes = rng.integers(0, 1 << 64, (8, width), dtype=np.uint64)
    out = np.empty((width, 8), np.uint64)
    _columns(codes.ctypes.data, width, out.ctypes.data)
    np.testing.assert_array_equal(out, codes.T)


@pytest.mark.parametrize("width", [1, 2, 3, 8])
def test_near(width: int, rng: np.random.Generator) -> None:
    codes = rng.integers(0, 1 << 64, (64, width), dtype=np.uint64)
    query = rng.integers(0, 1 << 64, width, dtype=np.uint64)
    distances = np.bitwise_count(codes ^ query).sum(axis=1, dtype=np.int64)
    laid = np.ascontiguousarray(codes if width != 3 else codes.T)
    for limit in (0, int(distances.min()), int(distances.min()) + 1, int(np.median(distances)), 65 * width):
        some, mask = _near(laid.ctypes.data, width, query.ctypes.data, limit)
        near = np.flatnonzero(distances < limit)
        assert some == (len(near) > 0)
        assert mask & (1 << 64) - 1 == sum(1 << int(i) for i in near)
