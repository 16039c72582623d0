"""What a process knows of an index on disk: the last version it has read, kept up to date by reading what is new."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import FormatError, StorageError
from kinhash.index.head import Head, HeadFile
from kinhash.index.ids import Ids
from kinhash.index.layout import Layout, State, segment_name
from kinhash.index.log import decode
from kinhash.index.manifest import Manifest
from kinhash.index.pending import Pending
from kinhash.index.segment import StoredSegment
from kinhash.index.snapshot import Part, Snapshot, locate

_ATTEMPTS = 20  # a writer would have to compact so often between two reads of a reader


class View:
    """Refreshed and read under its lock; the snapshots it gives out need none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = os.getpid()
        self.lock = threading.RLock()
        self.head = HeadFile(folder)
        head = self.head.read()
        self.bits = head.bits
        self.manifest = Manifest(folder, writable=False)
        self.segments: dict[int, StoredSegment] = {}
        self.dead: dict[int, NDArray[np.int64]] = {}
        self.pending = Pending(head.bits)
        self._snapshot: Snapshot | None = None
        self._closed = False
        self._seen = -1  # the commit of the head when last looked at
        self._log_is_read = False
        self.state = self.manifest.state()
        self._arrange(self._newest(head))

    # ---- reading ------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The newest committed version."""
        with self.lock:
            self.refresh()
            if self._snapshot is None:
                stored = [Part(segment, self._all_dead(number)) for number, segment in self.segments.items()]
                fresh = [Part(segment, dead) for segment, dead in self.pending.frozen()]
                layout = self.state.layout
                self._snapshot = Snapshot(self.state.commit, self.bits, layout.ids, tuple(stored + fresh))
            return self._snapshot

    def refresh(self) -> None:
        """Read what was committed since the last time."""
        with self.lock:
            if self._closed:
                raise StorageError(f"the index at {self.folder} is closed: open it again")
            if os.getpid() != self._process:  # SQLite's connections and locks do not survive a fork
                raise StorageError(
                    f"the index at {self.folder} was opened before a fork: open it in each process"
                )
            head = self.head.read()
            if head.commit == self._seen and self._log_is_read:
                return
            try:
                self._catch_up(head)
            except BaseException:
                self.forget()
                raise

    def _catch_up(self, head: Head) -> None:
        state = self._newest(head)
        if state.layout_crc != self.state.layout_crc or state.first != self.state.first:
            self._arrange(state)
        else:
            self.state = state
        self._read_log()
        self._seen, self._log_is_read, self._snapshot = head.commit, True, None

    def _newest(self, head: Head) -> State:
        state = self.manifest.state()
        if state.commit < head.commit:
            raise FormatError(
                f"{self.manifest.path} has lost acknowledged writes: it ends at number {state.commit}, and "
                f"{head.commit} were acknowledged. Its -wal file is damaged or missing: restore the index from a backup"
            )
        if state.layout.bits != head.bits:
            raise self.manifest.damaged(
                f"its code length ({state.layout.bits} bits, the head says {head.bits})"
            )
        return state

    def _arrange(self, state: State) -> None:
        """Open the segments of another layout; a writer may replace them while we do."""
        for attempt in range(_ATTEMPTS):
            try:
                segments = {
                    entry.number: self._opened(state.layout, entry.number, entry.checksum, entry.rows)
                    for entry in state.layout.segments
                }
                with self.manifest.reading():
                    now = self.manifest.state_inside()
                    if now.layout_crc == state.layout_crc:
                        self.dead = self.manifest.dead(now.layout)
                        state = now
                        break
            except FormatError:
                now = self.manifest.state()
                if now.layout_crc == state.layout_crc or attempt == _ATTEMPTS - 1:
                    raise
            state = now
        self.segments, self.state = segments, state
        self.pending, self._log_is_read, self._snapshot = Pending(self.bits), False, None

    def _opened(self, layout: Layout, number: int, checksum: int, rows: int) -> StoredSegment:
        known = self.segments.get(number)
        if known is None:
            known = StoredSegment(self.folder / segment_name(number), number, checksum, layout.bits)
        if known.rows != rows or known.ids.kind != layout.ids:
            raise FormatError(f"{known.file.path} does not fit the manifest, which promises {rows} items")
        return known

    def _read_log(self) -> None:
        """Apply the entries that are new; where the log was folded meanwhile, start over."""
        for _ in range(_ATTEMPTS):
            with self.manifest.reading():
                state = self.manifest.state_inside()
                same = state.layout_crc == self.state.layout_crc and state.first == self.state.first
                if same:
                    start = state.first + self.pending.entries
                    bodies = self.manifest.log(start, state.next)
            if same:
                self.state = state
                for body in bodies:
                    self.pending.apply(decode(body, state.layout.width), self.locate_stored)
                return
            self._arrange(state)
        raise StorageError(f"{self.folder} changes faster than it can be read: try again")

    # ---- looking up ---------------------------------------------------------------------------------

    def locate_stored(self, ids: Ids) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For every id the number of the segment file that holds it, 0 where none does, and the row.

        The log is not consulted: rows that it deleted are found.
        """
        numbers = np.array([*self.segments, 0], dtype=np.int64)
        parts = [Part(segment, self.dead[number]) for number, segment in self.segments.items()]
        which, rows = locate(parts, ids)
        return numbers[which], rows

    def _all_dead(self, number: int) -> NDArray[np.int64]:
        dead, hidden = self.dead[number], self.pending.hidden.get(number)
        if not hidden:
            return dead
        rows = np.array(sorted(hidden), dtype=np.int64)
        return np.insert(dead, np.searchsorted(dead, rows), rows)

    def hidden_rows(self) -> Mapping[int, NDArray[np.int64]]:
        """Rows of segment files that the log deleted or replaced."""
        return {number: np.array(sorted(rows), np.int64) for number, rows in self.pending.hidden.items()}

    # ---- what the writer of this process committed itself -------------------------------------------

    def advance(self, state: State) -> None:
        """A log entry was committed, and the pending items know it."""
        self.state, self._seen, self._snapshot = state, state.commit, None

    def doubt(self) -> None:
        """A commit failed, perhaps halfway: look again before the next use."""
        self._seen, self._snapshot = -1, None

    def forget(self) -> None:
        """Something was interrupted while the log was applied: read all of it again before the next use."""
        self.doubt()
        self.pending, self._log_is_read = Pending(self.bits), False

    def rearranged(self, state: State) -> None:
        """Another layout was committed."""
        self._arrange(state)
        self._log_is_read = True
        self._seen = state.commit

    def close(self) -> None:
        with self.lock:
            self.manifest.close()
            self.head.close()
            self._closed, self._snapshot, self.segments = True, None, {}
