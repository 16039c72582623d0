"""Accuracies against scikit-learn and against counting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, top_k_accuracy_score

from kinhash.errors import InputError
from kinhash.metrics.classification import accuracy, balanced_accuracy, flat_hit, hierarchical_hit


def test_accuracies_agree_with_scikit_learn(rng: np.random.Generator) -> None:
    labels, guesses = rng.choice(5, 400, p=[0.6, 0.2, 0.1, 0.05, 0.05]), rng.integers(0, 5, 400)
    guesses[:200] = labels[:200]
    assert accuracy(guesses, labels) == np.mean(guesses == labels)
    assert balanced_accuracy(guesses, labels) == pytest.approx(balanced_accuracy_score(labels, guesses))


def test_rare_classes_count_alike_and_unseen_guesses_are_wrong() -> None:
    assert balanced_accuracy([0, 0, 0, 9], [0, 0, 0, 1]) == 0.5
    assert accuracy([0, 0, 0, 9], [0, 0, 0, 1]) == 0.75


def test_flat_hit_agrees_with_scikit_learn(rng: np.random.Generator) -> None:
    scores, labels = rng.normal(size=(200, 7)), rng.integers(0, 7, 200)
    for k in (1, 2, 6):
        expected = top_k_accuracy_score(labels, scores, k=k, labels=range(7))
        assert flat_hit(scores, labels, k).mean() == pytest.approx(expected)
    assert flat_hit(scores, labels, 7).mean() == 1


def test_flat_hit_is_the_mean_over_all_orders_of_ties(rng: np.random.Generator) -> None:
    scores, labels = rng.integers(0, 2, (20, 4)), rng.integers(0, 4, 20)
    for k in (1, 2, 3):
        for row, label, value in zip(scores, labels, flat_hit(scores, labels, k), strict=True):
            orders = [o for o in itertools.permutations(range(4)) if list(row[list(o)]) == sorted(row)[::-1]]
            assert value == pytest.approx(np.mean([label in order[:k] for order in orders]))


def test_hierarchical_hit_is_the_mean_over_all_orders_of_ties(rng: np.random.Generator) -> None:
    scores, labels = rng.integers(0, 3, (12, 4)), rng.integers(0, 4, 12)
    S = rng.uniform(0, 1, (4, 4))
    np.fill_diagonal(S, 1)
    for k in (1, 2, 4):
        for row, label, value in zip(scores, labels, hierarchical_hit(scores, labels, S, k), strict=True):
            orders = [o for o in itertools.permutations(range(4)) if list(row[list(o)]) == sorted(row)[::-1]]
            found = np.mean([sum(S[label, c] for c in order[:k]) for order in orders])
            assert value == pytest.approx(found / sum(sorted(S[label])[::-1][:k]))
    np.testing.assert_allclose(hierarchical_hit(S, range(4), S, 2), 1)  # the best order there is


def test_bad_input() -> None:
    for call, says in (
        (lambda: accuracy([], []), "empty"),
        (lambda: accuracy([1], [1, 2]), "1 entries for 2 items"),
        (lambda: accuracy([0.5], [1]), "integers"),
        (lambda: balanced_accuracy(["a"], [1]), "integers"),
        (lambda: flat_hit(np.zeros((0, 3)), np.zeros(0, int), 1), "empty"),
        (lambda: flat_hit([[0.1, np.nan]], [0], 1), "in 1 rows, first in row 0"),
        (lambda: flat_hit([[0.1, 0.2]], [2], 1), "classes 0 to 1"),
        (lambda: hierarchical_hit([[0.1, 0.2]], [1], np.eye(3), 1), "as many similarities, got 3"),
        (lambda: hierarchical_hit([[0.1, 0.2]], [2], np.eye(2), 1), "classes 0 to 1"),
        (lambda: hierarchical_hit([[0.1, 0.2]], [1], np.eye(2), 3), "between 1 and 2"),
        (lambda: flat_hit([[0.1, 0.2]], [1], 3), "between 1 and 2, the number of classes; got 3"),
        (lambda: flat_hit([[0.1, 0.2]], [1], 0), "between 1 and 2, the number of classes; got 0"),
    ):
        with pytest.raises(InputError, match=says):
            call()
