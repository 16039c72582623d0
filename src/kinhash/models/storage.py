"""An encoder as a folder: `encoder.json`, one safetensors file, README.md for people. Reading it executes nothing in it."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import torch

from kinhash import __version__
from kinhash.cards.encoder_card import FORMAT, VERSION, WEIGHTS, read_card, read_weights
from kinhash.cards.names import CARD, README
from kinhash.cards.readme import encoder_readme, old_readme
from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import FormatError, InputError, KinhashError, StorageError, require
from kinhash.files import replace_file
from kinhash.models.catalogue import from_card
from kinhash.models.device import chosen_device
from kinhash.models.encoder import HashEncoder
from kinhash.models.hub import PREFIX, pull
from kinhash.models.network import HashNetwork
from kinhash.models.retrieval import Retrieval


def save_encoder(encoder: HashEncoder, folder: str | os.PathLike[str]) -> None:
    """Write the folder. The json is replaced last and in one step: a crash leaves the old encoder or the new one."""
    path = Path(folder)
    tensors = {key: value.detach().cpu().contiguous() for key, value in encoder.network.state_dict().items()}
    raw = require("safetensors.torch", "train").save(tensors)
    crc = zlib.crc32(raw)
    weights = f"weights-{crc:08x}.safetensors"
    card = {
        "format": FORMAT,
        "version": VERSION,
        "kinhash": __version__,
        "weights": weights,
        "bytes": len(raw),
        "crc32": crc,
        "network": encoder.network.card(),
        "preprocessing": None if encoder.preprocessing is None else encoder.preprocessing.card(),
        "classes": list(encoder.classes),
        "semantics": encoder.semantics_card,
        "training": encoder.training_card,
        "retrieval": encoder.retrieval.card(),
    }
    try:
        text = json.dumps(card, indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise InputError(f"the semantics or training card holds what json cannot: {error}") from error
    try:
        path.mkdir(parents=True, exist_ok=True)
        replace_file(path / weights, raw)
        replace_file(path / CARD, text.encode())
        replace_file(path / README, encoder_readme(card, old_readme(path / README)).encode())
        for old in path.glob(WEIGHTS):
            if old.name != weights:
                old.unlink()
    except OSError as error:
        raise StorageError(f"cannot write the encoder to {path}: {error}") from error


def load_encoder(
    folder: str | os.PathLike[str], *, bits: int | None = None, device: torch.device | str | None = None
) -> HashEncoder:
    """Read what `HashEncoder.save` wrote, onto `device`, by default a GPU where there is one.

    `folder` may also be a place on the Hugging Face Hub, "hub:USER/NAME" or "hub:USER/NAME@REVISION" (extra `hub`).
    `bits`: the code length that the caller needs, checked.
    """
    path = pull(folder) if isinstance(folder, str) and folder.startswith(PREFIX) else Path(folder)
    card = read_card(path)
    raw = read_weights(path, card)
    safetensors = require("safetensors.torch", "train")
    try:
        tensors = safetensors.load(raw)
    except Exception as error:  # the reader has an exception class of its own
        raise FormatError(f"{path / card['weights']} is no safetensors file: {error}") from error
    try:
        network_card = dict(card["network"])
        network = HashNetwork(from_card(network_card.pop("backbone")), **network_card)
        shape = card["preprocessing"]
        cards = {key: card[key] for key in ("semantics", "training")}
        classes = [str(name) for name in card["classes"]]
        preprocessing = None if shape is None else Preprocessing.from_card(shape)
        retrieval = Retrieval.from_card(card.get("retrieval"))
    except KinhashError as error:
        raise FormatError(f"{path / CARD}: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path / CARD} is damaged: {error!r}") from error
    if bits is not None:
        retrieval.check_codes()
    if bits is not None and network.bits != bits:
        raise InputError(f"the encoder in {path} makes codes of {network.bits} bits, not {bits}")
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        raise FormatError(f"the weights in {path} belong to another network: {error}") from error
    encoder = HashEncoder(network, preprocessing=preprocessing, classes=classes, retrieval=retrieval, **cards)
    return encoder.to(chosen_device(device))
