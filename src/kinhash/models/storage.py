"""An encoder as a folder: `encoder.json` and one safetensors file. Reading it executes nothing that it contains."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from kinhash import __version__
from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import FormatError, InputError, KinhashError, NotFoundError, StorageError, require
from kinhash.files import replace_file
from kinhash.models.catalogue import from_card
from kinhash.models.device import chosen_device
from kinhash.models.encoder import HashEncoder
from kinhash.models.network import HashNetwork
from kinhash.models.retrieval import Retrieval

CARD = "encoder.json"
FORMAT, VERSION = "kinhash-encoder", 1


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
        for old in path.glob("weights-*.safetensors"):
            if old.name != weights:
                old.unlink()
    except OSError as error:
        raise StorageError(f"cannot write the encoder to {path}: {error}") from error


def load_encoder(
    folder: str | os.PathLike[str], *, bits: int | None = None, device: torch.device | str | None = None
) -> HashEncoder:
    """Read what `HashEncoder.save` wrote, onto `device`, by default a GPU where there is one.

    `bits`: the code length that the caller needs, checked.
    """
    path = Path(folder)
    card = _read_card(path)
    tensors = _read_weights(path, card)
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


def _read_card(path: Path) -> dict[str, Any]:
    if not (path / CARD).is_file():
        raise NotFoundError(f"{path} holds no encoder: {CARD} is missing")
    try:
        card: dict[str, Any] = json.loads((path / CARD).read_text())
        kind, version = card["format"], card["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{path / CARD} is damaged: {error!r}") from error
    if kind != FORMAT or version != VERSION:
        raise FormatError(
            f"{path} is {kind!r} version {version}; this kinhash reads {FORMAT!r} version {VERSION}"
        )
    return card


def _read_weights(path: Path, card: Mapping[str, Any]) -> dict[str, torch.Tensor]:
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
    safetensors = require("safetensors.torch", "train")
    try:
        tensors: dict[str, torch.Tensor] = safetensors.load(raw)
    except Exception as error:  # the reader has an exception class of its own
        raise FormatError(f"{file} is no safetensors file: {error}") from error
    return tensors
