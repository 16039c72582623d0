"""What the launches of `fused_launch` compute, in plain PyTorch: the same functions, with the same arguments."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kinhash.models.arranged import group


def _wide(values: Tensor) -> Tensor:
    return values.view(1, -1, 1, 1)


def _sums(value: Tensor, other: Tensor) -> Tensor:
    """(2, C), in place of the parts of all programs."""
    return torch.stack([value.sum((0, 2, 3)), (value * other).sum((0, 2, 3))])


def _active(y: Tensor, norm: Tensor) -> Tensor:
    return F.relu(y * _wide(norm[0]) + _wide(norm[1]))


def _windows(x: Tensor) -> Tensor:
    """(B, H, places, 3, window): the columns that the arranged weights are multiplied with."""
    C = x.shape[1]
    G = group(C)
    padded = F.pad(x, (1, 1, 1, 1)).permute(0, 2, 3, 1)
    rows = padded.unfold(1, 3, 1).unfold(2, G + 2, G)  # (B, H, places, C, 3, G + 2)
    return rows.permute(0, 1, 2, 4, 5, 3).flatten(4)


def convolve(x: Tensor, weights: Tensor, *, norm: Tensor | None = None) -> tuple[Tensor, Tensor]:
    B, C, H, W = x.shape
    if norm is not None:
        x = _active(x, norm)
    y = torch.einsum("bhprk,rkn->bhpn", _windows(x), weights).reshape(B, H, W, C).permute(0, 3, 1, 2)
    return y, _sums(y, y)


def weight_gradient(x: Tensor, dy: Tensor, gradient: Tensor, *, norm: Tensor | None = None) -> None:
    if norm is not None:
        x = _active(x, norm)
    C = x.shape[1]
    size = (C, C, 3, 3)
    gradient.copy_(torch.nn.grad.conv2d_weight(x, size, dy, padding=1).permute(0, 2, 3, 1))


def squares(y: Tensor) -> Tensor:
    return _sums(y, y)


def settle(parts: Tensor, norm: nn.BatchNorm2d, pixels: int) -> Tensor:
    mean = parts[0] / pixels
    var = parts[1] / pixels - mean**2
    for kept, new in ((norm.running_mean, mean), (norm.running_var, var * pixels / (pixels - 1))):
        assert kept is not None
        assert norm.momentum is not None
        kept.lerp_(new, norm.momentum)
    inverse = (var + norm.eps).rsqrt()
    return torch.stack([norm.weight * inverse, norm.bias - mean * norm.weight * inverse, mean, inverse])


def settle_gradient(parts: Tensor, norm: Tensor, pixels: int, dgamma: Tensor, dbeta: Tensor) -> Tensor:
    scale, _, mean, inverse = norm
    dbeta.copy_(parts[0])
    dgamma.copy_(inverse * (parts[1] - mean * parts[0]))
    b = -scale * inverse * dgamma / pixels
    return torch.stack([scale, b, -scale * dbeta / pixels - b * mean])


def activated(y: Tensor, norm: Tensor, x: Tensor | None = None) -> Tensor:
    out = y * _wide(norm[0]) + _wide(norm[1])
    return F.relu(out if x is None else out + x)


def through_norm(g: Tensor, y: Tensor, pre: Tensor) -> Tensor:
    return _wide(pre[0]) * g + _wide(pre[1]) * y + _wide(pre[2])


def below_relu(
    g: Tensor, y: Tensor, *, act: Tensor | None = None, norm: Tensor | None = None, skip: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    if norm is not None:
        act = _active(y, norm)
    assert act is not None
    out = torch.where(act > 0, g if skip is None else g + skip, 0)
    return out, _sums(out, y)


def convolve_back(
    dy: Tensor,
    weights: Tensor,
    y: Tensor,
    *,
    act: Tensor | None = None,
    norm: Tensor | None = None,
    skip: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    return below_relu(convolve(dy, weights)[0], y, act=act, norm=norm, skip=skip)


def halved(x: Tensor) -> Tensor:
    return F.pad(F.avg_pool2d(x, 2), (0, 0, 0, 0, 0, x.shape[1]))


def unhalved(g: Tensor, dx: Tensor) -> Tensor:
    return dx + F.interpolate(g[:, : dx.shape[1]], scale_factor=2) / 4
