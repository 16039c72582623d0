"""Small problems that train in a second: points around class centres on a line of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from kinhash.data.splits import Split
from kinhash.meaning.semantics import Semantics
from kinhash.models.encoder import HashEncoder
from kinhash.training.train import train

CLASSES = tuple("abcdefgh")


def semantics() -> Semantics:
    """Eight classes in a row: the further apart, the more different."""
    line = np.arange(len(CLASSES))
    return Semantics("line", np.abs(line[:, None] - line) / (len(CLASSES) - 1), CLASSES)


def vectors(n: int = 256, seed: int = 0, noise: float = 0.5) -> Split:
    """Embeddings of 16 numbers; the centres are always the same."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(len(CLASSES), 16))
    labels = np.arange(n) % len(CLASSES)
    values = centres[labels] + noise * rng.normal(size=(n, 16))
    return Split(vectors=values.astype(np.float32), labels=labels, classes=CLASSES)


def pictures(n: int = 64, size: int = 8, seed: int = 0) -> Split:
    """Plain pictures, one brightness a class, with noise."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % len(CLASSES)
    values = 25 * labels[:, None, None, None] + rng.integers(0, 60, (n, size, size, 3))
    return Split(images=values.astype(np.uint8), labels=labels, classes=CLASSES)


def run(split: Split | None = None, **options: Any) -> HashEncoder:
    """`train` on a CPU, quickly and silently."""
    settings: dict[str, Any] = {"bits": 16, "epochs": 4, "batch": 64, "hidden": 32, "device": "cpu"}
    settings |= {"progress": False, "semantics": semantics(), **options}
    return train(vectors() if split is None else split, **settings)


def weights(encoder: HashEncoder) -> dict[str, torch.Tensor]:
    return encoder.network.state_dict()


def same(first: HashEncoder, second: HashEncoder) -> bool:
    """Whether all weights are equal, bit for bit."""
    pairs = zip(weights(first).items(), weights(second).items(), strict=True)
    return all(a == b and torch.equal(x, y) for (a, x), (b, y) in pairs)
