"""The writing half of an index: every method returns when its effect is durable, or raises an error and nothing has changed.

An interrupt (Ctrl-C) is no error in this sense: it may arrive when the commit is made already.

Small writes become entries of the manifest's log: one commit, one fsync. Large ones, and the log once it has grown, become
segments. Segments of like size are merged as they pile up, so their number stays logarithmic. A write that finds such
a duty due does one of them first, which costs at most three fsyncs more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.errors import InputError, NotFoundError, StorageError
from kinhash.index.head import Head
from kinhash.index.ids import Ids, id_at, kind_of, plain
from kinhash.index.layout import Layout, SegmentEntry, State, segment_name
from kinhash.index.log import Entry, encode
from kinhash.index.manifest import Manifest
from kinhash.index.metadata import shred, shred_arrays
from kinhash.index.metadata_checks import checked_rows
from kinhash.index.segment import Content, concat, write_content
from kinhash.index.storage import sync_folder
from kinhash.index.strings import Strings
from kinhash.index.view import View

LARGE = 1 << 16  # items of one call that go into a segment at once; items of the log that are folded into one
MOST_ENTRIES = 2048  # entries of the log, which a process that opens the index must read
_FAN = 8  # segments of one size class that are merged into one of the next
_MERGED = 1 << 20  # larger ones wait for compact: a merge must not hold up an add for long
Dead = Mapping[int, NDArray[np.int64]]


class Writer:
    """Holds the lock of an index; made by the first write, ended by `close`."""

    def __init__(self, view: View) -> None:
        self._view = view
        view.head.lock()
        try:
            manifest = Manifest(view.folder, writable=True)
            head = view.head.read()
            if head.closed:  # before the file changes, durably: its checksum is about to be wrong
                view.head.write(replace(head, closed=False), durable=True)
            view.manifest.close()
            view.manifest = manifest
            view.refresh()
            self.acknowledge()
            self.remove_strays()
        except BaseException:
            view.head.unlock()
            raise

    def close(self) -> None:
        """Settle the manifest, so that `verify` can check it byte by byte; without it nothing is lost either."""
        with suppress(StorageError):  # a full disk
            settled = self._view.manifest.settle()
            if settled is not None:
                head = Head(self._view.bits, self._view.state.commit, True, *settled)
                self._view.head.write(head, durable=True)

    # ---- the verbs ----------------------------------------------------------------------------------

    def add(self, ids: Ids, codes: Codes, metadata: Any) -> None:
        """New items; an id that exists is an error."""
        self._check_kind(ids)
        self._tidy()
        taken = self._exist(ids)
        if taken.any():
            first = id_at(ids, int(np.flatnonzero(taken)[0]))
            raise InputError(f"id {first!r} is in the index already: use replace to change an item")
        self._put("add", ids, codes, metadata)

    def replace(self, ids: Ids, codes: Codes, metadata: Any) -> None:
        """Other codes and metadata for items that exist."""
        self._check_known(ids)
        self._put("replace", ids, codes, metadata)

    def delete(self, ids: Ids) -> None:
        """Remove items that exist."""
        self._check_known(ids)
        if len(ids) < LARGE:
            self._append(Entry("delete", ids))
        else:
            self.fold()
            self._store(None, self._stored_rows(ids), self._view.state.layout)

    def _put(self, op: str, ids: Ids, codes: Codes, metadata: Any) -> None:
        if len(ids) < LARGE:
            rows = checked_rows(metadata, len(ids))
            self._append(Entry(op, ids, codes.words, rows))
            return
        columns: Any = {}
        if isinstance(metadata, Mapping):
            columns = shred_arrays(metadata, len(ids))
        elif metadata is not None:
            columns = shred(checked_rows(metadata, len(ids)) or [])
        self.fold()
        dead = self._stored_rows(ids) if op == "replace" else {}
        array = Strings.from_list(ids) if isinstance(ids, list) else ids
        layout = replace(self._view.state.layout, ids=kind_of(ids))
        self._store(Content(array, codes.words, columns), dead, layout)

    # ---- checks -------------------------------------------------------------------------------------

    def _check_kind(self, ids: Ids) -> None:
        kind = self._view.state.layout.ids
        if kind is not None and kind_of(ids) != kind and len(ids):
            names = {"int": "integers", "str": "strings"}
            raise InputError(f"the ids of this index are {names[kind]}, got {names[kind_of(ids)]}")

    def _check_known(self, ids: Ids) -> None:
        self._check_kind(ids)
        self._tidy()
        known = self._exist(ids)
        if not known.all():
            first = id_at(ids, int(np.flatnonzero(~known)[0]))
            raise NotFoundError(f"id {first!r} is not in the index: nothing was changed")

    def _exist(self, ids: Ids) -> NDArray[np.bool_]:
        pending = self._view.pending
        known = pending.holds(plain(ids))
        numbers, rows = self._view.locate_stored(ids)
        for i in np.flatnonzero(numbers):
            known[i] |= int(rows[i]) not in pending.hidden.get(int(numbers[i]), ())
        return known

    def _stored_rows(self, ids: Ids) -> Dead:
        """The rows of ids that segments hold, by segment."""
        numbers, rows = self._view.locate_stored(ids)
        return {int(number): np.sort(rows[numbers == number]) for number in np.unique(numbers)}

    # ---- the log ------------------------------------------------------------------------------------

    def _append(self, entry: Entry) -> None:
        if not len(entry.ids):
            return
        view = self._view
        kind = view.state.layout.ids or kind_of(entry.ids)
        state = view.manifest.append(view.state, encode(entry), kind)
        view.pending.apply(entry, view.locate_stored)
        self._write_head(state)
        view.advance(state)

    def acknowledge(self) -> None:
        """Count a commit in the head whose writer ended, or was interrupted, before it could: readers look there."""
        if self._view.head.read().commit < self._view.state.commit:
            self._write_head(self._view.state)

    def _write_head(self, state: State) -> None:
        self._view.head.write(Head(self._view.bits, state.commit, False))

    def _tidy(self) -> None:
        """At most one of the duties that keep an index fast, so that no write waits for more than one of them."""
        pending = self._view.pending
        if pending.touched >= LARGE or pending.entries >= MOST_ENTRIES:
            self.fold()
        elif self._view.manifest.checkpoint_is_due:
            self._view.manifest.checkpoint()

    def fold(self) -> None:
        """Move everything in the log into a segment."""
        view = self._view
        if not view.pending.entries:
            return
        content = view.pending.content() if len(view.pending) else None
        self._store(content, view.hidden_rows(), view.state.layout)

    # ---- segments -----------------------------------------------------------------------------------

    def _store(self, content: Content | None, dead: Dead, layout: Layout) -> None:
        """Commit new items as a segment, in one with the segments of like size where these have become many."""
        absorbed = [] if content is None else self._of_like_size(len(content))
        parts = [] if content is None else [content]
        parts += [self._alive(entry, dead) for entry in absorbed]
        gone = {entry.number for entry in absorbed}
        segments = [entry for entry in layout.segments if entry.number not in gone]
        if parts:
            segments.append(self._written(concat([part for part in parts if len(part)]), layout))
        self._rearrange(segments, {n: rows for n, rows in dead.items() if n not in gone}, layout)

    def _of_like_size(self, rows: int) -> list[SegmentEntry]:
        """The segments to be merged with a new one of `rows` items; what they make together may fill the next class."""
        absorbed: list[SegmentEntry] = []
        while rows < _MERGED:
            alike = [
                entry
                for entry in self._view.state.layout.segments
                if _size_class(entry.rows) == _size_class(rows) and entry not in absorbed
            ]
            if len(alike) < _FAN - 1:
                break
            absorbed += alike
            rows += sum(entry.rows for entry in alike)
        return absorbed

    def _alive(self, entry: SegmentEntry, dead: Dead) -> Content:
        """What a segment holds without the rows that died, or die now."""
        none = np.empty(0, dtype=np.int64)
        rows = np.union1d(self._view.dead[entry.number], dead.get(entry.number, none))
        return self._view.segments[entry.number].content(rows)

    def compact(self) -> None:
        """One segment, without dead rows, and a manifest without what it no longer says."""
        self.fold()
        layout = self._view.state.layout
        if len(layout.segments) > 1 or any(entry.dead for entry in layout.segments):
            content = concat([self._alive(entry, {}) for entry in layout.segments])
            self._rearrange([self._written(content, layout)], {}, layout)
        with suppress(StorageError):  # a full disk: the index is compact all the same
            self._view.manifest.shrink()

    def _written(self, content: Content, layout: Layout) -> SegmentEntry:
        """A new segment file, durable, which no layout names yet."""
        number = layout.next_number
        path = self._view.folder / segment_name(number)
        path.unlink(missing_ok=True)  # left behind by a commit that failed
        return SegmentEntry(number, len(content), write_content(path, content, layout.bits))

    def _rearrange(self, segments: Sequence[SegmentEntry], dead: Dead, layout: Layout) -> None:
        """Commit another list of segments, which holds all that the log said; then remove the files it dropped."""
        view = self._view
        old = view.state
        gone = {e.number: e.dead + len(dead.get(e.number, ())) for e in segments}
        kept = tuple(entry for entry in segments if gone[entry.number] < entry.rows)
        number = max([old.layout.next_number - 1, *(entry.number for entry in segments)]) + 1
        layout = replace(layout, segments=kept, next_number=number)
        alive = {entry.number for entry in kept}
        state = view.manifest.rearrange(old, layout, {n: rows for n, rows in dead.items() if n in alive})
        self._write_head(state)
        view.rearranged(state)
        for entry in {*old.layout.segments, *segments} - set(kept):
            if entry.number not in alive:
                (view.folder / segment_name(entry.number)).unlink(missing_ok=True)

    def remove_strays(self) -> None:
        """Segment files that no layout names: a writer died or failed between writing and committing one."""
        named = {segment_name(entry.number) for entry in self._view.state.layout.segments}
        strays = [path for path in self._view.folder.glob("segment-*.kin") if path.name not in named]
        for path in strays:
            path.unlink()
        if strays:
            sync_folder(self._view.folder)


def _size_class(rows: int) -> int:
    """Segments of one class differ by less than a factor of eight; large ones are in none that is merged."""
    return rows.bit_length() // 3 if rows < _MERGED else -1
