"""The plan of multi-index hashing: every bit in one key, correlated bits apart, shares that counting confirms."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kinhash import Codes
from kinhash.index.multi_index_plan import (
    _compared,
    _met_shares,
    fewest_tables,
    longest_key,
    make_plan,
    signature_bits,
    spread,
)
from kinhash.index.multi_index_prices import scan_price


@pytest.mark.parametrize(("bits", "tables"), [(16, 1), (64, 3), (65, 7), (512, 20)])
def test_every_bit_goes_to_one_table(bits: int, tables: int) -> None:
    keys = spread(np.zeros((bits, bits)), tables)
    assert sorted(np.concatenate(keys)) == list(range(bits))
    sizes = [len(key) for key in keys]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)  # the first table is probed deepest


def test_copies_of_a_bit_go_to_different_tables() -> None:
    same = np.arange(24) // 3
    unlike = (same[:, None] == same).astype(float) - np.eye(24)
    for key in spread(unlike, 3):
        assert len(set(same[key])) == 8


def test_signatures_take_no_bit_of_their_key() -> None:
    keys = spread(np.zeros((40, 40)), 2)
    taken = signature_bits(64, keys, 1)
    assert len(taken) == len(set(taken)) == 32
    assert not set(taken) & set(keys[1])
    assert set(keys[0]) < set(taken)
    assert len(signature_bits(16, [np.arange(16)], 0)) == 0


@pytest.mark.parametrize("lengths", [(3, 3, 2), (4, 3), (8,)])
def test_shares_met_before_each_round(lengths: tuple[int, ...]) -> None:
    bits, m = 8, len(lengths)
    ends = np.cumsum((0, *lengths))
    met = _met_shares(bits, lengths)
    for d in range(bits + 1):
        differ = [set(chosen) for chosen in combinations(range(bits), d)]
        for t in range(bits + 2):
            hit = 0
            for chosen in differ:
                inside = [len(chosen & set(range(ends[j], ends[j + 1]))) for j in range(m)]
                hit += any(s * m + j < t for j, s in enumerate(inside))
            assert met[t, d] == pytest.approx(max(hit / len(differ), 1e-9))


def test_constant_bits_are_left_out(rng: np.random.Generator) -> None:
    bits = rng.integers(0, 2, (5000, 64)).astype(bool) & (np.arange(64) < 40)
    plan = make_plan(Codes.from_bits(bits), None, lean=False, threads=1)
    assert sorted(np.concatenate(plan.keys)) == list(range(40))


def test_keys_grow_with_the_database() -> None:
    assert [longest_key(n) for n in (1, 1000, 10**6, 5 * 10**7, 10**10)] == [6, 8, 18, 24, 26]
    assert fewest_tables(64, 5 * 10**7) == 3
    assert fewest_tables(64, 10**6) == 4
    assert scan_price(10**7, 1, 1) > 5 * scan_price(10**7, 1, 1000)


def test_expected_entries_are_those_of_uniform_codes(rng: np.random.Generator) -> None:
    codes = Codes(rng.integers(0, 2**64, (40_000, 1), dtype=np.uint64), 64)
    plan = make_plan(codes, 4, lean=False, threads=1)
    from math import comb

    for t in range(8, 40):
        exact = 40_000 * comb(16, t // 4) / 2**16
        assert plan.entries[t] == pytest.approx(exact, rel=0.1)


def test_signatures_reject_what_is_far() -> None:
    """Independent bits: a share of the binomial distribution; bits in step: the near ones pass."""
    rng = np.random.default_rng(3)
    useful = np.arange(64)
    radii = np.full(64, 11, dtype=np.int32)
    bits = rng.integers(0, 2, (8192, 64)).astype(bool)
    assert _compared(bits, bits[::128], useful, radii) == pytest.approx(0.055, abs=0.03)
    assert _compared(bits, bits[::128], useful, np.full(64, 32, dtype=np.int32)) == 1
    copies = bits[:, :8].repeat(8, axis=1)
    assert _compared(copies, copies[::128], useful, radii) > 0.9
    assert 0 <= _compared(bits[:, :20], bits[::128, :20], useful[:20], radii) <= 1
