"""Tie groups that are too large to enumerate: closed forms against simulation and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from kinhash.kernels.ranking import (
    EVERYTHING,
    average_over_found,
    found_at,
    hit_at,
    precision_sum,
    precision_within,
)

SIZES, HITS = np.array([40, 0, 300, 5, 2000]), np.array([3, 0, 70, 5, 400])
GROUPS = len(SIZES)


def simulated(depth: int, runs: int = 3000) -> np.ndarray:
    """(runs, 2): AP over the hits found, and the sum of precision at them, of random orders."""
    rng = np.random.default_rng(1)
    values = np.zeros((runs, 2))
    for run in range(runs):
        line = np.concatenate([rng.permutation(np.arange(n) < r) for n, r in zip(SIZES, HITS, strict=True)])
        places = np.flatnonzero(line[:depth])
        precisions = np.arange(1, len(places) + 1) / (places + 1)
        values[run] = precisions.sum() / max(1, len(places)), precisions.sum()
    return values


@pytest.mark.parametrize("depth", [1, 20, 40, 100, 340, 342, 900])
def test_large_groups_against_simulation(depth: int) -> None:
    values = simulated(depth)
    ours = average_over_found(SIZES, HITS, GROUPS, depth), precision_sum(SIZES, HITS, GROUPS, depth)
    error = values.std(axis=0) / np.sqrt(len(values))
    np.testing.assert_array_less(np.abs(ours - values.mean(axis=0)), 4.5 * error + 1e-12)


@pytest.mark.parametrize("depth", [1, 39, 40, 41, 200])
def test_chance_of_a_hit_is_hypergeometric(depth: int) -> None:
    missed = hypergeom(40, 3, min(depth, 40)).pmf(0) * hypergeom(300, 70, max(depth - 40, 0)).pmf(0)
    assert hit_at(SIZES, HITS, GROUPS, depth) == pytest.approx(1 - missed)


def test_depths_at_and_beyond_the_end() -> None:
    everything, hits = int(SIZES.sum()), int(HITS.sum())
    assert found_at(SIZES, HITS, GROUPS, everything) == hits
    full = precision_sum(SIZES, HITS, GROUPS, EVERYTHING)
    assert precision_sum(SIZES, HITS, GROUPS, everything) == pytest.approx(full)
    assert average_over_found(SIZES, HITS, GROUPS, everything) == pytest.approx(full / hits)


@settings(max_examples=100, deadline=None)
@given(
    groups=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=8), data=st.data()
)
def test_values_stay_in_their_range(groups: list[tuple[int, int]], data: st.DataObject) -> None:
    sizes = np.array([n for n, _ in groups])
    hits = np.array([min(n, r) for n, r in groups])
    depth = data.draw(st.integers(1, max(1, int(sizes.sum()))))
    for value in (
        average_over_found(sizes, hits, len(sizes), depth),
        found_at(sizes, hits, len(sizes), depth) / depth,
        hit_at(sizes, hits, len(sizes), depth),
        precision_within(np.arange(len(sizes)).astype(float), sizes, hits, len(sizes), 3),
    ):
        assert -1e-12 <= value <= 1 + 1e-12
    assert precision_sum(sizes, hits, len(sizes), depth) <= found_at(sizes, hits, len(sizes), depth) + 1e-9


def test_huge_groups_neither_overflow_nor_vanish() -> None:
    """A million items of one distance: AP is about the share of relevant items."""
    sizes, hits = np.array([1_000_000]), np.array([100_000])
    assert average_over_found(sizes, hits, 1, 5000) == pytest.approx(0.1, abs=2e-3)
    assert precision_sum(sizes, hits, 1, EVERYTHING) / 100_000 == pytest.approx(0.1, abs=1e-3)
    assert hit_at(sizes, hits, 1, 5000) == pytest.approx(1)
    assert average_over_found(np.array([10**6]), np.array([0]), 1, 5000) == 0
