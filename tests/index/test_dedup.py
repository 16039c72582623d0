"""Near-duplicates equal two nested loops and a search through the graph of pairs."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index.indexes import codes_of

from kinhash import Index
from kinhash.errors import InputError
from kinhash.index import dedup, scan_driver
from kinhash.index.dedup import components, find_duplicates


def plainly(ids: list[Any], numbers: list[int], radius: int) -> tuple[list[Any], list[list[Any]]]:
    """(left, distance, right) of all pairs, and the connected groups."""
    pairs = sorted(
        (ids[i], (a ^ b).bit_count(), ids[j])
        for i, a in enumerate(numbers)
        for j, b in enumerate(numbers)
        if i < j and (a ^ b).bit_count() <= radius
    )
    group = {name: {name} for pair in pairs for name in (pair[0], pair[2])}
    for left, _, right in pairs:
        both = group[left] | group[right]
        for name in both:
            group[name] = both
    return pairs, sorted({tuple(sorted(names)) for names in group.values()})


@pytest.mark.parametrize("radius", [0, 1, 2, 9])
@pytest.mark.parametrize("n", [0, 1, 2, 70])
def test_equals_nested_loops(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, n: int, radius: int
) -> None:
    monkeypatch.setattr(scan_driver, "TILE", 16)
    numbers = rng.integers(0, 2**9, n).tolist()
    ids = np.array([f"{i:03d}" for i in range(n)], dtype=object)
    seen: list[tuple[int, int]] = []
    wanted, groups = plainly(ids.tolist(), numbers, radius)
    monkeypatch.setattr(dedup, "_FEW", 20)
    for pairs in (False, True):
        seen.clear()
        found = find_duplicates(
            ids,
            codes_of(numbers, 9),
            radius,
            pairs=pairs,
            progress=lambda done, total: seen.append((done, total)),
        )
        assert [tuple(group.tolist()) for group in found.groups] == groups
        assert found.count == len(wanted)
        assert seen == sorted(seen)
        assert seen[-1:] == [(n, n)] * (n > 0)
        if found.pairs is None:
            assert not pairs
            continue
        assert pairs
        columns = (found.pairs.left, found.pairs.distances, found.pairs.right)
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == wanted
    assert seen == [(min(start + 16, n), n) for start in range(0, n, 16)]


@pytest.mark.parametrize("radius", [0, 1])
def test_many_equal_codes_take_little_memory(radius: int) -> None:
    n = 4000  # eight million pairs, 160 MB of them
    codes = codes_of([3] * n, 8)
    tracemalloc.start()
    try:
        found = find_duplicates(np.arange(n), codes, radius)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [group.tolist() for group in found.groups] == [list(range(n))]
    assert found.count == n * (n - 1) // 2
    assert found.pairs is None
    assert most < 10e6


def test_a_forest_does_not_keep_pairs(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedup, "_FEW", 50)
    forest = dedup.Forest()
    everything = rng.integers(0, 60, (2, 5000))
    for start in range(0, 5000, 10):
        forest.add(*everything[:, start : start + 10])
        assert len(forest.edges()[0]) <= 2 * 60
    assert [g.tolist() for g in components(*forest.edges())] == [g.tolist() for g in components(*everything)]


def test_a_long_chain_is_one_group(rng: np.random.Generator) -> None:
    order = rng.permutation(5000)
    found = components(order[:-1], order[1:])
    assert len(found) == 1
    assert found[0].tolist() == list(range(5000))


def test_of_an_index(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i", 8) as index:
        assert index.dedup(8).groups == []
        index.add([5, 1, 3], codes_of([7, 6, 0], 8), [{"n": 1}, {"n": 1}, {"n": 2}])
        index.add([2], codes_of([0], 8))
        found = index.dedup(1)
        assert [group.tolist() for group in found.groups] == [[1, 5], [2, 3]]
        assert found.count == 2
        pairs = index.dedup(1, pairs=True).pairs
        assert pairs is not None
        assert pairs.left.tolist() == [1, 2]
        assert [group.tolist() for group in index.dedup(8, where="n = 1").groups] == [[1, 5]]
        with pytest.raises(InputError, match="radius"):
            index.dedup(9)
