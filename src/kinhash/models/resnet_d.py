"""ResNet-50-D: the ResNet with the stem and the downsampling of He et al. (2019, "Bag of Tricks", arXiv:1812.01187)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from kinhash.data.preprocessing import IMAGENET_MEAN, IMAGENET_STD, Preprocessing
from kinhash.models.backbone import Backbone, initialise

BLOCKS = (3, 4, 6, 3)
WIDTHS = (64, 128, 256, 512)
EXPANSION = 4


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 (with the stride), 1 x 1; the shortcut averages 2 x 2 before its 1 x 1 where the stride is 2.

    The last batch norm starts at zero, so that every block starts as the identity.
    """

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = EXPANSION * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.norm3 = nn.BatchNorm2d(outputs)
        nn.init.zeros_(self.norm3.weight)
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1 or inputs != outputs:
            pool = [nn.AvgPool2d(2, ceil_mode=True, count_include_pad=False)] if stride > 1 else []
            project = [nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
            self.shortcut = nn.Sequential(*pool, *project)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        y = F.relu(self.norm2(self.conv2(y)), inplace=True)
        return F.relu(self.norm3(self.conv3(y)) + self.shortcut(x), inplace=True)


def _stem(channels: int = 32) -> nn.Sequential:
    """Three 3 x 3 convolutions and a pooling, in all a quarter of the resolution."""
    layers: list[nn.Module] = []
    for inputs, outputs, stride in ((3, channels, 2), (channels, channels, 1), (channels, 2 * channels, 1)):
        layers.append(nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False))
        layers += [nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.MaxPool2d(3, 2, padding=1))


class ResNet50D(Backbone):
    """Four stages of 3, 4, 6 and 3 bottlenecks; 2048 numbers per picture."""

    def __init__(self, name: str = "resnet50d") -> None:
        preprocessing = Preprocessing(224, IMAGENET_MEAN, IMAGENET_STD, zoom=256 / 224)
        super().__init__(name, EXPANSION * WIDTHS[-1], preprocessing)
        self.stem = _stem()
        layers, inputs = [], WIDTHS[0]
        for stage, (count, width) in enumerate(zip(BLOCKS, WIDTHS, strict=True)):
            for block in range(count):
                layers.append(Bottleneck(inputs, width, 2 if stage and not block else 1))
                inputs = EXPANSION * width
        self.blocks = nn.Sequential(*layers)
        initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        return self.blocks(self.stem(x)).mean((2, 3))
