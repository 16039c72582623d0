"""Where the index of a folder of photos lies, and who may change it.

FOLDER/.kinhash/index/           the index; ids are paths at first sight, metadata say where each photo lies now
FOLDER/.kinhash/encoder/         the encoder that made its codes, so that they never depend on a later default
FOLDER/.kinhash/photos.json      which folder it belongs to, the version of all this
FOLDER/.kinhash/unreadable.csv   what could not be read, and why
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kinhash.cards.names import HOME
from kinhash.errors import FormatError, InputError, NotFoundError, StorageError
from kinhash.files import replace_file
from kinhash.index.head import NAME as HEAD

_CARD = "photos.json"
_FORMAT, _VERSION = "kinhash-photos", 1


@dataclass(frozen=True)
class Place:
    """A folder of photos, and the folder in which kinhash keeps what it knows of it."""

    folder: Path
    home: Path

    @property
    def index(self) -> Path:
        return self.home / "index"

    @property
    def encoder(self) -> Path:
        return self.home / "encoder"

    @property
    def unreadable(self) -> Path:
        return self.home / "unreadable.csv"


def place_of(folder: str | os.PathLike[str], home: str | os.PathLike[str] | None = None) -> Place:
    """The place of `folder`; `home` is for folders in which nothing may be written."""
    path = Path(folder)
    if not path.is_dir():
        what = "is a file: name the folder that it lies in" if path.exists() else "does not exist"
        raise NotFoundError(f"the folder of photos {path} {what}")
    return Place(path, path / HOME if home is None else Path(home))


def index_at(path: Path) -> Path:
    """`path` itself, or where it is a folder of photos, or what kinhash keeps of one, the index in there."""
    for place in (path, path / "index", path / HOME / "index"):
        if (place / HEAD).is_file():
            return place
    return path


def folder_of(index: Path) -> Path | None:
    """The folder of photos in which an index lies, where it lies in one."""
    return index.parent.parent if index.parent.name == HOME else None


@contextmanager
def sole_use(place: Place) -> Iterator[None]:
    """Be the only process that brings this place up to date; the lock of a process that dies is gone with it."""
    try:
        _refuse_strange(place.home)
        place.home.mkdir(parents=True, exist_ok=True)
        handle = os.open(place.home / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StorageError(
            f"cannot write to {place.home}: {error.strerror}. Name another place for the index with --index FOLDER"
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(
                f"another `kinhash photos` is bringing {place.folder} up to date: wait until it is done. Searching is "
                "possible meanwhile"
            ) from None
        _claim(place)
        yield
    finally:
        os.close(handle)


def _refuse_strange(home: Path) -> None:
    """Nothing is written to a folder that holds other things."""
    if home.is_dir() and not (home / _CARD).is_file() and any(name.name != "lock" for name in home.iterdir()):
        raise InputError(f"{home} is not empty and not from `kinhash photos`: name another folder")


def _claim(place: Place) -> None:
    """Say whose index this is, or refuse one that belongs to another folder."""
    card = place.home / _CARD
    inside = place.home.resolve() == (place.folder / HOME).resolve()
    own = None if inside else os.fsencode(place.folder.resolve()).decode("utf-8", "backslashreplace")
    if card.is_file():
        theirs = _read(card)
        if theirs == own:
            return
        if theirs is not None and own is not None and Path(theirs).is_dir():
            raise InputError(
                f"{place.home} belongs to the folder {theirs}; name another place for {own} with --index"
            )
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "folder": own}, indent=1)
    try:
        replace_file(card, text.encode())
    except OSError as error:
        raise StorageError(f"cannot write {card}: {error.strerror or error}") from error


def _read(card: Path) -> str | None:
    """The folder that a card names; None for the one that the home lies in."""
    try:
        content = json.loads(card.read_text("utf-8"))
        kind, version, folder = content["format"], content["version"], content["folder"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{card} is damaged: {error!r}. Remove it, and it is written anew") from error
    if kind != _FORMAT or version != _VERSION:
        raise FormatError(
            f"{card} is {kind!r} version {version}; this kinhash reads {_FORMAT!r} version {_VERSION}"
        )
    return None if folder is None else str(folder)
