"""Parts of a picture as people crop it: windows of some shares of its width and height, at regular places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Windows = Sequence[tuple[float, int]]  # share of width and height; how many places in each direction


def cuts(windows: Windows, side: int, grid: int) -> list[Floats]:
    """(grid, side) weights for each place in one direction: they average `side` pixels to the `grid` cells of a part."""
    found = []
    for share, places in windows:
        for start in np.linspace(0, (1 - share) * side, places):
            edges = start + np.linspace(0, share * side, grid + 1)
            reach = np.clip(
                edges[:, None] - np.arange(side), 0, 1
            )  # of every pixel, what lies before every edge
            cells = np.diff(reach, axis=0)
            found.append((cells / cells.sum(axis=1, keepdims=True)).astype(np.float32))
    return found


def places_of(windows: Windows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which cut down and which across make each window: both of one share."""
    pairs, first = [], 0
    for _, places in windows:
        pairs += [(first + i, first + j) for i in range(places) for j in range(places)]
        first += places
    down, across = np.array(pairs, np.int64).T
    return down, across


def cut_out(squares: NDArray[np.generic], weights: Floats, windows: Windows) -> Floats:
    """(n, windows, rows, rows) from (n, side, side): weights (cuts * rows, side) applied down and across."""
    number = sum(places for _, places in windows)
    down, across = places_of(windows)
    both = weights @ squares.astype(np.float32) @ weights.T
    blocks = both.reshape(len(squares), number, len(weights) // number, number, -1).transpose(0, 1, 3, 2, 4)
    found: Floats = blocks[:, down, across]
    return found
