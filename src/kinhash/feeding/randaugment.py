"""RandAugment for a whole batch on the device: every operation runs once over all pictures, with strength 0 where
it was not drawn. After Cubuk et al. (2020, arXiv:1909.13719), with two differences: the order of the operations is
fixed, and there is no histogram equalisation.
"""

from __future__ import annotations

from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from kinhash.data.augment import COLOURS

REACH = 0.9  # of a factor around 1
TURN = 0.5236  # 30 degrees
SHEAR = 0.3
SHIFT = 0.3  # of the side
BITS_LOST = 4


@lru_cache
def _grey_weights(device: torch.device) -> Tensor:
    """Made once per device: a copy from the host in every step would wait for the device."""
    return torch.tensor([0.299, 0.587, 0.114], device=device)


def change_colours(x: Tensor, strength: Tensor) -> Tensor:
    """Pictures (B, H, W, 3) with values in 0..255 -> the same, recoloured by `strength` (B, operations)."""
    s = {name: strength[:, i].view(-1, 1, 1, 1) for i, name in enumerate(COLOURS)}
    grey = _grey_weights(x.device)
    x = (x * (1 + REACH * s["brightness"])).clamp_(0, 255)
    mean = (x * grey).sum(3, keepdim=True).mean((1, 2), keepdim=True)
    x = torch.lerp(mean, x, 1 + REACH * s["contrast"]).clamp_(0, 255)
    x = torch.lerp((x * grey).sum(3, keepdim=True), x, 1 + REACH * s["saturation"]).clamp_(0, 255)
    x = (x + REACH * s["sharpness"] * (x - _smooth(x))).clamp_(0, 255)
    low, high = x.amin((1, 2), keepdim=True), x.amax((1, 2), keepdim=True)
    spread = (x - low) * (255 / (high - low).clamp_min(1))
    x = torch.where(s["autocontrast"] != 0, spread, x)
    x = torch.where(x >= 256 * (1 - s["solarize"].abs()), 255 - x, x)
    step = torch.exp2((BITS_LOST * s["posterize"].abs()).round())
    return torch.where(s["posterize"] != 0, (x / step).floor() * step, x)


def moves(strength: Tensor) -> Tensor:
    """(B, 2, 3) affine maps from output to input positions, both in [-1, 1] as (x, y): a turn, then a shear."""
    turn, shear_x, shear_y, shift_x, shift_y = strength[:, len(COLOURS) :].unbind(1)
    cos, sin = torch.cos(TURN * turn), torch.sin(TURN * turn)
    a, b = SHEAR * shear_x, SHEAR * shear_y
    first = (cos + a * sin, a * cos - sin, 2 * SHIFT * shift_x)
    second = (b * cos + sin, cos - b * sin, 2 * SHIFT * shift_y)
    return torch.stack([*first, *second], dim=1).view(-1, 2, 3)


def resample(x: Tensor, maps: Tensor) -> Tensor:
    """Pictures (B, H, W, 3) at the positions that `maps` (B, 2, 3) point to, bilinear; zeros come from outside."""
    x = x.permute(0, 3, 1, 2)
    grid = F.affine_grid(maps, list(x.shape), align_corners=False)
    moved = F.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
    return moved.permute(0, 2, 3, 1).contiguous()


def _smooth(x: Tensor) -> Tensor:
    """Each pixel averaged with its neighbours, itself counted five times as much as any of the eight."""
    mean = F.avg_pool2d(x.permute(0, 3, 1, 2), 3, stride=1, padding=1, count_include_pad=False)
    return (9 * mean.permute(0, 2, 3, 1) + 4 * x) / 13
