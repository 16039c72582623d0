"""How a picture becomes what a network takes: fit to a square, and the numbers that normalise its channels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from PIL import Image

from kinhash.data.images import Pixels, Source, open_rgb
from kinhash.errors import FormatError, InputError

Triple = tuple[float, float, float]
CIFAR_MEAN: Triple = (0.5071, 0.4865, 0.4409)
CIFAR_STD: Triple = (0.2673, 0.2564, 0.2762)
IMAGENET_MEAN: Triple = (0.485, 0.456, 0.406)
IMAGENET_STD: Triple = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Preprocessing:
    """Resize the shorter side to `size * zoom`, cut the middle `size` x `size`, scale to (x / 255 - mean) / std.

    With `whole` nothing is cut: both sides become `size`, so that a wide picture is squeezed. Captions speak of what
    stands at the edges, too.
    """

    size: int = 32
    mean: Triple = CIFAR_MEAN
    std: Triple = CIFAR_STD
    zoom: float = 1.0
    whole: bool = False

    def __post_init__(self) -> None:
        if self.size < 1 or self.zoom < 1 or min(self.std) <= 0:
            raise InputError(
                f"a size of at least 1, a zoom of at least 1 and positive std are needed: {self}"
            )

    def picture(self, source: Source) -> Pixels:
        """(size, size, 3) uint8 of any source."""
        return self.fitted(open_rgb(source, near=self.near))

    def fitted(self, image: Image.Image) -> Pixels:
        """(size, size, 3) uint8 of an upright picture in RGB."""
        if self.whole:
            return np.asarray(image.resize((self.size, self.size), Image.Resampling.BICUBIC))
        return fit(image, self.size, self.zoom)

    @property
    def near(self) -> int:
        """The shorter side from which on a JPEG may be decoded smaller: twice what is kept of it."""
        return 2 * (self.size if self.whole else round(self.size * self.zoom))

    def pictures(self, images: Pixels) -> Pixels:
        """(n, size, size, 3) of (n, h, w, 3); the same array where nothing has to change."""
        if images.shape[1:3] == (self.size, self.size) and (self.zoom == 1 or self.whole):
            return images
        out = np.empty((len(images), self.size, self.size, 3), dtype=np.uint8)
        for row, image in enumerate(images):
            out[row] = self.fitted(Image.fromarray(image))
        return out

    def card(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> Preprocessing:
        try:
            mean, std = (tuple(float(v) for v in card[key]) for key in ("mean", "std"))
            size, zoom = int(card["size"]), float(card["zoom"])
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"the preprocessing of this model is damaged: {error!r}") from error
        if len(mean) != 3 or len(std) != 3:
            raise FormatError("the preprocessing of this model needs three means and three deviations")
        return cls(size, mean, std, zoom, bool(card.get("whole", False)))


def fit(image: Image.Image, size: int, zoom: float = 1.0) -> Pixels:
    """Resize the shorter side to `size * zoom` (bicubic), cut out the middle square."""
    width, height = image.size
    target = round(size * zoom)
    factor = target / min(width, height)
    wide, high = max(target, round(width * factor)), max(target, round(height * factor))
    left, top = (wide - size) / 2, (high - size) / 2
    if (wide, high) == (width, height):
        box = (round(left), round(top), round(left) + size, round(top) + size)
        return np.asarray(image.crop(box))
    # one resampling does both: the box of the original that the middle square shows
    sx, sy = width / wide, height / high
    box_in = (left * sx, top * sy, (left + size) * sx, (top + size) * sy)
    return np.asarray(image.resize((size, size), Image.Resampling.BICUBIC, box=box_in))
