"""`Index`: codes with ids and metadata on disk, searched exactly. One process writes, any number read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from kinhash.arrays import is_whole
from kinhash.codes import Codes
from kinhash.errors import InputError, KinhashError, StorageError
from kinhash.index import queries as asked
from kinhash.index.creation import create_index
from kinhash.index.dedup import Announce, Duplicates, find_duplicates
from kinhash.index.filters import Where, parse_filter
from kinhash.index.ids import check_distinct, checked_ids, id_at, is_one, kind_of
from kinhash.index.results import IdArray, IdHits, Items, RaggedIdHits
from kinhash.index.snapshot import Snapshot
from kinhash.index.stats import Stats, stats_of
from kinhash.index.verify import Verified, verify_index
from kinhash.index.view import View
from kinhash.index.writer import Writer

Location = str | os.PathLike[str]


class Index:
    """An index on disk.

    Every answer belongs to one committed version and equals a stable sort by (distance, id): integers in numeric
    order, strings in the order of their code points. A method that writes returns when its effect is durable; one
    that raises an error has changed nothing. One that is interrupted (KeyboardInterrupt) has done all or nothing, and
    the index tells which. The first write takes the writer's lock, `close` gives it back.

    >>> import tempfile, kinhash as kh
    >>> with kh.Index.create(tempfile.mkdtemp() + "/pets", bits=8) as index:
    ...     index.add(["rex", "tom"], kh.Codes.from_hex(["0f", "f0"], 8), [{"kind": "dog"}, {"kind": "cat"}])
    ...     index.search(kh.Codes.from_hex(["0e"], 8), k=1, where='kind = "cat"').ids.tolist()
    [['tom']]
    """

    def __init__(self, path: Location, *, read_only: bool = False) -> None:
        self.path = _location(path)
        self.read_only = read_only
        self._view = View(self.path)
        self._writer: Writer | None = None

    @classmethod
    def create(cls, path: Location, bits: int, *, ids: str | None = None) -> Index:
        """A new index at a path where nothing is. `ids`: "int" or "str"; by default the first item decides."""
        create_index(_location(path), bits, ids)
        return cls(path)

    @classmethod
    def open(cls, path: Location, *, read_only: bool = False) -> Index:
        """An index that exists. `read_only` refuses writes and needs no permission to write."""
        return cls(path, read_only=read_only)

    # ---- looking ------------------------------------------------------------------------------------

    @property
    def bits(self) -> int:
        """Length of the codes."""
        return self._view.bits

    @property
    def ids_kind(self) -> str | None:
        """ "int" or "str"; None before the first item."""
        return self._snapshot().kind

    def __len__(self) -> int:
        return len(self._snapshot())

    def __contains__(self, name: object) -> bool:
        if not (is_whole(name) or isinstance(name, str)) or name == "":
            return False
        return bool(self._snapshot().locate(checked_ids(name))[0][0] >= 0)

    def __repr__(self) -> str:
        return f"Index({str(self.path)!r}: {len(self)} codes of {self.bits} bits)"

    def get(self, ids: Any) -> Items:
        """Codes and metadata of some ids, in their order; an unknown id is an error."""
        return self._snapshot().get(checked_ids(ids))

    def search(self, queries: Codes, k: int, where: Where | None = None, *, fewer: bool = False) -> IdHits:
        """The k items nearest to every query, among those whose metadata pass `where` (see `index.filters`).

        k above the number of items that pass is an error; with `fewer=True` all of them are returned then.
        """
        return asked.search(self._snapshot(), queries, k, _filter(where), fewer)

    def within(self, queries: Codes, radius: int, where: Where | None = None) -> RaggedIdHits:
        """Every item at Hamming distance <= radius of every query, in (distance, id) order."""
        return asked.within(self._snapshot(), queries, radius, _filter(where))

    def count(self, where: Where | None = None) -> int:
        """How many items pass a filter."""
        return asked.count(self._snapshot(), _filter(where))

    def items(self, where: Where | None = None) -> tuple[IdArray, Codes]:
        """Ids and codes of all items, or of those that pass, in id order; `get` has their metadata."""
        return asked.everything(self._snapshot(), _filter(where))

    def page(self, limit: int, after: Any = None, where: Where | None = None) -> Items:
        """At most `limit` items in id order, those behind the id `after`: an index is walked through in pages."""
        if not is_whole(limit) or limit < 1:
            raise InputError(f"limit is a positive whole number, got {limit!r}")
        snapshot, behind = self._snapshot(), None
        if after is not None:
            given = checked_ids(after)
            if not is_one(after) or snapshot.kind not in (None, kind_of(given)):
                raise InputError(f"after is an id of the index, of kind {snapshot.kind}, got {after!r:.60}")
            behind = id_at(given, 0)
        return snapshot.get(checked_ids(asked.page(snapshot, int(limit), behind, _filter(where))))

    def dedup(
        self,
        radius: int,
        where: Where | None = None,
        *,
        pairs: bool = False,
        progress: Announce | None = None,
    ) -> Duplicates:
        """The groups that pairs of items within a radius form; with `pairs` all of these too.

        `progress` is called with (items done, items).
        """
        return find_duplicates(*self.items(where), radius, pairs=pairs, progress=progress)

    def stats(self) -> Stats:
        """Sizes and counts."""
        with self._view.lock:
            return stats_of(self._view, self._snapshot())

    def verify(self) -> Verified:
        """Read and check every byte; the first damage found is raised as a FormatError."""
        with self._view.lock:
            return verify_index(self._view)

    # ---- changing -----------------------------------------------------------------------------------

    def add(self, ids: Any, codes: Codes, metadata: Any = None) -> None:
        """New items. `metadata`: a dict per id (or None), or a dict of columns as long as the ids.

        A single id may stand alone, and its dict with it; a list of one id takes columns of one value.
        An id that exists, here or twice in `ids`, is an error: see `replace`.
        """
        batch = checked_ids(ids)
        self._checked_codes(codes, len(batch))
        check_distinct(batch)
        items = _items(ids, metadata)
        self._write(lambda writer: writer.add(batch, codes, items), len(batch))

    def replace(self, ids: Any, codes: Codes, metadata: Any = None) -> None:
        """Other codes and other metadata for ids that exist; the old metadata are dropped."""
        batch = checked_ids(ids)
        self._checked_codes(codes, len(batch))
        check_distinct(batch)
        items = _items(ids, metadata)
        self._write(lambda writer: writer.replace(batch, codes, items), len(batch))

    def delete(self, ids: Any) -> None:
        """Remove items; an unknown id is an error, and then none is removed."""
        batch = checked_ids(ids)
        check_distinct(batch)
        self._write(lambda writer: writer.delete(batch), len(batch))

    def compact(self) -> None:
        """Merge everything into one segment without deleted items: the fastest form to search."""
        self._write(lambda writer: writer.compact(), 1)

    def close(self) -> None:
        """Release files and lock. An index that is not closed loses nothing."""
        with self._view.lock:
            try:
                if self._writer is not None:
                    self._writer.close()
            finally:
                self._writer = None
                self._view.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- inside -------------------------------------------------------------------------------------

    def _snapshot(self) -> Snapshot:
        return self._view.snapshot()

    def _checked_codes(self, codes: Codes, count: int) -> None:
        if not isinstance(codes, Codes):
            raise InputError(
                f"codes are Codes, got {type(codes).__name__}: see Codes.from_bits and from_logits"
            )
        if codes.bits != self.bits:
            raise InputError(f"codes of {codes.bits} bits do not fit an index of {self.bits} bits")
        if len(codes) != count:
            raise InputError(f"{count} ids for {len(codes)} codes: pass one id for each code")

    def _write(self, action: Callable[[Writer], None], items: int) -> None:
        if self.read_only:
            raise StorageError(f"{self.path} was opened with read_only=True: open it without to write")
        with self._view.lock:
            self._view.refresh()
            if not items:
                return
            if self._writer is None:
                self._writer = Writer(self._view)
            try:
                action(self._writer)
            except BaseException as error:
                if isinstance(error, KinhashError):
                    self._view.doubt()
                else:
                    self._view.forget()
                with suppress(KinhashError, OSError):  # the disk may be full: keep nothing that is of no use
                    self._view.refresh()
                    self._writer.acknowledge()
                    self._writer.remove_strays()
                raise


def _location(path: Location) -> Path:
    if not isinstance(path, str | os.PathLike) or "\0" in os.fsdecode(path):
        raise InputError(f"an index is a folder, named by a path without NUL characters, got {path!r}")
    return Path(path)


def _items(ids: Any, metadata: Any) -> Any:
    """The dict of a bare id becomes a list of one; with a batch a dict holds columns."""
    return [metadata] if is_one(ids) and isinstance(metadata, Mapping) else metadata


def _filter(where: Where | None) -> Any:
    return None if where is None else parse_filter(where)
