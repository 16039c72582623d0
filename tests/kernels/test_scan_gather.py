"""Rows that pass and their codes against NumPy, at every offset of a mask."""

from __future__ import annotations

import numpy as np
import pytest

from kinhash.kernels.scan_gather import gather, passing_rows


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
@pytest.mark.parametrize("offset", [0, 1, 7])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_passing_rows(count: int, offset: int, share: float, rng: np.random.Generator) -> None:
    mask = rng.random(offset + count + 9) < share
    out = np.full(count + 2, -1)
    found = passing_rows(mask.ctypes.data + offset, count, 1000, out)
    np.testing.assert_array_equal(out[:found], np.flatnonzero(mask[offset : offset + count]) + 1000)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_gather(width: int, rng: np.random.Generator) -> None:
    words = rng.integers(0, 1 << 64, (90, width), dtype=np.uint64)
    rows = np.array([100, 103, 189])
    out = np.empty((3, width), np.uint64)
    gather(words.ctypes.data, 100, rows, out.ctypes.data, width)
    np.testing.assert_array_equal(out, words[rows - 100])
