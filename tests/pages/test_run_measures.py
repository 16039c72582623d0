"""Counts of a report against loops over everything."""

from __future__ import annotations

import numpy as np
import pytest

import kinhash as kh
from kinhash.pages.run_measures import (
    NEAREST,
    OTHERS,
    SAME,
    distance_counts,
    mistakes_by_likeness,
    most_confused,
    nearest_classes,
    search_costs,
)

TREE = [("root", "x"), ("root", "y"), ("x", "a"), ("x", "b"), ("y", "c"), ("y", "d"), ("y", "e")]


@pytest.fixture
def kin() -> kh.Semantics:
    return kh.semantics(kh.Taxonomy(TREE))


def test_the_nearest_classes_of_a_tree_are_those_of_the_same_parent(kin: kh.Semantics) -> None:
    parent = {child: above for above, child in TREE}
    expected = [[a != b and parent[a] == parent[b] for b in kin.classes] for a in kin.classes]
    assert nearest_classes(kin.similarity).tolist() == expected


def test_distances_by_kind_of_pair(kin: kh.Semantics, rng: np.random.Generator) -> None:
    codes = kh.Codes.from_bits(rng.random((40, 70)) < 0.5)
    labels = rng.integers(0, 5, 40)
    near, bits = nearest_classes(kin.similarity), codes.to_bits()
    expected = {kind: np.zeros(71, int) for kind in (SAME, NEAREST, OTHERS)}
    for i in range(40):
        for j in range(40):
            kind = SAME if labels[i] == labels[j] else NEAREST if near[labels[i], labels[j]] else OTHERS
            if i != j:
                expected[kind][(bits[i] != bits[j]).sum()] += 1
    found = distance_counts(codes, labels, kin.similarity)
    assert {kind: row.tolist() for kind, row in found.items()} == {k: v.tolist() for k, v in expected.items()}
    plain = distance_counts(codes, labels, None)
    assert list(plain) == [SAME, OTHERS]
    assert (plain[OTHERS] == expected[NEAREST] + expected[OTHERS]).all()


def test_mistakes(kin: kh.Semantics) -> None:
    labels = np.array([0, 0, 0, 1, 2, 2])
    guesses = np.array([0, 1, 1, 1, 4, 3])
    found = most_confused(labels, guesses, kin.classes, kin.similarity)
    assert [(one.true, one.predicted, one.times) for one in found] == [
        ("a", "b", 2),
        ("c", "d", 1),
        ("c", "e", 1),
    ]
    assert found[0].share == pytest.approx(2 / 3)
    assert found[0].similarity == kin.similarity[0, 1]
    assert most_confused(labels, guesses, kin.classes, None, count=1)[0].similarity is None
    likeness, others, weights = mistakes_by_likeness(labels, guesses, kin.similarity)
    assert likeness.tolist() == [kin.similarity[a, b] for a, b in ((0, 1), (0, 1), (2, 4), (2, 3))]
    chance = [kin.similarity[a, b] for a in (0, 0, 2, 2) for b in range(5) if b != a]
    assert others @ weights / weights.sum() == pytest.approx(np.mean(chance))
    assert weights.sum() == pytest.approx(4)


def test_no_mistake_is_no_mistake(kin: kh.Semantics) -> None:
    labels = np.arange(5)
    assert most_confused(labels, labels, kin.classes, kin.similarity) == []
    likeness, _, weights = mistakes_by_likeness(labels, labels, kin.similarity)
    assert (len(likeness), weights.sum()) == (0, 0)


@pytest.mark.parametrize("bits", [8, 16, 64, 130])
def test_search_costs_cover_keys_that_fit(bits: int, rng: np.random.Generator) -> None:
    codes = kh.Codes.from_bits(rng.random((300, bits)) < 0.5)
    costs = search_costs(codes)
    assert [one.key_bits for one in costs] == sorted(bits / one.tables for one in costs)
    assert len({one.tables for one in costs}) == len(costs) > 0
    for one in costs:
        assert 10 <= one.compared <= 300
        assert one.compared <= one.candidates
