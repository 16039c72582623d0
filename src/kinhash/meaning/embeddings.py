"""Distances between embeddings of classes or captions, scaled to [0, 1]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import checked_choice, finite_rows, unit_rows
from kinhash.errors import InputError
from kinhash.kernels.distances import l1_tile
from kinhash.kernels.threads import map_blocks

Floats = NDArray[np.float64]
METRICS = ("manhattan", "cosine")
_BLOCK = 64


def embedding_distances(
    a: ArrayLike, b: ArrayLike | None = None, metric: str = "manhattan", scale: float | None = None
) -> Floats:
    """(n, m) distances in [0, 1] between the rows of a and b, or of a and a with an exact zero diagonal.

    `manhattan`: `|u - v|_1 / scale`, by default the largest distance that occurs. `cosine`:
    `(1 - cos(u, v)) / scale`, by default 2, the largest there can be. A fixed `scale` keeps separate calls comparable.
    """
    checked_choice(metric, METRICS, "metric")
    names = ("the embeddings",) * 2 if b is None else ("embeddings a", "embeddings b")
    left = _checked(a, names[0])
    right = left if b is None else _checked(b, names[1])
    if left.shape[1] != right.shape[1]:
        raise InputError(
            f"embeddings of {left.shape[1]} and of {right.shape[1]} dimensions have no distance; use one model for both"
        )
    distances = _manhattan(left, right) if metric == "manhattan" else _cosine(left, right, names)
    if b is None:
        np.fill_diagonal(distances, 0.0)
    return _scaled(distances, scale if scale is not None or metric == "manhattan" else 2.0)


def _manhattan(left: Floats, right: Floats) -> Floats:
    columns = np.ascontiguousarray(right.T)
    out = np.empty((len(left), len(right)))
    map_blocks(lambda start, stop: l1_tile(left[start:stop], columns, out[start:stop]), len(left), _BLOCK)
    return out


def _cosine(left: Floats, right: Floats, names: tuple[str, str]) -> Floats:
    cosines = unit_rows(left, names[0]) @ unit_rows(right, names[1]).T
    return np.clip(1.0 - cosines, 0.0, 2.0)  # outside by rounding only


def _scaled(distances: Floats, scale: float | None) -> Floats:
    largest = float(distances.max())
    if not np.isfinite(largest):
        raise InputError("the distances overflow: the embeddings are too large; scale them down")
    if scale is None:
        return distances / largest if largest > 0 else distances
    if isinstance(scale, bool) or not isinstance(scale, int | float | np.number) or not 0 < scale < np.inf:
        raise InputError(f"scale is a positive number, got {scale!r}")
    if largest > scale * (1 + 1e-9):
        raise InputError(
            f"the largest distance is {largest:g}, beyond scale={scale:g}; distances must end in [0, 1]"
        )
    return np.minimum(distances / scale, 1.0)


def _checked(values: ArrayLike, name: str) -> Floats:
    rows = finite_rows(values, name)
    if not len(rows):
        raise InputError(f"{name} need at least one row, got shape {rows.shape}")
    return rows
