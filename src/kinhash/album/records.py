"""What the index knows of the photos: one record for each, read from its metadata and written there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinhash.data.walking import Found, path_of, text_of
from kinhash.errors import FormatError, StorageError
from kinhash.files import replace_file

if TYPE_CHECKING:
    from kinhash.album.reading import Photo
    from kinhash.index.index import Index

# a file whose time stamp is so near to the look at it may change again without a new one
RECENT = 2_000_000_000  # nanoseconds: the coarsest clock of a file system in use, FAT's


@dataclass(frozen=True, slots=True)
class Record:
    """A photo of the index. `path` is where it lay when it was last seen; `id` where it lay first."""

    id: str
    path: str
    size: int
    modified: int
    content: str


def read_records(index: Index) -> list[Record]:
    """All records of an index, in the order of the ids."""
    ids = index.items()[0]
    if not len(ids):
        return []
    try:
        return [
            Record(name, path_of(item["path"]), item["bytes"], item["modified"], item["content"])
            for name, item in zip(ids.tolist(), index.get(ids).metadata, strict=True)
        ]
    except (KeyError, TypeError) as error:
        raise FormatError(
            f"{index.path} holds items that `kinhash photos` did not add ({error} is missing): name another place "
            "with --index"
        ) from error


def placed(item: dict[str, Any], found: Found, seen: int) -> dict[str, Any]:
    """Metadata of a photo whose content is known, as it lies at `found` now."""
    return {**item, "path": text_of(found.path), "bytes": found.size, "modified": stamp(found, seen)}


def described(photo: Photo, found: Found, seen: int) -> dict[str, Any]:
    """Metadata of a photo that has just been read."""
    item = {"content": photo.content, "width": photo.width, "height": photo.height}
    item |= {"taken": photo.taken} if photo.taken else {}
    item |= {"note": photo.note} if photo.note else {}
    return placed(item, found, seen)


def stamp(found: Found, seen: int) -> int:
    """The time stamp to remember; 0, which never agrees, where the file was written just before it was `seen`."""
    return found.modified if found.modified < seen - RECENT else 0


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is no photo, or a folder that nobody may look into, and why."""

    path: str
    reason: str
    size: int = -1  # of a file that was opened; others are looked at anew every time
    modified: int = -1


def read_unreadable(path: Path) -> dict[str, Unreadable]:
    """By path, what `write_unreadable` wrote; a damaged list is as good as none, since its files are read again."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [
                Unreadable(path_of(row["path"]), row["reason"], int(row["bytes"]), int(row["modified"]))
                for row in csv.DictReader(file)
            ]
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return {}
    return {row.path: row for row in rows}


def write_unreadable(path: Path, rows: Iterable[Unreadable]) -> None:
    """A table for people, and for the next time; where nothing is to be said, there is none."""
    listed = sorted(rows, key=lambda row: row.path)
    try:
        if not listed:
            path.unlink(missing_ok=True)
            return
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["path", "reason", "bytes", "modified"])
        writer.writerows((text_of(row.path), text_of(row.reason), row.size, row.modified) for row in listed)
        replace_file(path, text.getvalue().encode())
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
