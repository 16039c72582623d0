"""The object: looking up, choosing classes, saving."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import kinhash as kh
from kinhash.errors import FormatError, InputError, UnknownClassError

NAMES = ("tiger", "lion", "hamster", "lawn_mower")


@pytest.fixture(scope="module")
def animals() -> kh.Semantics:
    return kh.semantics("wordnet", ["tiger.n.02", "lion.n.01", "hamster", "lawn_mower"])


def test_what_it_holds(animals: kh.Semantics) -> None:
    assert len(animals) == 4
    assert animals.classes[2:] == ("hamster", "lawn_mower")
    assert repr(animals) == "Semantics('wordnet wup symmetric', 4 classes)"
    assert np.array_equal(animals.similarity, 1 - animals.distance)
    assert animals.distance[0, 1] < animals.distance[0, 2] < animals.distance[0, 3]


def test_the_matrix_cannot_be_changed(animals: kh.Semantics) -> None:
    with pytest.raises(ValueError, match="read-only"):
        animals.distance[0, 0] = 1


def test_between_items(animals: kh.Semantics) -> None:
    labels, others = [3, 0, 0], np.array([1, 2], np.uint8)
    expected = [[animals.distance[a, b] for b in others] for a in labels]
    assert animals.between(labels, others).tolist() == expected
    assert animals.between(labels).shape == (3, 3)
    assert animals.between([], others).shape == (0, 2)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 4], "label 4 at position 1 is no class; .* has 0 to 3"),
        ([-1], "label -1 at position 0"),
        ([0.0], "row of class numbers, got shape .* of float64"),
        ([[0]], r"shape \(1, 1\)"),
        (["a"], r"of <U1; names become numbers by semantics\.positions\(names\)"),
    ],
)
def test_labels_that_are_no_classes(animals: kh.Semantics, labels: ArrayLike, message: str) -> None:
    with pytest.raises(InputError, match=message):
        animals.between(labels)


def test_some_of_the_classes(animals: kh.Semantics) -> None:
    by_name = animals.take(["lawn_mower", "tiger.n.02"])
    assert by_name.classes == ("lawn_mower", "tiger.n.02")
    assert np.array_equal(by_name.distance, animals.distance[np.ix_([3, 0], [3, 0])])
    assert np.array_equal(by_name.distance, animals.take([3, 0]).distance)
    with pytest.raises(UnknownClassError, match="has no class 'dog'; its classes begin"):
        animals.take(["dog"])
    with pytest.raises(InputError, match="no class was chosen"):
        animals.take([])
    with pytest.raises(InputError, match="must be unique"):
        animals.take([0, 0])


@pytest.mark.parametrize("variant", ["symmetric", "nltk"])
def test_a_card_brings_back_every_bit(variant: str) -> None:
    before = kh.semantics("wordnet", "cifar100", variant=variant)
    text = json.dumps(before.to_card())
    after = kh.Semantics.from_card(json.loads(text))
    assert (after.name, after.classes) == (before.name, before.classes)
    assert np.array_equal(after.distance, before.distance)
    assert len(text) < 40_000


def damaged(**changes: Any) -> dict[str, Any]:
    card = kh.semantics("labels", 3).to_card()
    card.update(changes)
    return {key: value for key, value in card.items() if value is not None}


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ({}, "is no card of semantics"),
        ([], "is no card of semantics"),
        (damaged(kind="other"), "is no card of semantics"),
        (damaged(distance=None), "is damaged: 'distance'"),
        (damaged(distance="AAAA"), "is damaged"),
        (damaged(distance="%%%"), "is damaged"),
        (damaged(distance=5), "is damaged"),
        (damaged(classes=["a", "b"]), "is damaged"),
        (damaged(classes=["a", "a", "b"]), "is damaged"),
    ],
)
def test_damaged_cards(card: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        kh.Semantics.from_card(card)


def test_sizes_must_agree() -> None:
    with pytest.raises(InputError, match=r"2 classes need a \(2, 2\) matrix of numbers, got shape \(3, 3\)"):
        kh.Semantics("x", np.zeros((3, 3)), ("a", "b"))


@pytest.mark.parametrize(
    ("distance", "classes", "message"),
    [
        (np.full((2, 2), np.nan), ("a", "b"), r"distances lie in \[0, 1\], got nan"),
        (np.full((2, 2), 3.0), ("a", "b"), "got 3 to 3"),
        ([["x", "y"], ["y", "x"]], ("a", "b"), "matrix of numbers"),
        ([[0.0, 1.0], [1.0]], ("a", "b"), "distance cannot be read as an array"),
        (np.zeros((2, 2)), "ab", "a sequence of names, got 'ab'"),
        (np.zeros((2, 2)), 2, "a sequence of names, got 2"),
    ],
)
def test_what_semantics_cannot_be_made_of(distance: Any, classes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kh.Semantics("x", distance, classes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_the_matrix_of_the_caller_stays_his_own(dtype: type) -> None:
    own = np.zeros((2, 2), dtype)
    kin = kh.Semantics("x", own, ("a", "b"))
    own[0, 1] = 5
    assert kin.distance.tolist() == [[0, 0], [0, 0]]


def test_a_matrix_that_nobody_can_write_to_is_not_copied() -> None:
    given = np.frombuffer(bytes(32)).reshape(2, 2)
    assert np.shares_memory(kh.Semantics("x", given, ("a", "b")).distance, given)
