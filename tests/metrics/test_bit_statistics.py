"""Bit statistics against counting with NumPy and collections, and values known in closed form."""

from __future__ import annotations

import itertools
from collections import Counter
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.metrics.bit_statistics import (
    bit_balance,
    bit_correlation,
    bit_shares,
    bit_statistics,
    bucket_entropy,
    bucket_sizes,
    mean_nn_hamming,
    multi_index_candidates,
)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    bits=st.sampled_from([1, 3, 64, 70]),
    p=st.floats(0.02, 0.98),
)
def test_buckets_shares_and_balance(seed: int, n: int, bits: int, p: float) -> None:
    B = np.random.default_rng(seed).random((n, bits)) < p
    codes = Codes.from_bits(B)
    sizes = Counter(row.tobytes() for row in B)
    assert sorted(bucket_sizes(codes)) == sorted(sizes.values())
    assert bucket_entropy(codes) == pytest.approx(entropy(list(sizes.values()), base=2), abs=1e-12)
    np.testing.assert_allclose(bit_shares(codes), B.mean(axis=0))
    assert bit_balance(codes) == pytest.approx(1 - np.abs(2 * B.mean(axis=0) - 1).mean())
    statistics = bit_statistics(codes)
    assert (statistics.n, statistics.bits) == (n, bits)
    assert (statistics.unique_codes, statistics.largest_bucket) == (len(sizes), max(sizes.values()))
    constant = int((B.all(axis=0) | ~B.any(axis=0)).sum())
    assert statistics.constant_bits == constant
    assert statistics.mean_nn_hamming_512 is None
    assert (statistics.bit_correlation is None) == (bits - constant < 2)


def test_correlations_agree_with_numpy(rng: np.random.Generator) -> None:
    B = rng.random((300, 20)) < rng.random(20)
    B[:, 4] = B[:, 2]
    B[:, 7] = ~B[:, 2]
    r = bit_correlation(Codes.from_bits(B))
    np.testing.assert_allclose(r, np.corrcoef(B.T), atol=1e-9)
    mean = bit_statistics(Codes.from_bits(B)).bit_correlation
    assert mean == pytest.approx(np.abs(np.corrcoef(B.T))[np.triu_indices(20, 1)].mean())


def test_constant_bits_have_no_correlation() -> None:
    r = bit_correlation(Codes.from_bits([[0, 0, 1], [0, 1, 0]]))
    np.testing.assert_array_equal(
        np.isnan(r), [[True, True, True], [True, False, False], [True, False, False]]
    )
    assert r[1, 2] == -1


def test_nearest_of_a_batch_by_loops(rng: np.random.Generator) -> None:
    B = rng.random((50, 67)) < 0.5
    codes = Codes.from_bits(B)
    nearest = []
    for start in (0, 16, 32):  # two codes fill no batch
        block = B[start : start + 16]
        for i in range(16):
            nearest.append(min((block[i] != block[j]).sum() for j in range(16) if j != i))
    assert mean_nn_hamming(codes, 16, seed=None) == np.mean(nearest)
    assert mean_nn_hamming(codes, 50) == mean_nn_hamming(codes, 50, seed=None)


def test_uniform_codes_in_batches_of_512(rng: np.random.Generator) -> None:
    """The mean of the least of 511 independent binomial distances."""
    below = np.cumsum([comb(64, d) / 2**64 for d in range(65)])
    exact = float((np.clip(1 - below, 0, 1) ** 511).sum())
    assert exact == pytest.approx(19.967, abs=5e-4)
    codes = Codes.from_bits(rng.random((512 * 40, 64)) < 0.5)
    assert mean_nn_hamming(codes) == pytest.approx(exact, abs=0.04)
    assert bit_statistics(codes).mean_nn_hamming_512 == mean_nn_hamming(codes)


def test_the_shuffle_hides_the_order_of_classes(rng: np.random.Generator) -> None:
    sorted_by_class = Codes.from_bits((rng.random((8, 32)) < 0.5)[np.repeat(np.arange(8), 64)])
    assert mean_nn_hamming(sorted_by_class, 8, seed=None) == 0
    assert mean_nn_hamming(sorted_by_class, 8, seed=0) > 1


def test_multi_index_candidates_by_pairs(rng: np.random.Generator) -> None:
    B = rng.random((60, 40)) < 0.2
    for chunk in (8, 16, 32, 64):
        read = 0
        for start in range(0, 40, chunk):
            part = B[:, start : start + chunk]
            read += sum(int((a == b).all()) for a, b in itertools.permutations(part, 2))
        assert multi_index_candidates(Codes.from_bits(B), chunk) == pytest.approx(read / 60)


def test_one_code_and_many_of_one() -> None:
    one = bit_statistics(Codes.from_bits([[1, 0]]))
    assert (one.bucket_entropy, one.unique_codes, one.bit_balance, one.bit_correlation) == (0, 1, 0, None)
    same = bit_statistics(Codes.from_bits(np.ones((600, 9))))
    assert (same.mean_nn_hamming_512, same.largest_bucket, same.constant_bits) == (0, 600, 9)
    assert same.multi_index_candidates == 599


def test_bad_input(rng: np.random.Generator) -> None:
    codes = Codes.from_bits(rng.random((9, 8)) < 0.5)
    empty: Any = codes[:0]
    for call, says in (
        (lambda: bit_statistics(empty), "empty"),
        (lambda: bucket_sizes(empty), "empty"),
        (lambda: bit_balance(empty), "empty"),
        (lambda: bit_correlation(empty), "empty"),
        (lambda: multi_index_candidates(empty), "empty"),
        (lambda: multi_index_candidates(codes, 7), "8, 16, 32 or 64"),
        (lambda: mean_nn_hamming(codes), "9 codes do not fill one batch of 512"),
        (lambda: mean_nn_hamming(codes, 1), "at least 2"),
        (lambda: mean_nn_hamming(codes, 4, seed=-1), "a seed is a whole number"),
        (lambda: mean_nn_hamming(codes.to_signs(), 4), "need Codes, got ndarray"),  # type: ignore[arg-type]
        (lambda: mean_nn_hamming(codes, 2.5), "whole number"),
        (lambda: bit_statistics(codes.to_bits()), "got ndarray; see Codes.from_logits"),
    ):
        with pytest.raises(InputError, match=says):
            call()  # type: ignore[no-untyped-call]
