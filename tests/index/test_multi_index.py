"""Multi-index hashing gives what a stable sort by (distance, position) gives, whatever the codes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kinhash import Codes, MultiIndex
from kinhash.errors import InputError
from kinhash.index import scan
from kinhash.index.multi_index import candidates_per_query

KINDS = ["uniform", "clustered", "duplicated", "constant", "copied bits", "constant bits"]
Generator = np.random.Generator


def make(kind: str, n: int, bits: int, rng: Generator) -> Codes:
    few = rng.integers(0, 2, (max(1, n // 40), bits)).astype(bool)
    chosen = few[rng.integers(0, len(few), n)]
    if kind == "uniform":
        chosen = rng.integers(0, 2, (n, bits)).astype(bool)
    elif kind == "clustered":
        chosen = chosen ^ (rng.random((n, bits)) < 0.04)
    elif kind == "constant":
        chosen = np.repeat(few[:1], n, axis=0)
    elif kind == "copied bits":
        chosen = np.repeat(rng.integers(0, 2, (n, -(-bits // 4))).astype(bool), 4, axis=1)[:, :bits]
    elif kind == "constant bits":
        chosen = rng.integers(0, 2, (n, bits)).astype(bool) & (np.arange(bits) % 3 == 0)
    return Codes.from_bits(chosen)


def some_queries(codes: Codes, rng: Generator, m: int = 4) -> Codes:
    """Stored codes, stored codes with few bits flipped, and codes from nowhere."""
    stored = codes[rng.integers(0, len(codes), m)].to_bits()
    flipped = stored ^ (rng.random(stored.shape) < 0.03)
    return Codes.from_bits(np.concatenate([stored, flipped, rng.integers(0, 2, stored.shape).astype(bool)]))


def all_distances(queries: Codes, codes: Codes) -> NDArray[np.int64]:
    return (queries.to_bits()[:, None] != codes.to_bits()).sum(axis=2)


def assert_nearest(index: MultiIndex, queries: Codes, k: int, *, bounded: bool = False) -> None:
    distances = all_distances(queries, index.codes)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    hits, _ = index.search_counted(queries, k, bounded=bounded)
    np.testing.assert_array_equal(hits.positions, order)
    np.testing.assert_array_equal(hits.distances, np.take_along_axis(distances, order, axis=1))
    assert hits.positions.dtype == np.int64
    assert hits.distances.dtype == np.int32


def assert_within(index: MultiIndex, queries: Codes, radius: int, *, bounded: bool = False) -> None:
    hits, _ = index.within_counted(queries, radius, bounded=bounded)
    assert hits.offsets[0] == 0
    assert hits.offsets[-1] == len(hits.positions)
    for (positions, found), row in zip(hits, all_distances(queries, index.codes), strict=True):
        order = np.argsort(row, kind="stable")[: np.count_nonzero(row <= radius)]
        np.testing.assert_array_equal(positions, order)
        np.testing.assert_array_equal(found, row[order])


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("bits", [16, 37, 64, 100, 512])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_a_stable_sort(kind: str, bits: int, lean: bool, rng: Generator) -> None:
    codes = make(kind, 1500, bits, rng)
    queries = some_queries(codes, rng)
    index = MultiIndex(codes, lean=lean)
    for k in (1, 10, 300):
        assert_nearest(index, queries, k)
    for radius in (0, 3, bits // 8):
        assert_within(index, queries, radius)


@pytest.mark.parametrize("tables", [1, 2, 3, 5, 16])
def test_any_number_of_tables(tables: int, rng: Generator) -> None:
    codes = make("clustered", 800, 16, rng)
    index = MultiIndex(codes, tables=tables)
    assert index.tables == tables
    assert_nearest(index, some_queries(codes, rng), 7)
    assert_within(index, some_queries(codes, rng), 2)


@pytest.mark.parametrize("n", [1, 2, 3, 17])
def test_tiny_sets(n: int, rng: Generator) -> None:
    codes = make("uniform", n, 64, rng)
    index = MultiIndex(codes)
    for bounded in (False, True):
        for k in range(1, n + 1):
            assert_nearest(index, some_queries(codes, rng), k, bounded=bounded)
        assert_within(index, some_queries(codes, rng), 64, bounded=bounded)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_any_codes_at_all(data: st.DataObject, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, bits = data.draw(st.integers(1, 400)), data.draw(st.integers(1, 140))
    codes = make(data.draw(st.sampled_from(KINDS)), n, bits, rng)
    index = MultiIndex(codes, lean=data.draw(st.booleans()))
    bounded = data.draw(st.booleans())
    queries = some_queries(codes, rng, 2)
    assert_nearest(index, queries, data.draw(st.integers(1, n)), bounded=bounded)
    assert_within(index, queries, data.draw(st.integers(0, min(bits, 12))), bounded=bounded)


@pytest.mark.parametrize("kind", ["uniform", "clustered", "duplicated"])
def test_many_queries_equal_the_scan(kind: str, rng: Generator) -> None:
    codes = make(kind, 60_000, 64, rng)
    queries = some_queries(codes, rng, 700)
    index = MultiIndex(codes)
    for bounded in (False, True):
        hits, costs = index.search_counted(queries, 10, bounded=bounded)
        expected = scan.k_nearest(queries, codes, 10)
        np.testing.assert_array_equal(hits.positions, expected.positions)
        np.testing.assert_array_equal(hits.distances, expected.distances)
        assert bounded or not costs.fell_back.any()
        inside = index.within_counted(queries, 5, bounded=bounded)[0]
        every = scan.within(queries, codes, 5)
        np.testing.assert_array_equal(inside.offsets, every.offsets)
        np.testing.assert_array_equal(inside.positions, every.positions)
        np.testing.assert_array_equal(inside.distances, every.distances)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_very_many_random_cases(rng: Generator) -> None:
    """Over a million queries of 2,000 sets."""
    for case in range(2000):
        bits, n = int(rng.integers(16, 257)), int(rng.integers(1, 3000))
        codes = make(KINDS[case % len(KINDS)], n, bits, rng)
        index = MultiIndex(codes, lean=bool(case % 2))
        queries = some_queries(codes, rng, 200)
        k = int(rng.integers(1, min(n, 100) + 1))
        hits, _ = index.search_counted(queries, k, bounded=bool(case % 3 == 0))
        expected = scan.k_nearest(queries, codes, k)
        np.testing.assert_array_equal(hits.positions, expected.positions)
        np.testing.assert_array_equal(hits.distances, expected.distances)


def test_threads_do_not_change_the_answer(rng: Generator) -> None:
    codes = make("clustered", 5000, 64, rng)
    queries = some_queries(codes, rng, 60)
    one, four = MultiIndex(codes, threads=1), MultiIndex(codes, threads=4)
    a, b = one.search(queries, 9, threads=1), four.search(queries, 9, threads=4)
    np.testing.assert_array_equal(a.positions, b.positions)
    a, b = one.within(queries, 4, threads=1), four.within(queries, 4, threads=4)
    np.testing.assert_array_equal(a.positions, b.positions)


def test_a_radius_search_makes_room_for_everything(rng: Generator) -> None:
    codes = make("constant", 50_000, 64, rng)
    hits, costs = MultiIndex(codes).within_counted(codes[:3], 1, bounded=False)
    assert hits.positions.tolist() == list(range(50_000)) * 3
    assert not costs.fell_back.any()


def test_counts_are_what_was_read(rng: Generator) -> None:
    """Two tables of 8 bits, radius 1: the query's buckets in both tables, no more."""
    codes = make("uniform", 3000, 16, rng)
    index = MultiIndex(codes, tables=2)
    query = codes[5]
    _, costs = index.within_counted(query, 1, bounded=False)
    assert costs.probes.tolist() == [2]
    assert costs.rounds.tolist() == [2]
    differ = codes.to_bits() ^ query.to_bits()
    sizes = [np.count_nonzero(~differ[:, key].any(axis=1)) for key in index._plan.keys]
    assert costs.candidates.tolist() == [sum(sizes)]
    assert costs.compared[0] <= costs.candidates[0]


def test_near_neighbours_read_a_small_part(rng: Generator) -> None:
    codes = Codes(rng.integers(0, 2**64, (1_200_000, 1), dtype=np.uint64), 64)
    hits, costs = MultiIndex(codes).search_counted(codes[:100], 1)
    assert hits.positions[:, 0].tolist() == list(range(100))
    assert not costs.fell_back.any()
    assert costs.candidates.max() < 600


def test_small_batches_go_to_the_scan_at_once(rng: Generator) -> None:
    codes = make("uniform", 500, 64, rng)
    _, costs = MultiIndex(codes).search_counted(codes[:2], 1)
    assert costs.fell_back.all()
    assert not costs.probes.any()


def test_hopeless_queries_go_to_the_scan(rng: Generator) -> None:
    codes = make("uniform", 60_000, 256, rng)
    hits, costs = MultiIndex(codes).search_counted(make("uniform", 40, 256, rng), 10)
    assert costs.fell_back.all()
    assert costs.candidates.max() < 30_000
    assert len(hits) == 40


def test_collapsed_codes_read_more_candidates(rng: Generator) -> None:
    """The figure that tells evenly used bits from wasted ones."""
    even, collapsed = (make(kind, 20_000, 64, rng) for kind in ("uniform", "duplicated"))
    some = candidates_per_query(even, even[:50], 1)
    many = candidates_per_query(collapsed, collapsed[:50], 1)
    assert not many.fell_back.any()
    assert many.candidates.mean() > 10 * some.candidates.mean()


def test_different_codes_among_the_candidates(rng: Generator) -> None:
    codes = make("clustered", 3000, 32, rng)
    queries = some_queries(codes, rng, 3)
    found = candidates_per_query(codes, queries, 10, tables=4)
    keys = MultiIndex(codes, tables=4)._plan.keys
    for i, differ in enumerate(queries.to_bits()[:, None] ^ codes.to_bits()):
        met = np.zeros(len(codes), dtype=bool)
        entries = 0
        for t in range(found.rounds[i]):
            inside = differ[:, keys[t % 4]].sum(axis=1) == t // 4
            entries += np.count_nonzero(inside)
            met |= inside
        assert found.compared[i] == np.count_nonzero(met)
        assert found.candidates[i] == entries


def test_no_queries(rng: Generator) -> None:
    codes = make("uniform", 100, 64, rng)
    index = MultiIndex(codes)
    assert index.search(codes[:0], 3).positions.shape == (0, 3)
    assert len(index.within(codes[:0], 3)) == 0


def test_memory_of_long_keys(rng: Generator) -> None:
    """8 bytes per code and table, 4 without signatures; besides the codes and the bounds of buckets."""
    codes = Codes(rng.integers(0, 2**64, (1 << 20, 1), dtype=np.uint64), 64)
    assert MultiIndex(codes, tables=4).nbytes <= 42 * len(codes)
    assert MultiIndex(codes, tables=4, lean=True).nbytes <= 26 * len(codes)


def test_bad_input_says_what_is_wrong(rng: Generator) -> None:
    codes = make("uniform", 50, 64, rng)
    index = MultiIndex(codes)
    with pytest.raises(InputError, match="holds Codes, got ndarray"):
        MultiIndex(codes.words)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one code"):
        MultiIndex(codes[:0])
    with pytest.raises(InputError, match="at most 512 bits"):
        MultiIndex(make("uniform", 5, 513, rng))
    for tables in (0, True, 2.0, 2, 65):
        with pytest.raises(InputError, match="tables"):
            MultiIndex(codes, tables=tables)  # type: ignore[arg-type]
    for k in (0, -1, True, 51, 2.5):
        with pytest.raises(InputError, match="k "):
            index.search(codes[:2], k)  # type: ignore[arg-type]
    for radius in (-1, 65, None):
        with pytest.raises(InputError, match="radius"):
            index.within(codes[:2], radius)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="32 bits and the database 64"):
        index.search(make("uniform", 2, 32, rng), 1)
    with pytest.raises(InputError, match="queries are Codes"):
        index.search(codes.words, 1)  # type: ignore[arg-type]


def test_the_compiler_switched_off() -> None:
    program = """
import numpy as np
from kinhash import Codes, MultiIndex
rng = np.random.default_rng(0)
codes = Codes.from_bits(rng.integers(0, 2, (300, 20)))
index = MultiIndex(codes)
distances = (codes.to_bits()[:9, None] != codes.to_bits()).sum(axis=2)
hits, costs = index.search_counted(codes[:9], 7)
assert (hits.positions == np.argsort(distances, axis=1, kind="stable")[:, :7]).all()
assert costs.fell_back.all() and index.tables == 0 and index.nbytes == 2400
assert (np.diff(index.within(codes[:9], 4).offsets) == (distances <= 4).sum(axis=1)).all()
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_bucket_of_many_equal_codes_is_left_to_the_scan_while_it_is_read(rng: np.random.Generator) -> None:
    few = rng.integers(0, 2**63, (30, 2), dtype=np.uint64)
    codes = Codes(few[rng.integers(0, 30, 300_000)], 128)
    index = MultiIndex(codes)
    hits, costs = index.within_counted(codes[:64], 12)
    assert costs.fell_back.all()
    assert costs.compared.max() < 2_000  # of 10,000 in the bucket
    assert (hits.offsets == scan.within(codes[:64], codes, 12).offsets).all()


def test_a_large_part_of_the_codes_is_the_scans_business(rng: np.random.Generator) -> None:
    codes = Codes(rng.integers(0, 2**63, (300_000, 1), dtype=np.uint64), 64)
    index = MultiIndex(codes)
    hits, costs = index.search_counted(codes[:32], 3_000)
    assert costs.fell_back.all()
    assert costs.probes.sum() == 0
    assert (hits.positions == scan.k_nearest(codes[:32], codes, 3_000).positions).all()
