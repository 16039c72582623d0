"""`Augmentation`: which random changes a training picture undergoes, and one epoch's worth of random numbers for them.

All numbers of an epoch are drawn at once, on the host, from (seed, epoch) alone. So a step draws nothing, CPU and
GPU see the same pictures, and a run that resumes at any epoch and step sees what it would have seen.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import InputError

Floats = NDArray[np.float32]

# RandAugment's operations: the columns of `Draws.strength`
COLOURS = ("brightness", "contrast", "saturation", "sharpness", "autocontrast", "solarize", "posterize")
MOVES = ("rotate", "shear_x", "shear_y", "translate_x", "translate_y")
OPERATIONS = COLOURS + MOVES


@dataclass(frozen=True)
class Augmentation:
    """Random changes of a picture; the values here are the usual ones for 32-pixel pictures.

    crop: shift by up to so many pixels each way, the border in the mean colour. flip: left-right, half of the
    time. cutout: side of a square in the mean colour (DeVries 2017). randaugment: operations per picture, each at
    up to `magnitude` tenths (after Cubuk 2020). cutmix, mixup: share of the batches that are mixed, with weights
    from Beta(alpha, alpha) (Yun 2019, Zhang 2018). area: smallest share of the picture that a crop of random size
    and shape may show, in place of `crop` (Szegedy 2015); 1 means no such crop.
    """

    crop: int = 4
    flip: bool = True
    cutout: int = 0
    randaugment: int = 0
    magnitude: float = 9.0
    cutmix: float = 0.0
    mixup: float = 0.0
    alpha: float = 1.0
    area: float = 1.0

    def __post_init__(self) -> None:
        if min(self.crop, self.cutout, self.randaugment) < 0 or not 0 <= self.magnitude <= 10:
            raise InputError(f"sizes and counts are at least 0 and the magnitude is in [0, 10]: {self}")
        if min(self.cutmix, self.mixup) < 0 or self.cutmix + self.mixup > 1:
            raise InputError(f"cutmix and mixup are shares of the batches, together at most 1: {self}")
        if not 0 < self.area <= 1 or self.alpha <= 0:
            raise InputError(f"area lies in (0, 1] and alpha above 0: {self}")

    @property
    def mixes(self) -> bool:
        return self.cutmix + self.mixup > 0

    @property
    def changes_pictures(self) -> bool:
        """Whether anything but mixing happens: what vectors cannot undergo."""
        return bool(self.crop or self.flip or self.cutout or self.randaugment or self.area < 1 or self.cutmix)

    def card(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Draws:
    """The random numbers of n rows in the order of the epoch; a column that is not needed is absent."""

    whole: NDArray[
        np.int32
    ]  # (n, 9): shift y, x; flip; cutout top, left; mixing box top, bottom, left, right
    weight: Floats  # (n,) the share of the row itself where its batch is mixed
    strength: Floats | None  # (n, len(OPERATIONS)) in [-1, 1], 0 = not applied
    window: Floats | None  # (n, 4) area, log of the aspect ratio, and the position u, v in [0, 1]
    mode: NDArray[np.int8]  # (steps,) 0 = plain, 1 = CutMix, 2 = MixUp


def draw(augment: Augmentation, n: int, steps: int, size: int, rng: np.random.Generator) -> Draws:
    """Random numbers for n rows in `steps` batches of pictures of `size` pixels."""
    whole = np.zeros((n, 9), dtype=np.int32)
    if augment.crop and augment.area == 1:
        whole[:, :2] = rng.integers(-augment.crop, augment.crop + 1, (n, 2), dtype=np.int32)
    if augment.flip:
        whole[:, 2] = rng.integers(0, 2, n, dtype=np.int32)
    if augment.cutout:
        whole[:, 3:5] = rng.integers(0, size, (n, 2), dtype=np.int32) - augment.cutout // 2
    strength = _strength(augment, n, rng) if augment.randaugment else None
    window = _window(augment, n, rng) if augment.area < 1 else None
    weight = np.ones(n, dtype=np.float32)
    mode = np.zeros(steps, dtype=np.int8)
    if augment.mixes:
        chance = rng.random(steps)
        mode[chance < augment.cutmix + augment.mixup] = 2
        mode[chance < augment.cutmix] = 1
        weight = rng.beta(augment.alpha, augment.alpha, n).astype(np.float32)
    if augment.cutmix:
        whole[:, 5:] = _boxes(weight, size, rng)
    return Draws(whole, weight, strength, window, mode)


def _strength(augment: Augmentation, n: int, rng: np.random.Generator) -> Floats:
    """`randaugment` operations per row, with replacement, `identity` among them; signs at random."""
    strength = np.zeros((n, len(OPERATIONS)), dtype=np.float32)
    for _ in range(augment.randaugment):
        chosen = rng.integers(0, len(OPERATIONS) + 1, n)
        rows = np.flatnonzero(chosen < len(OPERATIONS))
        level = augment.magnitude / 10 * rng.random(len(rows), dtype=np.float32)
        strength[rows, chosen[rows]] = np.where(rng.random(len(rows)) < 0.5, -level, level)
    return strength


def _window(augment: Augmentation, n: int, rng: np.random.Generator) -> Floats:
    window = rng.random((n, 4), dtype=np.float32)
    window[:, 0] = augment.area + (1 - augment.area) * window[:, 0]
    window[:, 1] = (2 * window[:, 1] - 1) * np.log(4 / 3)
    return window


def _boxes(weight: Floats, size: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """(n, 4) top, bottom, left, right of squares of area `1 - weight`, clipped at the border."""
    half = np.sqrt(1 - weight) * size / 2
    centre = rng.random((len(weight), 2), dtype=np.float32) * size
    box = np.stack(
        [centre[:, 0] - half, centre[:, 0] + half, centre[:, 1] - half, centre[:, 1] + half], axis=1
    )
    return np.rint(box).clip(0, size).astype(np.int32)


def window_box(window: Floats, width: int, height: int) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of the crop that `window` draws from a picture of `width` x `height`."""
    area, log_ratio, u, v = (float(value) for value in window)
    wide = min(width, (area * width * height) ** 0.5 * np.exp(log_ratio / 2))
    high = min(height, (area * width * height) ** 0.5 * np.exp(-log_ratio / 2))
    left, top = u * (width - wide), v * (height - high)
    return left, top, left + wide, top + high
