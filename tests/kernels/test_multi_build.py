"""Buckets of multi-index hashing: every code once per table, in the bucket of its key, numbers ascending."""

from __future__ import annotations

import numpy as np
import pytest

from kinhash import Codes
from kinhash.kernels.multi_build import byte_lookup, count_keys, fill_buckets


@pytest.mark.parametrize("bits", [16, 64, 150])
@pytest.mark.parametrize("n", [1, 127, 128, 129, 3000])
def test_buckets(n: int, bits: int, rng: np.random.Generator) -> None:
    codes = Codes.from_bits(rng.integers(0, 2, (n, bits)))
    order = rng.permutation(bits)
    key, signature = order[:9], order[9:41]
    lookup = byte_lookup(bits, key, signature)
    ends = np.zeros((1 << 9) + 2, dtype=np.uint32)
    ids, signatures = np.full(n, 7, dtype=np.uint32), np.zeros(n + 16, dtype=np.uint32)
    count_keys(codes.words.ctypes.data, n, lookup, ends)
    fill_buckets(codes.words.ctypes.data, n, lookup, ends, ids, signatures)
    keys = codes.to_bits()[:, key] @ (1 << np.arange(9))
    np.testing.assert_array_equal(ids, np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(ends[:-1], np.searchsorted(np.sort(keys), np.arange((1 << 9) + 1)))
    own = codes.to_bits()[:, signature] @ (1 << np.arange(len(signature)))
    np.testing.assert_array_equal(signatures[:n], own[ids])


def test_without_signatures(rng: np.random.Generator) -> None:
    codes = Codes.from_bits(rng.integers(0, 2, (500, 16)))
    lookup = byte_lookup(16, np.arange(8), np.empty(0, dtype=np.int64))
    ends, ids = np.zeros(258, dtype=np.uint32), np.zeros(500, dtype=np.uint32)
    count_keys(codes.words.ctypes.data, 500, lookup, ends)
    fill_buckets(codes.words.ctypes.data, 500, lookup, ends, ids, np.empty(0, dtype=np.uint32))
    np.testing.assert_array_equal(ids, np.argsort(codes.words[:, 0] & np.uint64(255), kind="stable"))
