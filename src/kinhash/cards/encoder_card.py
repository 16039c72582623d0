"""Reading the card of an encoder, `encoder.json`, and the bytes of its weights."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinhash.cards.names import CARD, JOINED
from kinhash.errors import FormatError, NotFoundError

FORMAT, VERSION = "kinhash-encoder", 1
WEIGHTS = "weights-*.safetensors"


def read_card(path: Path) -> dict[str, Any]:
    """The card in the folder `path`, its kind and version checked."""
    if (path / JOINED).is_file():
        raise NotFoundError(
            f"{path} holds several encoders, joined: read them with kh.ConcatEncoder.load, or name a folder of one in it"
        )
    if not (path / CARD).is_file():
        raise NotFoundError(f"{path} holds no encoder: {CARD} is missing")
    try:
        card: dict[str, Any] = json.loads((path / CARD).read_text(encoding="utf-8"))
        kind, version = card["format"], card["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{path / CARD} is damaged: {error!r}") from error
    if kind != FORMAT or version != VERSION:
        raise FormatError(
            f"{path} is {kind!r} version {version}; this kinhash reads {FORMAT!r} version {VERSION}"
        )
    return card


def read_weights(path: Path, card: Mapping[str, Any]) -> bytes:
    """The bytes that the card in the folder `path` names; an error where size or checksum differ."""
    try:
        file = path / Path(card["weights"]).name
        size, crc = int(card["bytes"]), int(card["crc32"])
        raw = file.read_bytes()
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path / CARD} is damaged: {error!r}") from error
    except OSError as error:
        raise FormatError(f"the weights that {path / CARD} names cannot be read: {error}") from error
    if len(raw) != size:
        raise FormatError(
            f"{file} has {len(raw)} bytes instead of {size}: it is truncated or of another encoder"
        )
    if zlib.crc32(raw) != crc:
        raise FormatError(f"{file} does not match {CARD}: one of the two is damaged")
    return raw
