"""Perceptual hashes: codes of how light and dark lie in a picture, whatever its size, quality or brightness.

Of a picture in grey, squeezed into a square, the cosine transform keeps the 64 slowest waves that are not constant;
bit j is the sign of wave j. Mirroring a picture turns the signs of waves that are odd across it, and laying it on its
side swaps the two directions, so that the codes of all eight orientations follow from one transform.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kinhash.codes import Codes
from kinhash.data.images import Broken, Source, open_rgb, reading_threads
from kinhash.duplicates.windows import Floats, Windows, cut_out, cuts
from kinhash.errors import FormatError, InputError, NotFoundError

BITS = 64
ORIENTATIONS = 8  # four turns, each as it is and mirrored
WHOLE: Windows = ((1.0, 1),)
SIDE = 64  # pixels of a look
Looks = NDArray[np.uint8]  # (n, SIDE, SIDE)

_GRID = 32  # what the waves are taken of
_BLOCK = 256  # pictures at a time
# wave (u, v): u half periods across the height, v across the width; the slowest first, and with each its mirror (v, u)
_WAVES = sorted(
    ((u, v) for u in range(12) for v in range(12) if u + v > 0),
    key=lambda wave: (sum(wave), -max(wave), wave),
)[:BITS]


def looks(
    sources: Sequence[Source], ids: Sequence[str], progress: Callable[[int], object] | None = None
) -> tuple[NDArray[np.int64], Looks, list[Broken]]:
    """Which pictures could be read, each of these in grey in a square, and the others with reasons."""

    def read(place: int) -> Looks | Broken:
        try:
            image = open_rgb(sources[place], near=2 * SIDE).convert("L")
            return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX))
        except (FormatError, NotFoundError, InputError) as error:
            return Broken(ids[place], str(error))

    positions, squares, broken = [], [], []
    with ThreadPoolExecutor(reading_threads(0)) as pool:
        for place, found in enumerate(pool.map(read, range(len(sources)))):
            if isinstance(found, Broken):
                broken.append(found)
            else:
                positions.append(place)
                squares.append(found)
            if progress is not None:
                progress(1)
    stacked = np.stack(squares) if squares else np.empty((0, SIDE, SIDE), np.uint8)
    return np.array(positions, np.int64), stacked, broken


def perceptual_codes(squares: Looks) -> Codes:
    """(n,) codes of 64 bits."""
    return oriented_codes(squares)[0]


def oriented_codes(squares: Looks, windows: Windows = WHOLE) -> list[Codes]:
    """Codes of all windows in all eight orientations, (n,) each; the first are those of the whole pictures as they are."""
    weights = _bases(windows)
    rows, columns = np.array(_WAVES).T
    parts: list[list[NDArray[np.uint64]]] = []
    for start in range(0, len(squares), _BLOCK):
        waves = cut_out(squares[start : start + _BLOCK], weights, windows)[:, :, rows, columns]
        number = waves.shape[1]
        ways = [
            Codes.from_logits((waves[:, :, order] * signs).reshape(-1, BITS)).words.reshape(-1, number)
            for order, signs in _orientations()
        ]
        parts.append([way[:, window] for window in range(number) for way in ways])
    count = ORIENTATIONS * sum(places**2 for _, places in windows)
    none = np.empty(0, np.uint64)
    return [Codes(np.concatenate([none, *(part[i] for part in parts)])[:, None], BITS) for i in range(count)]


@lru_cache(maxsize=4)
def _bases(windows: Windows) -> Floats:
    """(cuts * waves, SIDE) what takes the waves of every cut in one direction."""
    most = max(max(wave) for wave in _WAVES) + 1
    basis = np.cos(np.pi * np.arange(most)[:, None] * (np.arange(_GRID) + 0.5) / _GRID)
    return np.concatenate([basis @ cut for cut in cuts(windows, SIDE, _GRID)]).astype(np.float32)


@lru_cache(maxsize=1)
def _orientations() -> list[tuple[NDArray[np.int64], Floats]]:
    """For each orientation the wave that takes every wave's place, and its sign."""
    down, across = np.array([[(-1.0) ** u, (-1.0) ** v] for u, v in _WAVES], np.float32).T
    aside = np.array([_WAVES.index((v, u)) for u, v in _WAVES])
    orders = (np.arange(BITS), aside)
    return [
        (order, signs)
        for order in orders
        for signs in (down**0, across[order], down[order], (down * across)[order])
    ]
