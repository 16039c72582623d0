"""Turning numbers so that their signs lose little (ITQ: Gong & Lazebnik, Iterative Quantization, CVPR 2011)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def turned_to_signs(rows: Floats, start: Floats, turns: int) -> Floats:
    """The rotation R with a small `|B - rows R|^2`, B = signs of rows R: so many turns of B given R, then R given B.

    R given B is the orthogonal Procrustes solution, `U V^T` of `rows^T B = U S V^T`; `start` is the first R.
    """
    R = start
    for _ in range(turns):
        left, _, right = np.linalg.svd(rows.T @ np.where(rows @ R >= 0, 1.0, -1.0))
        R = left @ right
    return R
