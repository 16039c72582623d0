"""Sentences in the space of pictures: what an encoder with a text head makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from kinhash.arrays import finite_rows
from kinhash.errors import InputError
from kinhash.feeding.sentences import EncodesTexts
from kinhash.models.text import text_encoder
from kinhash.models.text_head import TextHead

if TYPE_CHECKING:
    from kinhash.models.encoder import HashEncoder

Floats = NDArray[np.float32]
_BATCH = 4096


@torch.inference_mode()
def sentence_floats(encoder: HashEncoder, texts: str | Sequence[str]) -> Floats:
    """(n, width) of one text or several; the sentence encoder is loaded when the first is asked for."""
    vectors = sentence_encoder(encoder).encode([texts] if isinstance(texts, str) else list(texts))
    return vector_floats(encoder, vectors)


def sentence_encoder(encoder: HashEncoder) -> EncodesTexts:
    """What makes the vectors that the text head takes."""
    head = text_head(encoder)
    if encoder.text_encoder is None:
        encoder.text_encoder = text_encoder(head.encoder, device=encoder.device)
    return encoder.text_encoder


@torch.inference_mode()
def vector_floats(encoder: HashEncoder, vectors: Floats) -> Floats:
    """(n, width) of sentences that are vectors already, made by the sentence encoder of the text head."""
    head = text_head(encoder)
    rows = torch.from_numpy(finite_rows(vectors, "the vectors of sentences", np.float32))
    if rows.shape[1] != head.inputs:
        raise InputError(
            f"this text head takes vectors of {head.inputs} numbers, as {head.encoder!r} makes them, got {rows.shape[1]}"
        )
    made = [head(rows[i : i + _BATCH].to(encoder.device)).cpu() for i in range(0, len(rows), _BATCH)]
    return np.concatenate([np.empty((0, head.bits), np.float32), *made])


def text_head(encoder: HashEncoder) -> TextHead:
    """The head, or what to do where there is none."""
    if encoder.network.text is None:
        raise InputError(
            "this encoder knows pictures alone, so a sentence has no code: train one on captioned pictures, with "
            "kinhash train DATA --captions or kh.train(..., text='minilm')"
        )
    return encoder.network.text
