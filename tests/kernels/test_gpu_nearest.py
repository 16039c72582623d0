"""Segments of rows and room for lists; the search itself is tested as a whole in tests/index/test_gpu.py."""

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


def asked_of_a_list(rng: np.random.Generator, rows: int, k: int, growth: int) -> int:
    """Keys that one list is asked to take, for rows in random order without ties: the worst that random rows do.

    Only the nearest rows matter, and those of n rows lie like n points at random in [0, 1].
    """
    (_, first), *later = gpu_nearest.segments(rows, k, growth)
    best, count = np.sort(rng.random(first))[:k], first
    for lo, hi in later:
        nearer = rng.random(rng.binomial(hi - lo, best[-1])) * best[-1]
        best, count = np.sort(np.append(best, nearer))[:k], count + len(nearer)
    return count


@pytest.mark.parametrize("rows", [3000, 10**5, 10**8, 10**9])
@pytest.mark.parametrize("growth", [8, 32])
@pytest.mark.parametrize("k", [1, 2, 10, 100, 1000])
def test_lists_of_rows_in_random_order_do_not_run_over(
    rng: np.random.Generator, rows: int, k: int, growth: int
) -> None:
    room = gpu_nearest.room_for(rows, k, growth)
    asked = [asked_of_a_list(rng, rows, k, growth) for _ in range(200)]
    assert max(asked) <= room
    assert room <= max(2 * np.mean(asked), 2048)  # and are not much longer than they must be


@pytest.mark.parametrize("growth", [8, 32])
def test_a_list_has_room_for_all_rows_or_for_the_careful_search(growth: int) -> None:
    for rows in (1, 1023, 1025, 1100, 2047, 5000, 10**5, 10**9):
        for k in {1, 2, 500, 512, 513, 1000, 40_000, rows // 2, rows}:
            if 1 <= k <= rows:
                room = gpu_nearest.room_for(rows, k, growth)
                assert room == rows or k + 1024 <= room < rows
