"""The captions of a split, ready to be learned from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.feeding.sentences import EncodesTexts, Sentences
from kinhash.methods import METHODS, Method

# Recipe overrides, chosen on photos of Flickr8k held back from training: captions speak of the whole picture; a few thousand
# pairs of pictures and captions are soon learned by heart
WITH_TEXT: Mapping[str, Any] = {
    "whole": True,
    "hidden": 2048,
    "dropout": 0.5,
    "input_dropout": 0.2,
    "mixup": 0.0,
    "cutmix": 0.0,
}


def sentences_for(
    split: Split, text: str | EncodesTexts | None, method: Method, name: str
) -> Sentences | None:
    """The captions as vectors of the encoder `text`, a name or an encoder; None where no text head is wanted."""
    if text is None:
        return None
    if not method.matches_text:
        able = ", ".join(name for name, known in METHODS.items() if known.matches_text)
        raise InputError(f"{name} trains no text head: leave text={text!r} out, or use one of {able}")
    if not isinstance(split, Split):
        raise InputError(f"train takes a split, such as data.train; got {type(split).__name__}")
    if isinstance(text, str):
        from kinhash.models.text import text_encoder

        text = text_encoder(text)
    return Sentences.of(split.captions, text)
