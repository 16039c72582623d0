"""SQLite files: how they are opened, what their errors mean, and a checksum that leaves their locks alone."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kinhash.errors import FormatError, StorageError

_DAMAGE = ("malformed", "no such table", "no such column", "not a database", "decode", "unsupported file")


def opened(uri: str) -> sqlite3.Connection:
    """A connection without transactions of its own; `uri` names file and mode."""
    # the owner of a manifest holds a lock around every use, so threads may share the connection
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def fingerprint(path: Path) -> tuple[int, int]:
    """Size and CRC-32 of a manifest whose write-ahead log is empty.

    SQLite reads the pages, over a connection of its own that has none of them cached: opening and closing the file
    in any other way would take away the POSIX locks that every connection of this process has on it.
    """
    with sqlite_errors(path):
        db = opened(f"{path.resolve().as_uri()}?mode=ro&immutable=1")
        try:
            pages = db.serialize()
        finally:
            db.close()
    return path.stat().st_size, zlib.crc32(pages)


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """SQLite's exceptions as ours: the disk said no, or the file is damaged."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if any(sign in text for sign in _DAMAGE):
            raise FormatError(f"{path} is damaged: {error}. Restore the index from a backup") from error
        raise StorageError(f"cannot use {path}: {error}. Nothing was changed") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError) as error:
        raise FormatError(f"{path} is damaged: {error}. Restore the index from a backup") from error
