"""The ResNet of He et al. (2016, arXiv:1512.03385) for 32-pixel pictures, widened as in Barz & Denzler (2019)."""

from __future__ import annotations

from itertools import groupby

import torch.nn.functional as F
from torch import Tensor, nn

from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import InputError
from kinhash.models import fused_block
from kinhash.models.backbone import Backbone, initialise

CHANNELS = (32, 64, 128)


class BasicBlock(nn.Module):
    """`relu(shortcut(x) + BN(conv(relu(BN(conv(x))))))`; the shortcut has no weights.

    Where the resolution halves, the shortcut averages 2 x 2 pixels and fills the new channels with zeros.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.halves = inputs != outputs
        self.new_channels = outputs - inputs
        stride = 2 if self.halves else 1
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        y = self.norm2(self.conv2(y))
        if self.halves:
            x = F.avg_pool2d(x, 2, ceil_mode=True)
            x = F.pad(x, (0, 0, 0, 0, 0, self.new_channels))
        return F.relu(y + x, inplace=True)


class CifarResNet(Backbone):
    """`depth` = 6 n + 2 layers: three stages of n blocks with 32, 64 and 128 channels. ResNet-110w has n = 18.

    `fused`: training in half precision on a GPU uses kernels of our own (`fused_block`) where they fit.
    """

    def __init__(self, name: str, depth: int) -> None:
        super().__init__(name, CHANNELS[-1], Preprocessing())
        self.fused = False
        blocks, rest = divmod(depth - 2, 6)
        if blocks < 1 or rest:
            raise InputError(f"{name}: the depth of this ResNet is 6 n + 2 (8, 14, 20, ... 110), got {depth}")
        self.stem = nn.Conv2d(3, CHANNELS[0], 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(CHANNELS[0])
        widths = [width for width in CHANNELS for _ in range(blocks)]
        self.blocks = nn.Sequential(
            *(
                BasicBlock(before, after)
                for before, after in zip([CHANNELS[0], *widths], widths, strict=False)
            )
        )
        initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        y = self.stem(x)
        if self.fused and self.training and fused_block.fits(self._norms(), y):
            x = fused_block.norm_relu(y, self.norm)
            for _, stage in groupby(self._basic(), key=lambda block: block.conv1.out_channels):
                x = fused_block.run(list(stage), x)
        else:
            x = self.blocks(F.relu(self.norm(y), inplace=True))
        return x.mean((2, 3))

    def _norms(self) -> list[nn.Module]:
        return [self.norm, *(norm for block in self._basic() for norm in (block.norm1, block.norm2))]

    def _basic(self) -> list[BasicBlock]:
        return [block for block in self.blocks if isinstance(block, BasicBlock)]
