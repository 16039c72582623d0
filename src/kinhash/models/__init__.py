"""Backbones, the hash layer, and the encoder that holds both."""

from kinhash.models.catalogue import build_backbone
from kinhash.models.encoder import Encoded, HashEncoder
from kinhash.models.features import extract_features
from kinhash.models.hash_layer import HashLayer
from kinhash.models.network import HashNetwork, Outputs
from kinhash.models.storage import load_encoder

__all__ = [
    "Encoded",
    "HashEncoder",
    "HashLayer",
    "HashNetwork",
    "Outputs",
    "build_backbone",
    "extract_features",
    "load_encoder",
]
