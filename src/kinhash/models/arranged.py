"""The weights of 3 x 3 convolutions as the kernels of `fused_triton` read them."""

from __future__ import annotations

from torch import Tensor


def group(channels: int) -> int:
    """Neighbouring pixels that one position of a tile computes."""
    return 2 if channels == 32 else 1


def arranged(weights: Tensor) -> tuple[Tensor, Tensor]:
    """(L, C, C, 3, 3) -> (L, 3, window, columns) for the convolutions, and for their transposes.

    Rows of such a matrix are (pixel of the window, channel), columns (pixel of the position, channel).
    """
    both = weights.permute(0, 3, 4, 2, 1), weights.flip(3, 4).permute(0, 3, 4, 1, 2)
    L, C = weights.shape[:2]
    G = group(C)
    wide = weights.new_zeros(2, L, 3, G + 2, C, G, C)
    for i, w in enumerate(both):
        for g in range(G):
            wide[i, :, :, g : g + 3, :, g] = w
    ahead, back = wide.view(2, L, 3, (G + 2) * C, G * C)
    return ahead, back
