"""Segments of rows; the search itself is tested as a whole in tests/index/test_gpu.py."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kinhash.kernels import gpu_nearest


@pytest.mark.parametrize("growth", [2, 8, 32])
def test_segments_cover_every_row_once_and_grow(rng: np.random.Generator, growth: int) -> None:
    cases = [(1, 1), (1024, 1), (1025, 1), (2047, 900), (10**9, 100), (10**9, 10**6)]
    cases += [(int(n), int(rng.integers(1, n + 1))) for n in rng.integers(1, 10**7, 100)]
    for rows, k in cases:
        parts = gpu_nearest.segments(rows, k, growth)
        assert parts[0][0] == 0
        assert parts[-1][1] == rows
        for (lo, hi), (after, _) in itertools.pairwise(parts):
            assert lo < hi == after
            assert hi % 1024 == 0
            assert hi >= k
        for (_, hi), (_, end) in itertools.pairwise(parts):
            assert end <= growth * hi
        assert parts[0][1] >= min(rows, 2 * k)
