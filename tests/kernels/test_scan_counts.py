"""Counts of distances against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from kinhash.kernels.scan_counts import count_distances


@pytest.mark.parametrize("width", [1, 2, 5])
def test_counts_every_distance(width: int, rng: np.random.Generator) -> None:
    words = rng.integers(0, 1 << 64, (90, width), dtype=np.uint64)
    counts = np.zeros((4, 64 * width + 1), np.int64)
    count_distances(words[3], words.ctypes.data, 90, counts)
    distances = np.bitwise_count(words ^ words[3]).sum(axis=1, dtype=np.int64)
    np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(distances, minlength=64 * width + 1))
