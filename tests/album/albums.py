"""Folders of small photos, and an encoder that is quick because it was never trained."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import kinhash as kh
from kinhash.models.coders import Affine
from kinhash.models.encoder import HashEncoder
from kinhash.models.network import HashNetwork

LONG_AGO = 1_600_000_000


@cache
def encoder() -> HashEncoder:
    torch.manual_seed(0)
    return HashEncoder(HashNetwork("resnet8w", 32))


@cache
def coded_encoder() -> HashEncoder:
    """One whose bits are not the signs of the hash layer, but of what a coder makes of it."""
    torch.manual_seed(0)
    coder = Affine(8, 32)
    network = HashNetwork("resnet8w", 32, width=8, coder=coder.card(), unit=True)
    network.coder = Affine.of(torch.randn(8, 32), torch.randn(8))
    return HashEncoder(network)


def photo(path: Path, seed: int, size: tuple[int, int] = (40, 30)) -> Path:
    """A photo whose content depends on `seed` alone, written long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    coarse = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC).save(path)
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def items(index: Path) -> dict[str, tuple[str, str]]:
    """id -> (path, code) of everything in an index."""
    with kh.Index.open(index, read_only=True) as opened:
        ids, codes = opened.items()
        metadata = opened.get(ids).metadata if len(ids) else []
        pairs = zip(ids.tolist(), metadata, digits(codes), strict=True)
        return {name: (item["path"], code) for name, item, code in pairs}


def digits(codes: kh.Codes) -> list[str]:
    return [row.tobytes().hex() for row in codes.words]
