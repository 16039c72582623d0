"""Embeddings with labels as files, in a train and a test part: what `kh.dataset(FOLDER)` reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np


def write_vectors(
    folder: Path, classes: Sequence[object], *, train: int, test: int, width: int, spread: float = 0.3
) -> Path:
    """Every class lies around an axis of its own."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for part, n in (("train", train), ("test", test)):
        labels = np.arange(n) % len(classes)
        values = np.eye(len(classes), width)[labels] + spread * rng.normal(size=(n, width))
        np.save(folder / f"{part}.npy", values.astype(np.float32))
        np.save(folder / f"{part}_labels.npy", np.array(classes)[labels])
    return folder
