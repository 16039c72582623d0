"""Random searches and their answers by a stable NumPy sort: shared by the quick and the long comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kinhash import Codes
from kinhash.index import scan_driver, scan_runs, scan_threads
from kinhash.index.scan import distance_histogram, k_nearest, pairs_within, within

LENGTHS = [16, 17, 32, 48, 64, 65, 100, 128, 130, 192, 256, 300, 320, 384, 448, 500, 512]


def distances(a: Codes, b: Codes) -> NDArray[np.int64]:
    """(m, n) Hamming distances."""
    total = np.zeros((len(a), len(b)), dtype=np.int64)
    for w in range(a.words.shape[1]):
        total += np.bitwise_count(a.words[:, None, w] ^ b.words[None, :, w])
    return total


class Coins:
    """Decides by chance what the driver decides by cost, so that small cases walk every path."""

    def __init__(self, rng: np.random.Generator, patch: pytest.MonkeyPatch) -> None:
        self.rng = rng
        patch.setattr(scan_driver, "pays", lambda queries, bits: self.rng.random() < 0.5)
        patch.setattr(scan_runs, "_copying_pays", lambda *sizes: self.rng.random() < 0.3)
        patch.setattr(scan_threads, "_WORK", 1)
        patch.setattr(scan_threads, "_PIECES", 2)
        patch.setattr(scan_runs, "_SMALL", 40)


@dataclass
class Source:
    """Codes to draw cases from, and all their distances."""

    queries: Codes
    codes: Codes
    near: NDArray[np.int64]


def source(rng: np.random.Generator, largest: int = 2500) -> Source:
    """Random codes of a random kind: uniform, skewed (many ties), few distinct ones, equal, in order of distance."""
    bits = int(rng.choice(LENGTHS))
    n = int(rng.integers(1, rng.choice([4, 70, 600, largest])))
    m = int(rng.integers(1, 70))
    share = rng.choice([0.5, 0.5, 0.1, 0.02, 0.0, 1.0])
    rows = rng.random((m + n, bits)) < share * rng.random((1, bits)) * 2
    kind = rng.integers(6)
    if kind == 0:
        rows = rows[rng.integers(0, min(len(rows), 5), len(rows))]
    codes = Codes.from_bits(rows)
    queries, database = codes[:m], codes[m:]
    near = distances(queries, database)
    if kind == 1:  # the farthest first: every code is accepted, so buffers fill and are cleaned
        order = np.argsort(-near[0], kind="stable")
        database, near = database[order], near[:, order]
    return Source(queries, database, near)


def checked_search(rng: np.random.Generator, case: Source) -> None:
    """One random search in a part of the codes, with or without filter, in one or several chunks."""
    m, n = case.near.shape
    start = int(rng.integers(0, n)) if rng.random() < 0.3 else 0
    count = int(rng.choice([1, 1, 2, 4, 7, min(m, 40)]))
    first = int(rng.integers(0, max(1, m - count + 1)))
    queries, near = case.queries[first : first + count], case.near[first : first + count, start:]
    words, n = case.codes.words[start:], n - start
    database: Any = case.codes[start:]
    positions = np.arange(n)
    if rng.random() < 0.2:  # chunks, with gaps between them
        cuts = np.unique(rng.integers(0, n + 1, int(rng.integers(0, 4))))
        parts = np.split(words, cuts)
        gaps = np.cumsum(rng.integers(0, 50, len(parts)))
        ends = np.cumsum([0, *(len(part) for part in parts)])[:-1]
        database = [(part, int(end + gap)) for part, end, gap in zip(parts, ends, gaps, strict=True)]
        positions = np.concatenate([np.arange(len(part)) + base for part, base in database])
    allowed: Any = None
    passing = np.ones(n, dtype=bool)
    if rng.random() < 0.4:
        passing = rng.random(n) < rng.choice([0.02, 0.3, 0.95])
        if rng.random() < 0.3:  # a stretch
            passing = (np.arange(n) >= n // 3) & (np.arange(n) < n // 3 + rng.integers(1, n + 1))
        passing[rng.integers(0, n)] = True
        mask = rng.random(positions[-1] + 1) < 0.5  # what lies in gaps does not matter
        mask[positions] = passing
        allowed = mask if rng.random() < 0.6 else np.flatnonzero(mask)
    threads = 1 if rng.random() < 0.95 else int(rng.integers(2, 4))
    near, positions = near[:, passing], positions[passing]
    if rng.random() < 0.75:
        most = len(positions)
        k = int(rng.integers(1, min(most, int(rng.choice([3, 20, 300, most]))) + 1))
        hits = k_nearest(queries, database, k, allowed=allowed, threads=threads)
        order = np.argsort(near, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(hits.positions, positions[order])
        np.testing.assert_array_equal(hits.distances, np.take_along_axis(near, order, axis=1))
        return
    radius = int(min(queries.bits, max(0, rng.choice(near.ravel()) + rng.integers(-2, 2))))
    found = within(queries, database, radius, allowed=allowed, threads=threads)
    for i, row in enumerate(near):
        inside = np.flatnonzero(row <= radius)
        order = inside[np.argsort(row[inside], kind="stable")]
        np.testing.assert_array_equal(found[i][0], positions[order])
        np.testing.assert_array_equal(found[i][1], row[order])


def checked_counts_and_pairs(rng: np.random.Generator, case: Source) -> None:
    """Histograms, and all pairs of the first codes."""
    bits = case.codes.bits
    counts = distance_histogram(case.queries[:3], case.codes, threads=int(rng.integers(1, 3)))
    expected = [np.bincount(row, minlength=bits + 1) for row in case.near[:3]]
    np.testing.assert_array_equal(counts, expected)
    some = case.codes[:300]
    near = distances(some, some)
    radius = int(min(bits, max(0, rng.choice(near.ravel()) - rng.integers(0, 3))))
    pairs = pairs_within(some, radius, threads=int(rng.integers(1, 3)))
    left, right = np.nonzero(np.triu(near <= radius, 1))
    order = np.lexsort((right, near[left, right], left))
    np.testing.assert_array_equal(pairs.left, left[order])
    np.testing.assert_array_equal(pairs.right, right[order])
    np.testing.assert_array_equal(pairs.distances, near[left, right][order])
