"""What augmentation does to one batch on the device: a handful of kernels, none of which waits for the host."""

from __future__ import annotations

import torch
from torch import Tensor

from kinhash.data.augment import Augmentation
from kinhash.feeding.randaugment import change_colours, moves, resample
from kinhash.feeding.targets import Targets

# columns of `Draws.whole`
SHIFT, FLIP, CUTOUT, BOX = slice(0, 2), 2, slice(3, 5), slice(5, 9)


def gathered(pictures: Tensor, rows: Tensor, whole: Tensor) -> tuple[Tensor, Tensor]:
    """uint8 (B, S, S, 3) of the rows, shifted and flipped, and a mask (B, S, S, 1) of what lies inside.

    Output pixel (i, j) shows input pixel (i + dy, j' + dx), where j' = j, or S - 1 - j in a flipped picture.
    """
    size = pictures.shape[1]
    line = torch.arange(size, device=pictures.device)
    flip = whole[:, FLIP, None] == 1
    y = line + whole[:, 0, None]
    x = torch.where(flip, size - 1 - line, line) + whole[:, 1, None]
    inner_y, inner_x = y.clamp(0, size - 1), x.clamp(0, size - 1)
    inside = (y == inner_y)[:, :, None] & (x == inner_x)[:, None, :]
    return pictures[rows[:, None, None], inner_y[:, :, None], inner_x[:, None, :]], inside[..., None]


def rectangle(top: Tensor, bottom: Tensor, left: Tensor, right: Tensor, size: int) -> Tensor:
    """(B, size, size) mask of the pixels with top <= i < bottom and left <= j < right."""
    line = torch.arange(size, device=top.device)
    rows = (line >= top[:, None]) & (line < bottom[:, None])
    columns = (line >= left[:, None]) & (line < right[:, None])
    return rows[:, :, None] & columns[:, None, :]


def augmented(
    pictures: Tensor,
    rows: Tensor,
    whole: Tensor,
    strength: Tensor | None,
    maps: Tensor | None,
    augment: Augmentation,
    scale: Tensor,
    shift: Tensor,
) -> Tensor:
    """float32 (B, 3, S, S), channels-last, normalised as scale * x + shift; 0 (the mean colour) where nothing is.

    `maps` (B, 2, 3) are affine maps of positions that the caller adds, for a crop of random size.
    """
    taken, inside = gathered(pictures, rows, whole)
    x = taken.float()
    if strength is not None:
        x = change_colours(x, strength)
    x = shift.addcmul(x, scale)
    if augment.crop:
        x = x * inside
    if strength is not None or maps is not None:
        x = resample(x, joined(None if strength is None else moves(strength), maps))
    if augment.cutout:
        top, left = whole[:, CUTOUT].unbind(1)
        hole = rectangle(top, top + augment.cutout, left, left + augment.cutout, x.shape[1])
        x = x.masked_fill(hole[..., None], 0)
    return x.permute(0, 3, 1, 2)


def joined(first: Tensor | None, second: Tensor | None) -> Tensor:
    """The affine map that applies `first`, then `second`; at least one of the two is there."""
    if first is None or second is None:
        both = first if second is None else second
        assert both is not None
        return both
    linear = second[:, :, :2] @ first[:, :, :2]
    offset = second[:, :, :2] @ first[:, :, 2:] + second[:, :, 2:]
    return torch.cat([linear, offset], dim=2)


def window_maps(window: Tensor) -> Tensor:
    """(B, 2, 3) maps onto the crop that (area, log ratio, u, v) draw from a square; see `augment.window_box`."""
    area, log_ratio, u, v = window.unbind(1)
    wide = (area.sqrt() * torch.exp(log_ratio / 2)).clamp(max=1)
    high = (area.sqrt() * torch.exp(-log_ratio / 2)).clamp(max=1)
    none = torch.zeros_like(u)
    rows = (wide, none, (2 * u - 1) * (1 - wide), none, high, (2 * v - 1) * (1 - high))
    return torch.stack(rows, dim=1).view(-1, 2, 3)


def mixed(x: Tensor, targets: Targets, whole: Tensor, weight: Tensor, mode: int) -> tuple[Tensor, Targets]:
    """Every sample with the one before it in the batch: a box of it (mode 1), or blended in (mode 2); mode 0: as is.

    The targets name both classes in every mode, with weight 1 in mode 0, so that their shape never changes.
    """
    partner = x.roll(1, 0)
    if mode == 1:
        top, bottom, left, right = whole[:, BOX].unbind(1)
        box = rectangle(top, bottom, left, right, x.shape[2])[..., None].permute(0, 3, 1, 2)
        x = torch.where(box, partner, x)
        weight = 1 - ((bottom - top) * (right - left)).float() / x.shape[2] ** 2
    elif mode == 2:
        x = torch.lerp(partner, x, weight.view(-1, *[1] * (x.ndim - 1)))
    else:
        weight = torch.ones_like(weight)
    both = (
        None if part is None else torch.lerp(part.roll(1, 0), part, weight[:, None])
        for part in (targets.vectors, targets.captions)
    )
    return x, Targets(targets.labels, targets.labels.roll(1, 0), weight, *both)
