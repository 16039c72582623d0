"""Little pictures of one colour and an encoder that knows colours by name: what the tests of the server serve."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import kinhash as kh
from kinhash.serving.served import Served, served

BITS = 63
COLOURS = {"red": (220, 20, 20), "pink": (240, 120, 150), "green": (20, 180, 40), "blue": (20, 40, 220)}


def shade(name: str, step: int = 0) -> tuple[int, int, int]:
    r, g, b = (min(255, value + 6 * step) for value in COLOURS[name])
    return r, g, b


def picture(name: str, step: int = 0, size: tuple[int, int] = (60, 40)) -> Image.Image:
    return Image.new("RGB", size, shade(name, step))


def content(image: Image.Image, kind: str = "png", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


class Colours:
    """Each channel as a thermometer of 21 bits: Hamming distance is distance of colours."""

    bits = BITS
    takes = "pictures"
    classes = tuple(COLOURS)

    def __init__(self) -> None:
        near = np.ones((4, 4)) - np.eye(4)
        near[0, 1] = near[1, 0] = 0.25
        self.semantics = kh.Semantics("colours", near, self.classes)

    def encode(self, pictures: Sequence[Image.Image]) -> kh.Codes:
        means = np.array([np.asarray(one).reshape(-1, 3).mean(0) for one in pictures])
        return kh.Codes.from_bits((means[:, :, None] > np.arange(21) * 12).reshape(-1, BITS))

    def encode_text(self, texts: Sequence[str]) -> kh.Codes:
        return self.encode([picture(next((n for n in COLOURS if n in text), "green")) for text in texts])


def colour_index(folder: Path, each: int = 10) -> Path:
    """`each` shades of every colour as files, with ids, labels and steps, in an index beside them."""
    pictures = folder / "pictures"
    pictures.mkdir()
    ids, codes, metadata = [], [], []
    for name in COLOURS:
        for step in range(each):
            image = picture(name, step)
            image.save(pictures / f"{name}-{step:02}.png")
            ids.append(f"{name}-{step:02}.png")
            codes.append(Colours().encode([image]))
            metadata.append({"label": name, "step": step})
    with kh.Index.create(folder / "colours.kin", BITS) as index:
        index.add(ids, kh.Codes.concat(codes), metadata)
    return folder / "colours.kin"


def serve_colours(folder: Path, encoder: Any = None, name: str = "colours") -> Served:
    return served(name, colour_index(folder), encoder or Colours(), folder / "pictures")
