"""Made-up classes whose features follow their vectors, and crude features of the bundled pictures."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_classes import Classes, made_up

import kinhash as kh
from kinhash.meaning.class_embeddings import class_embeddings


@pytest.fixture
def toy() -> Classes:
    return made_up()


def looks(images: np.ndarray) -> np.ndarray:
    """Directions of edges in 4 x 4 cells, and their mean colours: crude features that need no network."""
    pixels = images.astype(np.float64) / 255
    grey, n = pixels.mean(3), len(pixels)
    across, down = grey[:, 1:-1, 2:] - grey[:, 1:-1, :-2], grey[:, 2:, 1:-1] - grey[:, :-2, 1:-1]
    length = np.hypot(across, down)[:, :28, :28]
    turn = ((np.arctan2(down, across) % np.pi) / np.pi * 8).astype(int)[:, :28, :28] % 8
    edges = [(length * (turn == k)).reshape(n, 4, 7, 4, 7).sum((2, 4)).reshape(n, 16) for k in range(8)]
    rows = np.hstack(edges)
    colours = pixels.reshape(n, 4, 8, 4, 8, 3).mean((2, 4)).reshape(n, -1)
    return np.hstack([rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-6), colours])


@pytest.fixture(scope="module")
def pictures() -> Classes:
    """The bundled pictures; every tenth class is unseen."""
    data = kh.dataset("cifar100-sample")
    parts = [data.train, data.test]
    features = looks(np.concatenate([np.asarray(part.images) for part in parts]))
    labels = np.concatenate([part.targets() for part in parts])
    vectors = class_embeddings(kh.semantics("tree:cifar100", data.classes).similarity)
    held, unseen = labels % 10 == 0, np.arange(0, 100, 10)
    seen = np.setdiff1d(np.arange(100), unseen)
    own = (features[~held][::2], np.searchsorted(seen, labels[~held][::2]), vectors[seen])
    return Classes(*own, features[held], np.searchsorted(unseen, labels[held]), vectors[unseen])
