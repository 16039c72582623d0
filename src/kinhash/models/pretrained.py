"""An encoder of photos without any training of one's own: a pretrained network and a fixed projection of its features."""

from __future__ import annotations

import torch

from kinhash.models.catalogue import build_backbone
from kinhash.models.device import chosen_device
from kinhash.models.encoder import HashEncoder
from kinhash.models.network import HashNetwork


def pretrained_encoder(bits: int, device: torch.device | str | None = None) -> HashEncoder:
    """To be written."""
    network = HashNetwork(build_backbone("efficientnet-lite0"), bits, frozen=True)
    return HashEncoder(network).to(chosen_device(device))
