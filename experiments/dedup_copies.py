"""Altered copies of photos, as people have them: smaller, recompressed, cropped, turned, lighter, framed."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageOps

from kinhash.data.archives import tar_members
from kinhash.data.images import FilePart, open_rgb

Alter = Callable[[Image.Image, np.random.Generator], Image.Image]
TARS = ("images_train_0.tar", "images_train_1.tar", "images_dev.tar")


def photos(root: Path) -> list[tuple[str, FilePart]]:
    """Every photo of Flickr8k by name."""
    return sorted((pair for tar in TARS for pair in tar_members(root / tar)), key=lambda pair: pair[0])


def copies(sources: Sequence[FilePart], kind: str, seed: int) -> Iterator[NDArray[np.uint8]]:
    """One copy of every photo; what is random about it depends on kind, seed and place alone."""
    for place, source in enumerate(sources):
        rng = np.random.default_rng([seed, list(KINDS).index(kind), place])
        yield np.asarray(KINDS[kind](open_rgb(source), rng))


def _resized(image: Image.Image, _: np.random.Generator) -> Image.Image:
    return image.resize((image.width // 2, image.height // 2), Image.Resampling.LANCZOS)


def _recompressed(image: Image.Image, _: np.random.Generator) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=30)
    return Image.open(file).convert("RGB")


def _lighter(image: Image.Image, _: np.random.Generator) -> Image.Image:
    return ImageEnhance.Contrast(ImageEnhance.Brightness(image).enhance(1.4)).enhance(0.9)


def _grey(image: Image.Image, _: np.random.Generator) -> Image.Image:
    return image.convert("L").convert("RGB")


def _framed(image: Image.Image, _: np.random.Generator) -> Image.Image:
    return ImageOps.expand(image, round(0.06 * min(image.size)), "white")


def _cropped(share: float) -> Alter:
    """Keep `share` of width and height, anywhere in the picture."""

    def crop(image: Image.Image, rng: np.random.Generator) -> Image.Image:
        width, height = round(share * image.width), round(share * image.height)
        left, top = rng.integers(image.width - width + 1), rng.integers(image.height - height + 1)
        return image.crop((left, top, left + width, top + height))

    return crop


def _tilted(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Turned by 5 degrees, and cropped so that no corner is empty."""
    turned = image.rotate(float(rng.choice([-5.0, 5.0])), Image.Resampling.BICUBIC)
    rim_x, rim_y = round(0.06 * image.width), round(0.06 * image.height)
    return turned.crop((rim_x, rim_y, image.width - rim_x, image.height - rim_y))


def _turned(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    return image.transpose(rng.choice([Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270]))


def _mirrored(image: Image.Image, _: np.random.Generator) -> Image.Image:
    return ImageOps.mirror(image)


KINDS: dict[str, Alter] = {
    "half the size": _resized,
    "JPEG quality 30": _recompressed,
    "lighter": _lighter,
    "grey": _grey,
    "white frame": _framed,
    "cropped to 90 %": _cropped(0.9),
    "cropped to 80 %": _cropped(0.8),
    "tilted by 5 degrees": _tilted,
    "turned by 90 degrees": _turned,
    "mirrored": _mirrored,
}
