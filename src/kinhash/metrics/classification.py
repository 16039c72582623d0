"""Accuracies of predicted classes: plain, averaged over classes, and within the first K guesses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array, finite_rows, is_whole
from kinhash.errors import InputError
from kinhash.metrics.inputs import checked_label_range, checked_labels, checked_similarities

Floats = NDArray[np.float64]


def accuracy(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Share of items whose predicted class is their own."""
    guessed, true = _checked_predictions(predictions, labels)
    return float(np.mean(guessed == true))


def balanced_accuracy(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Mean over the classes that occur of the share of their items that are predicted right: rare ones count alike."""
    guessed, true = _checked_predictions(predictions, labels)
    classes, numbers = np.unique(true, return_inverse=True)
    right = np.bincount(numbers, weights=guessed == true, minlength=len(classes))
    return float(np.mean(right / np.bincount(numbers)))


def flat_hit(scores: ArrayLike, labels: ArrayLike, k: int) -> Floats:
    """Chance, item by item, that its class is among the k classes of highest score (n, C).

    Classes of equal score share their places: if m of them compete for r places, each is in with chance r / m.
    """
    matrix = finite_rows(scores, "scores", None)
    true = checked_labels(labels, len(matrix))
    if len(matrix) == 0:
        raise InputError("there are no scores: the set is empty")
    checked_label_range(true, matrix.shape[1])
    if not is_whole(k) or not 1 <= k <= matrix.shape[1]:
        raise InputError(f"k must lie between 1 and {matrix.shape[1]}, the number of classes; got {k!r}")
    own = matrix[np.arange(len(matrix)), true][:, None]
    places = k - np.count_nonzero(matrix > own, axis=1)
    tied = np.count_nonzero(matrix == own, axis=1)  # its own class is one of them
    return np.clip(places / tied, 0, 1)


def hierarchical_hit(scores: ArrayLike, labels: ArrayLike, similarity: ArrayLike, k: int) -> Floats:
    """HP@k of guessed classes: `sum_{i<=k} S[y, c_i] / sum_{i<=k} S[y, c*_i]`, item by item (Deng et al., CVPR 2011).

    c_1, c_2, ... are the classes by falling score (n, C), c* the best order there is, S (C, C) the similarities of
    classes. Classes of equal score share their places: each counts as the mean of all of them.
    """
    matrix = finite_rows(scores, "scores", None)
    true = checked_labels(labels, len(matrix))
    S = checked_similarities(similarity)["similarity"]
    if len(S) != matrix.shape[1]:
        raise InputError(f"scores of {matrix.shape[1]} classes need as many similarities, got {len(S)}")
    checked_label_range(true, len(S))
    if not is_whole(k) or not 1 <= k <= len(S):
        raise InputError(f"k must lie between 1 and {len(S)}, the number of classes; got {k!r}")
    best = -np.sort(-S, axis=1)[:, :k].sum(1)
    found = np.empty(len(matrix))
    for row, own in enumerate(true):
        _, group, sizes = np.unique(-matrix[row], return_inverse=True, return_counts=True)
        means = np.bincount(group, weights=S[own]) / sizes
        places = np.clip(k - (np.cumsum(sizes) - sizes), 0, sizes)
        found[row] = places @ means
    return found / np.maximum(best[true], np.finfo(float).tiny)


def _checked_predictions(
    predictions: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    true = checked_labels(labels, len(np.atleast_1d(as_array(labels, "labels"))))
    if len(true) == 0:
        raise InputError("there are no labels: the set is empty")
    return checked_labels(predictions, len(true), "predictions"), true
