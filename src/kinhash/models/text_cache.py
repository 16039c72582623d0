"""Vectors of texts on disk: one SQLite file, which several processes may use at once.

    vectors(id, key, value)     key: a digest of encoder and text; value: float32 numbers, then the CRC-32 of key and numbers

It is never needed: what is damaged is computed again, and where the disk says no, work goes on without it; both give a
`TextCacheWarning`.
"""

from __future__ import annotations

import os
import sqlite3
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinhash.data.download import cache_folder

NAME = "vectors-1.sqlite"
LIMIT = 1 << 30  # bytes: about 650,000 vectors of 384 numbers
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors(id INTEGER PRIMARY KEY, key BLOB UNIQUE, value BLOB)"
_DROP_OLDER_HALF = (
    "DELETE FROM vectors WHERE id <= "
    "(SELECT id FROM vectors ORDER BY id LIMIT 1 OFFSET (SELECT COUNT(*) / 2 FROM vectors))"
)
_AT_ONCE = 500  # keys in one question
_WAIT = 30.0  # seconds for another process to finish writing


class TextCacheWarning(UserWarning):
    """The cache of text vectors cannot be used as it should."""


class VectorCache:
    """Keys to vectors, the oldest dropped when the file would outgrow `limit` bytes."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.path, self.limit = folder / NAME, limit
        self._usable = True

    def get(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that are there, whole."""

        def read(db: sqlite3.Connection) -> None:
            for start in range(0, len(keys), _AT_ONCE):
                asked = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(asked))
                for key, value in db.execute(f"SELECT key, value FROM vectors WHERE key IN ({marks})", asked):
                    if (vector := _unpacked(key, value)) is not None:
                        found[key] = vector

        found: dict[bytes, NDArray[np.float32]] = {}
        self._with_database(read)
        return found

    def put(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Keep `vectors`, all or, if the process dies, none."""

        def write(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR REPLACE INTO vectors(key, value) VALUES (?, ?)", rows)
            if _bytes(db) > self.limit:
                db.execute(_DROP_OLDER_HALF)
            db.execute("COMMIT")

        rows = [(key, _packed(key, vector)) for key, vector in vectors.items()]
        self._with_database(write)

    def _with_database(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do `work`, as far as the database lets it; no error of it gets out."""
        if not self._usable:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)) as db:
                db.text_factory = bytes  # a flipped bit may turn a blob into a text that is none
                db.execute(_SCHEMA)
                work(db)
        except (sqlite3.OperationalError, OSError) as error:
            self._usable = False
            _warn(f"the cache of text vectors {self.path} cannot be used, work goes on without it: {error}")
        except sqlite3.DatabaseError as error:
            self._begin_anew(error)

    def _begin_anew(self, error: Exception) -> None:
        _warn(f"the cache of text vectors {self.path} is damaged ({error}) and begun anew")
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            self._usable = False


def default_cache(cache: bool | str | os.PathLike[str]) -> VectorCache | None:
    """The cache in the user's cache folder, in a folder, or none."""
    if isinstance(cache, bool):
        return VectorCache(cache_folder() / "text") if cache else None
    return VectorCache(Path(cache))


def _packed(key: bytes, vector: NDArray[np.float32]) -> bytes:
    numbers = np.ascontiguousarray(vector, "<f4").tobytes()
    return numbers + zlib.crc32(key + numbers).to_bytes(4, "little")


def _unpacked(key: bytes, value: object) -> NDArray[np.float32] | None:
    """None if a bit of it has changed."""
    if not isinstance(value, bytes):
        return None
    numbers, crc = value[:-4], value[-4:]
    if len(crc) < 4 or zlib.crc32(key + numbers).to_bytes(4, "little") != crc:
        return None
    return np.frombuffer(numbers, "<f4").astype(np.float32)


def _bytes(db: sqlite3.Connection) -> int:
    """Bytes in use; pages that were freed are filled again before the file grows."""
    pages, free, size = (
        int(db.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _warn(message: str) -> None:
    warnings.warn(message, TextCacheWarning, stacklevel=5)
