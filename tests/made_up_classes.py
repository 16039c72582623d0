"""Made-up classes, seen and unseen, whose features follow their vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SEEN, UNSEEN, PER_CLASS = 12, 5, 9


class Classes(NamedTuple):
    """Items of seen and of unseen classes, labelled by rows of `seen` and of `unseen`."""

    features: np.ndarray
    labels: np.ndarray
    seen: np.ndarray
    others: np.ndarray
    truth: np.ndarray
    unseen: np.ndarray


def made_up(seed: int = 0, noise: float = 0.7) -> Classes:
    """Features are a linear map of the class vector, and noise."""
    rng = np.random.default_rng(seed)
    vectors, to_features = rng.normal(size=(SEEN + UNSEEN, 4)), rng.normal(size=(4, 8))

    def items(first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        labels = np.arange(count * PER_CLASS) % count
        noisy = vectors[first + labels] @ to_features + noise * rng.normal(size=(len(labels), 8))
        return noisy + 3.0, labels

    features, labels = items(0, SEEN)
    others, truth = items(SEEN, UNSEEN)
    return Classes(features, labels, vectors[:SEEN], others, truth, vectors[SEEN:])
