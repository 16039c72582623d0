"""Wide residual networks for 32-pixel pictures (Zagoruyko & Komodakis 2016, arXiv:1605.07146)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import InputError
from kinhash.models.backbone import Backbone, initialise


class PreActivationBlock(nn.Module):
    """`x + conv(relu(BN(conv(relu(BN(x))))))`; where the shape changes, a 1 x 1 convolution of `relu(BN(x))` replaces x."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        same = inputs == outputs and stride == 1
        self.shortcut = None if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(x), inplace=True)
        if self.shortcut is not None:
            x = self.shortcut(y)
        y = F.relu(self.norm2(self.conv1(y)), inplace=True)
        return x + self.conv2(y)


class WideResNet(Backbone):
    """WRN-`depth`-`factor`: three stages of (depth - 4) / 6 blocks with 16, 32 and 64 times `factor` channels."""

    def __init__(self, name: str, depth: int, factor: int) -> None:
        super().__init__(name, 64 * factor, Preprocessing())
        blocks, rest = divmod(depth - 4, 6)
        if blocks < 1 or rest or factor < 1:
            raise InputError(
                f"{name}: a wide ResNet has 6 n + 4 layers (10, 16, 22, 28, ...) and a factor >= 1"
            )
        self.stem = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        layers, width = [], 16
        for stage in range(3):
            for block in range(blocks):
                after = 16 * factor * 2**stage
                layers.append(PreActivationBlock(width, after, 2 if stage and not block else 1))
                width = after
        self.blocks = nn.Sequential(*layers)
        self.norm = nn.BatchNorm2d(width)
        initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(self.stem(x))
        return F.relu(self.norm(x), inplace=True).mean((2, 3))
