"""The encoder of a folder of photos: chosen the first time, and kept beside the index that it makes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinhash.album.place import Place
from kinhash.cards.encoder_card import read_card
from kinhash.cards.names import CARD
from kinhash.errors import FormatError, InputError, require
from kinhash.index.head import NAME as HEAD

if TYPE_CHECKING:
    from kinhash.models.encoder import HashEncoder


@dataclass(frozen=True)
class Settled:
    """The length of the codes, and the encoder, which is loaded only where something is to be encoded."""

    bits: int
    load: Callable[[], HashEncoder]


def settled_encoder(
    place: Place, encoder: str | os.PathLike[str] | None, bits: int | None, device: str | None
) -> Settled:
    """The encoder with which the index at `place` was made, or where there is none yet the one asked for."""
    if not (place.index / HEAD).is_file():
        made = _chosen(encoder, bits, device)
        made.save(place.encoder)
        return Settled(made.bits, lambda: made)
    card = _card(place.encoder)
    if bits is not None and bits != card["bits"]:
        raise InputError(
            f"the index of {place.folder} holds codes of {card['bits']} bits, not {bits}: remove {place.home} to begin "
            "anew, or name another place with --index"
        )
    if encoder is not None and _card(Path(encoder)) != card:
        raise InputError(
            f"the index of {place.folder} was made by another encoder than {encoder}: remove {place.home} to begin anew, "
            "or name another place with --index"
        )

    def load() -> HashEncoder:
        from kinhash.models.storage import load_encoder

        return load_encoder(place.encoder, device=device)

    return Settled(card["bits"], load)


def _chosen(encoder: str | os.PathLike[str] | None, bits: int | None, device: str | None) -> HashEncoder:
    if encoder is None:
        require("torch", "weights-lite")  # more than torch is missing where nothing was installed for it
    from kinhash.models.pretrained import pretrained_encoder
    from kinhash.models.storage import load_encoder

    if encoder is None:
        return pretrained_encoder(device=device) if bits is None else pretrained_encoder(bits, device)
    loaded = load_encoder(encoder, bits=bits, device=device)
    if loaded.takes != "pictures":
        raise InputError(
            f"the encoder {encoder} takes embeddings and not pictures: put the network that makes the embeddings in "
            "front with encoder.after(BACKBONE), and save that"
        )
    loaded.retrieval.check_codes()
    return loaded


def _card(folder: Path) -> dict[str, Any]:
    """What tells one encoder from another, without loading it: the length of its codes, and its weights."""
    card = read_card(folder)
    try:
        return {"bits": int(card["network"]["bits"]), "bytes": card["bytes"], "crc32": card["crc32"]}
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{folder / CARD} is damaged: {error!r}") from error
