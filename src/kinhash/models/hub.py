"""Encoders from and to the Hugging Face Hub: json, safetensors and README.md are all that travels."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kinhash.cards.encoder_card import WEIGHTS, read_card, read_weights
from kinhash.cards.names import CARD, README
from kinhash.errors import InputError, NotFoundError, ServerError, StorageError, require

PREFIX = "hub:"
if TYPE_CHECKING:
    from kinhash.models.encoder import HashEncoder

_FILES = [CARD, README, WEIGHTS]  # nothing else is sent or fetched
_PATIENCE = 10  # seconds for a first answer


def push(
    encoder: HashEncoder | str | os.PathLike[str],
    repository: str,
    *,
    private: bool = False,
    token: str | None = None,
    message: str = "An encoder of kinhash",
) -> str:
    """Send an encoder, or the folder of one with its README.md, to "USER/NAME" on the Hugging Face Hub; gives its address.

    The repository is made where there is none. `token`: by default the one that `hf auth login` keeps, or HF_TOKEN.
    """
    if not isinstance(encoder, str | os.PathLike):
        with tempfile.TemporaryDirectory() as folder:
            encoder.save(folder)
            return push(folder, repository, private=private, token=token, message=message)
    name, revision = _parsed(repository)
    path = Path(encoder)
    read_weights(path, read_card(path))  # damage stays here
    hub = require("huggingface_hub", "hub")
    client = hub.HfApi(endpoint=_endpoint(), token=token)
    try:
        with _quiet(hub):
            client.create_repo(name, private=private, exist_ok=True)
            client.upload_folder(
                repo_id=name,
                folder_path=path,
                revision=revision,
                commit_message=message,
                allow_patterns=_FILES,
                delete_patterns=[WEIGHTS],
            )
    except Exception as error:  # the client has a dozen exceptions of its own
        raise ServerError(
            f"{path} could not be sent to {name} on the Hugging Face Hub: {_reason(error)}"
        ) from error
    return f"{client.endpoint}/{name}"


def pull(repository: str, folder: str | os.PathLike[str] | None = None, *, token: str | None = None) -> Path:
    """Fetch the encoder "USER/NAME" or "USER/NAME@REVISION" from the Hugging Face Hub, check its weights, give its folder.

    Without `folder` it lies in the Hub's cache and is fetched once.
    """
    name, revision = _parsed(repository)
    if folder is not None and (Path(folder) / CARD).exists():
        raise StorageError(f"{folder} already holds an encoder: remove it, or name another folder")
    options: dict[str, Any] = {} if folder is None else {"local_dir": folder}
    hub = require("huggingface_hub", "hub")
    try:
        with _quiet(hub):
            found = hub.snapshot_download(
                name,
                revision=revision,
                allow_patterns=_FILES,
                endpoint=_endpoint(),
                token=token,
                etag_timeout=_PATIENCE,
                **options,
            )
    except Exception as error:
        raise NotFoundError(
            f"the encoder {name!r} could not be fetched from the Hugging Face Hub: {_reason(error)}"
        ) from error
    path = Path(found)
    read_weights(path, read_card(path))
    return path


def _parsed(repository: str) -> tuple[str, str | None]:
    found = re.fullmatch(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?", repository.removeprefix(PREFIX))
    if found is None:
        raise InputError(f"a place on the Hub is written USER/NAME or USER/NAME@REVISION, got {repository!r}")
    return found[1], found[2]


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT") or None


def _reason(error: BaseException) -> str:
    """What the client says, with what it was caused by."""
    said = " ".join(str(error).split())[:300] or type(error).__name__
    return said if error.__cause__ is None else f"{said} ({_reason(error.__cause__)})"


@contextmanager
def _quiet(hub: ModuleType) -> Iterator[None]:
    """The library draws no bars."""
    drawn = not hub.utils.are_progress_bars_disabled()
    hub.utils.disable_progress_bars()
    try:
        yield
    finally:
        if drawn:
            hub.utils.enable_progress_bars()
