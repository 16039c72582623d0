"""An encoder of photos that nobody has to train: a pretrained network, and a projection that follows from its weights.

The 1000 classes of ImageNet, which the network was trained to tell apart, are rows w_c of its classifier. The principal
components of these rows span the part of a feature x in which things differ; what lies outside (the light, the
background) changes no class. With P the first d components, R a fixed rotation that shares their unlike variances out
among the bits, and m the mean feature of photos, bit j is [((x - m) P R)_j >= 0]. No photo of the user is looked
at, so codes do not change when photos come, and those of several folders can be compared.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import torch
from numpy.typing import NDArray

from kinhash.arrays import is_whole
from kinhash.errors import InputError
from kinhash.models.device import chosen_device
from kinhash.models.efficientnet_lite import EfficientNetLite0, class_weights
from kinhash.models.encoder import HashEncoder
from kinhash.models.network import HashNetwork

MOST_BITS = 512
_SEED = 0  # of the rotation


def pretrained_encoder(bits: int = 256, device: torch.device | str | None = None) -> HashEncoder:
    """Photos to codes of `bits`, by efficientnet-lite0; the same encoder whenever and wherever it is made."""
    if not is_whole(bits) or not 1 <= bits <= MOST_BITS:
        raise InputError(f"the pretrained encoder makes codes of 1 to {MOST_BITS} bits, got {bits!r}")
    network = HashNetwork(EfficientNetLite0(), int(bits), frozen=True)
    mean, deviation = feature_statistics()
    directions = projection(class_weights(), int(bits))
    with torch.no_grad():
        tensors = network.hash.state_dict()
        tensors["linear.weight"].copy_(torch.from_numpy(directions.T))
        tensors["norm.running_mean"].copy_(torch.from_numpy(mean @ directions))
        tensors["norm.running_var"].copy_(torch.from_numpy(deviation**2 @ directions**2))
    training = {"method": "pretrained", "projection": "principal components of the classifier, rotated"}
    return HashEncoder(network, training=training).to(chosen_device(device))


def projection(classes: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    """P R of shape (width, bits), from the weights of a classifier (classes, width)."""
    centred = classes - classes.mean(0)
    components = np.linalg.svd(centred, full_matrices=False)[2][:bits]
    components *= _signs(components)  # which of two opposite vectors comes depends on the machine
    rotation, triangle = np.linalg.qr(np.random.default_rng(_SEED).normal(size=(bits, bits)))
    rotated: NDArray[np.float64] = components.T @ (rotation * np.sign(np.diag(triangle)))
    return rotated


def feature_statistics() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of the features of photos, from `tools/build_photo_features.py`."""
    with (files("kinhash.models") / "resources" / "photo-features.npy").open("rb") as file:
        mean, deviation = np.load(file, allow_pickle=False).astype(np.float64)
    return mean, deviation


def _signs(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """+1 or -1 for each row (as a column): the sign of its largest entry."""
    largest = np.abs(rows).argmax(1)
    signs: NDArray[np.float64] = np.sign(rows[np.arange(len(rows)), largest])[:, None]
    return signs
