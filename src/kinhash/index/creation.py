"""Makes the files of an index without items."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from kinhash.arrays import is_whole
from kinhash.errors import InputError, StorageError
from kinhash.index.checks import LONGEST
from kinhash.index.head import NAME, create_head
from kinhash.index.layout import Layout
from kinhash.index.manifest import create_manifest
from kinhash.index.storage import sync_folder


def create_index(path: Path, bits: int, ids: str | None) -> None:
    """Create the folder and its files; the head comes last, and only with it the folder is an index."""
    bits = _checked_bits(bits)
    if ids not in (None, "int", "str"):
        raise InputError(f'ids is "int", "str" or None (the first item decides), got {ids!r}')
    if (path / NAME).exists():
        raise InputError(f"{path} is an index already: open it, or choose another path")
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file: an index is a folder of its own")
    if path.is_dir() and any(path.iterdir()):
        raise InputError(f"{path} is not empty: an index is a folder of its own")
    existed = path.is_dir()
    try:
        path.mkdir(parents=True, exist_ok=True)
        create_manifest(path, Layout(bits, ids))
        create_head(path, bits)
        sync_folder(path)
        sync_folder(path.resolve().parent)
    except OSError as error:
        with suppress(OSError):
            _remove(path, existed)
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot create an index at {path}: {error.strerror or error}") from error


def _remove(path: Path, existed: bool) -> None:
    """Take back what could not be finished, so that it does not stand in the way of another try."""
    for file in path.iterdir():  # the folder was empty
        file.unlink()
    if not existed:
        path.rmdir()


def _checked_bits(bits: int) -> int:
    """Whatever can be searched."""
    if not is_whole(bits) or not 1 <= bits <= LONGEST:
        raise InputError(f"a code length is a whole number of bits from 1 to {LONGEST}, got {bits!r}")
    return int(bits)
