"""The manifest: what an index consists of, in SQLite (write-ahead log, synchronous=FULL).

    state(name, body, crc)      'commit': the number of the last write and the range of the log
                                'layout': code length, kind of ids, segments
    log(seq, body, crc)         small writes that no segment holds yet (see log.py)
    dead(seq, segment, rows, crc)   rows of segments that were deleted or replaced, int64

SQLite does not checksum its pages, so every row carries the CRC-32 of its content, and counts and ranges in `state` tell
whether a row is missing.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import FormatError
from kinhash.index.layout import Layout, SegmentEntry, State
from kinhash.index.sqlite_files import fingerprint, opened, sqlite_errors

NAME = "manifest.sqlite"
_CHECKPOINT_BYTES = 1 << 22  # the write-ahead log may grow so far before it is moved into the file
_COMMIT_BYTES = 1 << 14  # about what a commit writes beside its content
_SCHEMA = """
CREATE TABLE state(name TEXT PRIMARY KEY, body TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE log(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE dead(seq INTEGER PRIMARY KEY, segment INTEGER NOT NULL, rows BLOB NOT NULL, crc INTEGER NOT NULL);
"""


class Manifest:
    """An open manifest. Reads see one version each; writes commit durably or change nothing."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self.path = folder / NAME
        if not self.path.is_file():
            raise FormatError(f"{self.path} is missing. Restore this file from a backup")
        self._writable, self._frozen = writable, False
        self._since_checkpoint = 0  # bytes committed
        self._connect()

    def _connect(self) -> None:
        uri = self.path.resolve().as_uri()
        with sqlite_errors(self.path):
            self._db = opened(f"{uri}?mode={'rw' if self._writable else 'ro'}")
            if self._writable:
                self._db.execute("PRAGMA synchronous=FULL")
                self._db.execute("PRAGMA wal_autocheckpoint=0")  # see `checkpoint`
            elif not os.access(self.path.parent, os.W_OK):
                self._connect_without_permission(uri)

    def _connect_without_permission(self, uri: str) -> None:
        """SQLite wants to create files beside its own; where it may not, and nobody writes, it can do without."""
        try:
            self._db.execute("SELECT count(*) FROM state").fetchone()
            self._frozen = False
        except sqlite3.OperationalError:
            log = Path(f"{self.path}-wal")
            if log.exists() and log.stat().st_size:
                raise
            self._db = opened(f"{uri}?mode=ro&immutable=1")
            self._frozen = True

    def close(self) -> None:
        self._db.close()

    def state(self) -> State:
        """The last committed version."""
        with self.reading():
            return self.state_inside()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Everything read inside belongs to one version."""
        if self._frozen:
            self._db.close()
            self._connect()
        with sqlite_errors(self.path):
            try:  # around BEGIN too: an interrupt may arrive as it returns
                self._db.execute("BEGIN")
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def state_inside(self) -> State:
        """The version of the `reading` block that this is called in."""
        rows = self._db.execute("SELECT name, body, crc FROM state").fetchall()
        found = {name: (body, crc) for name, body, crc in rows}
        for name in ("commit", "layout"):
            if name not in found or not _intact(str(found[name][0]).encode(), name, found[name][1]):
                raise self.damaged(f"row {name!r} of its state")
        commit = json.loads(found["commit"][0])
        if commit["layout"] != found["layout"][1]:
            raise self.damaged("its layout, which belongs to another commit,")
        body = json.loads(found["layout"][0])
        segments = tuple(SegmentEntry(**entry) for entry in body.pop("segments"))
        layout = Layout(**body, segments=segments)
        return State(commit["commit"], commit["first"], commit["next"], layout, found["layout"][1])

    def log(self, first: int, past: int) -> list[bytes]:
        """Log entries first <= seq < past, all of them."""
        query = "SELECT seq, body, crc FROM log WHERE seq >= ? AND seq < ? ORDER BY seq"
        rows = self._db.execute(query, (first, past)).fetchall()
        if [seq for seq, _, _ in rows] != list(range(first, past)):
            raise self.damaged("its log, where an entry is missing,")
        for seq, body, crc in rows:
            if not _intact(body, f"log {seq}", crc):
                raise self.damaged(f"entry {seq} of its log")
        return [body for _, body, _ in rows]

    def dead(self, layout: Layout) -> dict[int, NDArray[np.int64]]:
        """The dead rows of every segment, ascending."""
        parts: dict[int, list[NDArray[np.int64]]] = {entry.number: [] for entry in layout.segments}
        for seq, segment, rows, crc in self._db.execute(
            "SELECT seq, segment, rows, crc FROM dead ORDER BY seq"
        ):
            if not _intact(rows, f"dead {seq} {segment}", crc) or segment not in parts:
                raise self.damaged(f"entry {seq} of its dead rows")
            parts[segment].append(np.frombuffer(rows, dtype="<i8").astype(np.int64, copy=False))
        none = np.empty(0, dtype=np.int64)
        dead = {number: np.sort(np.concatenate([none, *found])) for number, found in parts.items()}
        for entry in layout.segments:
            rows = dead[entry.number]
            if len(rows) != entry.dead or (len(rows) and rows[-1] >= entry.rows):
                raise self.damaged(f"its dead rows of segment {entry.number}")
        return dead

    def append(self, state: State, body: bytes, ids: str | None) -> State:
        """Commit one log entry; `ids` is the kind of ids from now on."""
        layout = state.layout if ids == state.layout.ids else replace(state.layout, ids=ids)
        new = replace(state, commit=state.commit + 1, next=state.next + 1, layout=layout)
        with self._writing():
            crc = _crc(body, f"log {state.next}")
            self._since_checkpoint += len(body)
            self._db.execute("INSERT INTO log VALUES (?, ?, ?)", (state.next, body, crc))
            return self._store(state, new)

    def rearrange(self, state: State, layout: Layout, dead: Mapping[int, NDArray[np.int64]]) -> State:
        """Commit another layout that holds everything the log said; `dead` are rows that died with it."""
        counts = {number: len(rows) for number, rows in dead.items()}
        entries = (replace(entry, dead=entry.dead + counts.get(entry.number, 0)) for entry in layout.segments)
        layout = replace(layout, segments=tuple(entries))
        new = State(state.commit + 1, state.next, state.next, layout)
        keep = [entry.number for entry in layout.segments]
        with self._writing():
            self._since_checkpoint += sum(rows.nbytes for rows in dead.values())
            self._db.execute("DELETE FROM log")
            gone = {entry.number for entry in state.layout.segments} - set(keep)
            self._db.executemany("DELETE FROM dead WHERE segment = ?", [(number,) for number in gone])
            for number in keep:
                if counts.get(number):
                    self._insert_dead(number, dead[number])
            return self._store(state, new)

    def _insert_dead(self, number: int, rows: NDArray[np.int64]) -> None:
        (seq,) = self._db.execute("SELECT coalesce(max(seq), 0) + 1 FROM dead").fetchone()
        body = rows.astype("<i8").tobytes()
        row = (seq, number, body, _crc(body, f"dead {seq} {number}"))
        self._db.execute("INSERT INTO dead VALUES (?, ?, ?, ?)", row)

    def _store(self, old: State, new: State) -> State:
        crc = old.layout_crc
        if new.layout != old.layout or old.commit < 0:
            body = json.dumps(asdict(new.layout))
            crc = _crc(body.encode(), "layout")
            self._db.execute("INSERT OR REPLACE INTO state VALUES ('layout', ?, ?)", (body, crc))
        commit = json.dumps({"commit": new.commit, "first": new.first, "next": new.next, "layout": crc})
        row = (commit, _crc(commit.encode(), "commit"))
        self._db.execute("INSERT OR REPLACE INTO state VALUES ('commit', ?, ?)", row)
        return replace(new, layout_crc=crc)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with sqlite_errors(self.path):
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield
                self._db.execute("COMMIT")
                self._since_checkpoint += _COMMIT_BYTES
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @property
    def checkpoint_is_due(self) -> bool:
        return self._since_checkpoint >= _CHECKPOINT_BYTES

    def checkpoint(self) -> None:
        """Move what was committed from the write-ahead log into the file, as far as readers allow.

        The writer asks for it between its other duties: SQLite would add it to the commit that crosses the line.
        """
        with sqlite_errors(self.path):
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._since_checkpoint = 0

    def shrink(self) -> None:
        """Leave nothing of what was removed in the file, as far as readers allow; no version changes."""
        with sqlite_errors(self.path):
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._since_checkpoint = 0

    def bytes(self) -> int:
        """Size on the disk, with the write-ahead log."""
        log = Path(f"{self.path}-wal")
        return self.path.stat().st_size + (log.stat().st_size if log.exists() else 0)

    def settle(self) -> tuple[int, int] | None:
        """Bring everything into the one file; its size and CRC-32, or None while a reader is in the way."""
        with sqlite_errors(self.path):
            busy, _, _ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return None if busy else fingerprint(self.path)

    def check(self) -> None:
        """SQLite's own check of its structure."""
        with sqlite_errors(self.path):
            found = [row[0] for row in self._db.execute("PRAGMA integrity_check")]
        if found != ["ok"]:
            raise self.damaged(f"its structure ({found[0]})")

    def damaged(self, what: str) -> FormatError:
        return FormatError(
            f"{self.path} is damaged: {what} does not match its checksum. "
            "Restore the index from a backup, or build it anew"
        )


def create_manifest(folder: Path, layout: Layout) -> None:
    """A manifest without items, on the disk when this returns."""
    path = folder / NAME
    with sqlite_errors(path):
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.executescript(_SCHEMA)
        db.close()
    manifest = Manifest(folder, writable=True)
    empty = State(-1, 1, 1, layout)
    with manifest._writing():
        manifest._store(empty, replace(empty, commit=0))
    manifest.close()


def _crc(body: bytes, place: str) -> int:
    """Checksum of a row, begun with where it belongs, so that a row in the wrong place is seen."""
    return zlib.crc32(body, zlib.crc32(place.encode()))


def _intact(body: Any, place: str, crc: Any) -> bool:
    return isinstance(body, bytes) and _crc(body, place) == crc
