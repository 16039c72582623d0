"""A picture of searches: one row per query, its hits beside it, framed by how close in meaning they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont, ImageOps

from kinhash.errors import InputError

_TILE, _FRAME, _GAP, _TEXT = 96, 4, 10, 28
_PAPER, _INK, _FAINT = (255, 255, 255), (34, 34, 34), (120, 120, 120)
_NEAR, _FAR = np.array([26, 133, 74]), np.array([205, 62, 38])  # green: same meaning; red: unrelated


@dataclass(frozen=True)
class Tile:
    """One picture, two short lines below it, and its similarity in [0, 1] to the row's query (None: the query).

    A tile without `known` similarity has a grey frame.
    """

    pixels: NDArray[np.uint8]  # (h, w, 3)
    title: str
    note: str = ""
    similarity: float | None = None
    known: bool = True


def montage(rows: Sequence[Sequence[Tile]]) -> Image.Image:
    """Rows of tiles; the first tile of a row is the query, set apart by a gap."""
    if not rows or not all(rows):
        raise InputError("a montage needs at least one row, and every row at least one tile")
    step = _TILE + 2 * _FRAME + _GAP
    width = _GAP + max(len(row) for row in rows) * step + 2 * _GAP
    height = _GAP + len(rows) * (step + _TEXT)
    sheet = Image.new("RGB", (width, height), _PAPER)
    draw = ImageDraw.Draw(sheet)
    for y, row in enumerate(rows):
        for x, tile in enumerate(row):
            left = _GAP + x * step + (2 * _GAP if x else 0)
            _paste(sheet, draw, tile, left, _GAP + y * (step + _TEXT))
    return sheet


def colour_of(similarity: float | None) -> tuple[int, int, int]:
    """Frame colour: from red (0) over to green (1); ink for a query."""
    if similarity is None:
        return _INK
    mixed = _FAR + (_NEAR - _FAR) * float(np.clip(similarity, 0, 1))
    red, green, blue = (round(value) for value in mixed)
    return red, green, blue


def _paste(sheet: Image.Image, draw: ImageDraw.ImageDraw, tile: Tile, left: int, top: int) -> None:
    outer = _TILE + 2 * _FRAME
    frame = colour_of(tile.similarity) if tile.known else _FAINT
    draw.rectangle((left, top, left + outer - 1, top + outer - 1), fill=frame)
    whole = Image.fromarray(tile.pixels).convert("RGB")
    picture = ImageOps.pad(whole, (_TILE, _TILE), Image.Resampling.BICUBIC, color=_PAPER)
    sheet.paste(picture, (left + _FRAME, top + _FRAME))
    for line, (text, colour) in enumerate(((tile.title, _INK), (tile.note, _FAINT))):
        draw.text((left, top + outer + 1 + 12 * line), _fitted(text, outer), colour, _font(11))


def _fitted(text: str, width: int) -> str:
    """The text, shortened with an ellipsis until it fits."""
    font = _font(11)
    text = " ".join(text.split())[:200]
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text + "…"


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
