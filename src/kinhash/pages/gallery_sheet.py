"""A gallery as one picture: a row for every query and encoder."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinhash.data.images import Pixels, small
from kinhash.errors import FormatError, InputError, NotFoundError, StorageError
from kinhash.files import replace_file
from kinhash.pages.montage import Tile, montage

if TYPE_CHECKING:
    from kinhash.pages.gallery import Gallery, Hit

_SIDE = 192


def save_sheet(gallery: Gallery, path: Path) -> None:
    """Write the png."""
    rows = [
        [_tile(gallery, one.query, name), *(_hit(gallery, hit) for hit in hits)]
        for one in gallery.found
        for name, hits in one.rows.items()
    ]
    file = io.BytesIO()
    montage(rows).save(file, "PNG")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, file.getvalue())
    except OSError as error:
        raise StorageError(f"cannot write the picture to {path}: {error.strerror or error}") from error


def _tile(gallery: Gallery, row: int, model: str) -> Tile:
    return Tile(_pixels(gallery, row), _words(gallery, row), model)


def _hit(gallery: Gallery, hit: Hit) -> Tile:
    note = f"{hit.distance} bits" + ("" if hit.similarity is None else f", {hit.similarity:.2f}")
    return Tile(
        _pixels(gallery, hit.row),
        _words(gallery, hit.row),
        note,
        hit.similarity,
        known=hit.similarity is not None,
    )


def _words(gallery: Gallery, row: int) -> str:
    return gallery.label(row) or next(iter(gallery.captions(row)), gallery.data.ids[row])


def _pixels(gallery: Gallery, row: int) -> Pixels:
    """A small copy; grey where the picture cannot be read."""
    try:
        return np.asarray(small(gallery.source(row), _SIDE))
    except (FormatError, NotFoundError, InputError):
        return np.full((8, 8, 3), 200, np.uint8)
