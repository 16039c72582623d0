"""Photos to codes, in batches that the index can take one by one; the only part of this that needs torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from kinhash.album.reading import Photo, read_ahead
from kinhash.codes import Codes
from kinhash.data.images import Pixels
from kinhash.data.preprocessing import Preprocessing
from kinhash.data.walking import Found
from kinhash.errors import InputError
from kinhash.feeding.normalising import normalise
from kinhash.models.encoder import HashEncoder

BATCH = 64  # photos that become durable together
_AT_ONCE = 16  # photos in the network: what passes between its layers then stays in the cache


@dataclass(frozen=True)
class Encoded:
    """Some files that were tried: the readable ones with their codes; why the others are none."""

    tried: int
    files: list[Found]
    photos: list[Photo]
    codes: Codes
    unreadable: list[tuple[Found, str]]


def encoded(
    folder: Path, files: Sequence[Found], encoder: HashEncoder, workers: int = 0
) -> Iterator[Encoded]:
    """Codes of `files` in order, in batches; the next photos are read while the network looks at these."""
    preprocessing = encoder.preprocessing
    if preprocessing is None:
        raise InputError(
            "this encoder takes embeddings and not pictures: put the network that makes the embeddings in front, with "
            "encoder.after(BACKBONE)"
        )
    photos = read_ahead((folder / file.path for file in files), preprocessing, workers)
    for start in range(0, len(files), BATCH):
        part = files[start : start + BATCH]
        good: list[tuple[Found, Photo]] = []
        bad: list[tuple[Found, str]] = []
        for file, photo in zip(part, photos, strict=False):
            if isinstance(photo, str):
                bad.append((file, photo))
            else:
                good.append((file, photo))
        codes = _codes(encoder, preprocessing, [photo.pixels for _, photo in good])
        yield Encoded(len(part), [file for file, _ in good], [photo for _, photo in good], codes, bad)


@torch.inference_mode()
def _codes(encoder: HashEncoder, preprocessing: Preprocessing, pixels: Sequence[Pixels]) -> Codes:
    if not pixels:
        return Codes.from_logits(np.empty((0, encoder.bits)))
    parts = []
    for start in range(0, len(pixels), _AT_ONCE):
        part = torch.from_numpy(np.stack(pixels[start : start + _AT_ONCE]))
        parts.append(encoder.network.floats(normalise(preprocessing, part.to(encoder.device))))
    return Codes.from_logits(torch.cat(parts).cpu().numpy())
