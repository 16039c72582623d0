"""A second look at two pictures: how well one lies on the other, or on a part of it, in any orientation.

Both are looked at in grey in a small square. One of them is laid on windows of the other, cut like the crops and
frames that people make, and the best correlation counts. A perceptual or semantic code says which pairs deserve it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kinhash.duplicates.perceptual import SIDE, Looks
from kinhash.duplicates.windows import Floats, cut_out, cuts

_BLOCK = 256  # pairs at a time
_GRID = 16  # pixels of a window's side when it is compared
_WINDOWS = ((1.0, 1), (0.9, 5), (0.8, 7))
_FLAT = 16.0  # length of a window's contrast: one of a single shade is like nothing


def likeness(squares: Looks, left: NDArray[np.int64], right: NDArray[np.int64]) -> Floats:
    """(pairs,) best correlations in [-1, 1] of the pictures `left` and `right`, numbers of rows of `squares`."""
    found: Floats = np.empty(len(left), np.float32)
    order = np.argsort(left, kind="stable")  # pairs of one picture together: its windows are cut once
    for start in range(0, len(order), _BLOCK):
        pairs = order[start : start + _BLOCK]
        used, places = np.unique(np.concatenate([left[pairs], right[pairs]]), return_inverse=True)
        windows = _windows(squares[used])
        wholes = _orientations(windows[:, 0])
        one, other = places[: len(pairs)], places[len(pairs) :]
        found[pairs] = np.maximum(_best(windows[one], wholes[other]), _best(windows[other], wholes[one]))
    return found


def _best(windows: Floats, wholes: Floats) -> Floats:
    """(pairs,) the largest product of a window and an orientation."""
    products: Floats = (windows @ wholes.transpose(0, 2, 1)).max(axis=(1, 2))
    return products


def _windows(squares: Looks) -> Floats:
    """(n, windows, pixels) every picture whole and parts of it, each with mean 0 and length 1."""
    parts = cut_out(squares, _weights(), _WINDOWS)
    windows = parts.reshape(*parts.shape[:2], -1)
    windows -= windows.mean(axis=2, keepdims=True)
    length = np.linalg.norm(windows, axis=2, keepdims=True)
    windows /= np.where(length > _FLAT, length, np.inf)
    return windows


@lru_cache(maxsize=1)
def _weights() -> Floats:
    return np.concatenate(cuts(_WINDOWS, SIDE, _GRID))


def _orientations(windows: Floats) -> Floats:
    """(n, 8, pixels) of one window each."""
    squares = windows.reshape(-1, _GRID, _GRID)
    turns = [np.rot90(squares, turn, (1, 2)) for turn in range(4)]
    ways = [way.reshape(len(squares), -1) for turn in turns for way in (turn, turn[:, :, ::-1])]
    return np.stack(ways, axis=1)
