"""The heap of the k best pairs keeps what a sort would."""

from __future__ import annotations

import numpy as np
import pytest

from kinhash.kernels.multi_best import SHIFT, count_best, replace_worst


@pytest.mark.parametrize("k", [1, 2, 3, 8, 100])
def test_keeps_the_smallest(k: int, rng: np.random.Generator) -> None:
    pairs = (rng.integers(0, 9, 2000) << SHIFT) + rng.permutation(2000)
    best = np.full(k, 65 << SHIFT, dtype=np.int64)
    for pair in pairs:
        if pair < best[0]:
            replace_worst(best.ctypes.data, k, int(pair))
    np.testing.assert_array_equal(np.sort(best), np.sort(pairs)[:k])
    assert best[0] == best.max()
    counts = np.zeros(66, dtype=np.int64)
    count_best(best, counts)
    np.testing.assert_array_equal(counts, np.bincount(np.sort(pairs)[:k] >> SHIFT, minlength=66))


def test_empty_places_are_counted_last() -> None:
    counts = np.zeros(5, dtype=np.int64)
    count_best(np.array([9 << SHIFT, 3 << SHIFT, 1 << SHIFT], dtype=np.int64), counts)
    assert counts.tolist() == [0, 1, 0, 1, 1]
