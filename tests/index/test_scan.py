"""The scan equals a stable NumPy sort by (distance, position), ties and filters included."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from index.scan_cases import Coins, checked_counts_and_pairs, checked_search, distances, source

from kinhash import Codes
from kinhash.errors import InputError
from kinhash.index.scan import distance_histogram, k_nearest, pair_blocks, pairs_within, within


def uniform(n: int, bits: int, seed: int = 0) -> Codes:
    return Codes.from_bits(np.random.default_rng(seed).random((n, bits)) < 0.5)


def test_ties_come_in_position_order() -> None:
    database = Codes.from_bits([[1, 0], [0, 1], [0, 0], [1, 1]])
    hits = k_nearest(database[2], database, 4)
    assert hits.positions.tolist() == [[2, 0, 1, 3]]
    assert hits.distances.tolist() == [[0, 1, 1, 2]]


@pytest.mark.parametrize("seed", range(4))
def test_random_searches(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    Coins(rng, monkeypatch)
    for _ in range(40):
        case = source(rng)
        for _ in range(20):
            checked_search(rng, case)
        checked_counts_and_pairs(rng, case)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_million_random_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2026)
    Coins(rng, monkeypatch)
    for _ in range(10_000):
        case = source(rng, largest=1200)
        for _ in range(100):
            checked_search(rng, case)


@pytest.mark.parametrize("bits", [32, 64, 128, 256])
@pytest.mark.parametrize("batch", [1, 5, 30, 600])
def test_choices_by_cost(bits: int, batch: int) -> None:
    """What the driver chooses itself, with more queries than a tile holds and more codes than a piece."""
    database, queries = uniform(20_000, bits), uniform(batch, bits, 1)
    hits = k_nearest(queries, database, 50, threads=2)
    some = slice(0, batch, max(1, batch // 10))
    near = distances(queries[some], database)
    order = np.argsort(near, axis=1, kind="stable")[:, :50]
    np.testing.assert_array_equal(hits.positions[some], order)


def test_filters_in_place_and_copied() -> None:
    """Few that pass are copied, many are masked; a stretch before which nothing passes is skipped."""
    database, queries = uniform(200_000, 64), uniform(2, 64, 1)
    near = distances(queries, database)
    rng = np.random.default_rng(3)
    stretch = np.zeros(200_000, dtype=bool)
    stretch[100_003:150_001] = True
    for mask in (rng.random(200_000) < 0.01, rng.random(200_000) < 0.6, stretch):
        passing = np.flatnonzero(mask)
        order = passing[np.argsort(near[:, passing], axis=1, kind="stable")[:, :20]]
        for allowed in (mask, passing):
            np.testing.assert_array_equal(k_nearest(queries, database, 20, allowed=allowed).positions, order)
            assert within(queries, database, 64, allowed=allowed).positions.size == 2 * len(passing)


def test_a_filter_also_holds_for_pairs_and_counts() -> None:
    codes = Codes.from_bits([[0, 0], [1, 1], [0, 0], [0, 1], [0, 0]])
    allowed = np.array([True, True, False, True, True])
    pairs = pairs_within(codes, 1, allowed=allowed)
    found = list(zip(pairs.left, pairs.right, pairs.distances, strict=True))
    assert found == [(0, 4, 0), (0, 3, 1), (1, 3, 1), (3, 4, 1)]
    assert distance_histogram(codes[0], codes, allowed=allowed).tolist() == [[2, 1, 1]]


def test_pairs_in_blocks_are_all_pairs() -> None:
    codes = uniform(1300, 24)
    blocks = [block for block in pair_blocks(codes, 4) if len(block)]
    assert len(blocks) == 3
    near = distances(codes, codes)
    left = np.concatenate([block.left for block in blocks])
    right = np.concatenate([block.right for block in blocks])
    assert set(zip(left, right, strict=True)) == set(zip(*np.nonzero(np.triu(near <= 4, 1)), strict=True))
    assert len(left) == np.triu(near <= 4, 1).sum()


def test_a_radius_that_takes_everything_needs_more_room_than_was_set_aside() -> None:
    codes = uniform(5000, 16)
    found = within(codes[:8], codes, 16)
    assert np.diff(found.offsets).tolist() == [5000] * 8


def test_no_queries() -> None:
    codes = uniform(10, 64)
    assert k_nearest(codes[:0], codes, 3).positions.shape == (0, 3)
    assert len(within(codes[:0], codes, 3)) == 0
    assert distance_histogram(codes[:0], codes).shape == (0, 65)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: k_nearest(c, c, 0), "k is a positive whole number, got 0"),
        (lambda c: k_nearest(c, c, 11), "k = 11, but only 10 codes are in the database"),
        (lambda c: k_nearest(c, c, 3, allowed=np.arange(2)), "only 2 codes pass the filter"),
        (lambda c: k_nearest(c, c[:0], 1), "the database is empty"),
        (lambda c: k_nearest(uniform(1, 32), c, 1), "32 bits and the database 64"),
        (lambda c: k_nearest(c, [(c.words, 0), (c.words, 9)], 1), "chunk at position 9 begins before 10"),
        (
            lambda c: k_nearest(c, [(c.words[:, :0], 0)], 1),
            r"a chunk is an \(n, 1\) array of uint64, got shape",
        ),
        (lambda c: k_nearest(uniform(1, 513), uniform(9, 513), 1), "at most 512 bits"),
        (lambda c: within(uniform(1, 1024), uniform(9, 1024), 1), "at most 512 bits"),
        (lambda c: pairs_within(uniform(9, 1024), 1), "at most 512 bits"),
        (lambda c: distance_histogram(uniform(1, 513), uniform(9, 513)), "at most 512 bits"),
        (lambda c: k_nearest(c.words, c, 1), "queries are Codes, got ndarray"),
        (lambda c: k_nearest(c.words, [(c.words, 0)], 1), "queries are Codes, got ndarray"),
        (lambda c: k_nearest(c, c, 1, allowed=np.ones(9, dtype=bool)), "9 entries for 10 positions"),
        (lambda c: k_nearest(c, c, 1, allowed=np.array([3, 3])), "ascend without repeats inside 0..9"),
        (lambda c: k_nearest(c, c, 1, allowed=np.ones(3)), "a boolean mask or a row of positions"),
        (lambda c: within(c, c, 65), "from 0 to 64"),
        (lambda c: within(c, c, True), "from 0 to 64"),
        (lambda c: pairs_within(c, -1), "from 0 to 64"),
    ],
)
def test_bad_input(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(uniform(10, 64))  # type: ignore[operator]


def test_without_the_compiler_the_answers_are_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(Path(__file__).with_name("scan_digest.py"))],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    from index.scan_digest import digest

    assert done.stdout.strip() == digest()


@pytest.mark.slow
@pytest.mark.parametrize("cpu", ["generic", "haswell", "skylake-avx512"])
def test_older_processors(cpu: str, tmp_path: Path) -> None:
    """Compiled for a processor without AVX-512, or without counting bits in it: other instructions, same answers."""
    features = {"generic": "+sse2,+popcnt", "haswell": "+avx2,+popcnt", "skylake-avx512": "+avx512f,+popcnt"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("scan_digest.py"))],
        env={
            **os.environ,
            "NUMBA_CPU_NAME": cpu,
            "NUMBA_CPU_FEATURES": features[cpu],
            "NUMBA_CACHE_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    from index.scan_digest import digest

    assert done.stdout.strip() == digest()


def test_threads_at_the_same_time() -> None:
    """Searches from several threads, as a server runs them, do not disturb each other."""
    from concurrent.futures import ThreadPoolExecutor

    database, queries = uniform(30_000, 64), uniform(40, 64, 1)
    expected = k_nearest(queries, database, 10).positions
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda i: k_nearest(queries[i], database, 10, threads=2), list(range(40)) * 2)
        for hits, row in zip(found, itertools.cycle(expected), strict=False):
            np.testing.assert_array_equal(hits.positions[0], row)
