"""The second half of a `Preprocessing`: from bytes to the numbers that a network takes, on the device."""

from __future__ import annotations

import torch
from torch import Tensor

from kinhash.data.preprocessing import Preprocessing


def scale_and_shift(preprocessing: Preprocessing, device: torch.device | str) -> tuple[Tensor, Tensor]:
    """(3,) a and b with `normalised = a * x + b` for x in 0..255."""
    std = torch.tensor(preprocessing.std, device=device)
    mean = torch.tensor(preprocessing.mean, device=device)
    return 1 / (255 * std), -mean / std


def normalise(preprocessing: Preprocessing, images: Tensor) -> Tensor:
    """uint8 (n, h, w, 3) -> float32 (n, 3, h, w) in channels-last memory."""
    a, b = scale_and_shift(preprocessing, images.device)
    return b.addcmul(images.float(), a).permute(0, 3, 1, 2)
