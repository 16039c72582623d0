"""What text queries are compared with: a float two-tower through the very same loop, and CCA."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from caption_data import Captioned, Floats
from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import MatchingLoss
from kinhash.methods import METHODS
from kinhash.methods.contract import Method, Objective, Problem
from kinhash.models.network import Outputs

WIDTH = 128
TWO_TOWER = "two-tower"


class Matching(Objective):
    """InfoNCE between pictures and sentences, nothing else."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.match = MatchingLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        assert outputs.text is not None
        return {"match": self.match(outputs.z, outputs.text)}


@contextmanager
def two_tower() -> Iterator[None]:
    """Let `kh.train(method="two-tower")` train it: same towers, batch, schedule and data, 128 unbounded outputs."""
    METHODS[TWO_TOWER] = Method(
        "InfoNCE over pictures and sentences, floats",
        Matching,
        retrieves="floats",
        metric="cosine",
        recipe={"activation": "norm"},
        width=lambda problem: WIDTH,
        matches_text=True,
    )
    try:
        yield
    finally:
        del METHODS[TWO_TOWER]


def cca(train: Captioned, test: Captioned, ridge: float) -> tuple[Floats, Floats]:
    """Canonical correlations of features and caption vectors, each direction weighted by its correlation.

    `W_x = C_xx^-1/2 U`, `W_y = C_yy^-1/2 V` of the singular vectors of `C_xx^-1/2 C_xy C_yy^-1/2`; `ridge` times the
    mean variance is added to both diagonals.
    """
    rows = train.sentences.rows()
    y = train.sentences.vectors.astype(np.float64)
    x = ((train.plain + train.mirrored) / 2).astype(np.float64)
    weights = np.bincount(rows) / len(rows)
    mean_x, mean_y = weights @ x, y.mean(0)
    x, y = x - mean_x, y - mean_y
    sums = np.add.reduceat(y, train.sentences.starts[:-1], axis=0)
    root_x = _inverse_root((x * weights[:, None]).T @ x, ridge)
    root_y = _inverse_root(y.T @ y / len(y), ridge)
    u, s, v = np.linalg.svd(root_x @ (x.T @ sums / len(y)) @ root_y)
    to_x, to_y = (root_x @ u[:, :WIDTH]) * s[:WIDTH], (root_y @ v.T[:, :WIDTH]) * s[:WIDTH]
    photos = (((test.plain + test.mirrored) / 2) - mean_x) @ to_x
    return photos.astype(np.float32), ((test.sentences.vectors - mean_y) @ to_y).astype(np.float32)


def _inverse_root(matrix: np.ndarray, ridge: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return vectors / np.sqrt(np.maximum(values, 0) + ridge * values.mean()) @ vectors.T
