"""Brings the index of a folder of photos up to date; what it has done stays, wherever it is interrupted."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from typing import Any

from kinhash.album import records
from kinhash.album.changes import Changes, compare
from kinhash.album.encoders import settled_encoder
from kinhash.album.outcome import Outcome
from kinhash.album.place import Place, place_of, sole_use
from kinhash.album.reading import Photo, content_of
from kinhash.album.records import Record, Unreadable
from kinhash.codes import Codes
from kinhash.data.images import reading_threads
from kinhash.data.walking import Found, Walk, text_of, walk
from kinhash.errors import InputError
from kinhash.index.head import NAME as HEAD
from kinhash.index.index import Index

Progress = Callable[[int, int], Any]


def photos(
    folder: str | os.PathLike[str],
    *,
    encoder: str | os.PathLike[str] | None = None,
    index: str | os.PathLike[str] | None = None,
    bits: int | None = None,
    device: str | None = None,
    workers: int = 0,
    progress: Progress | None = None,
) -> Outcome:
    """Make the index of all photos below `folder`, or bring it up to date: only what changed is read and encoded.

    The first time, `encoder` names the folder of a trained encoder, by default a pretrained network is used, and `bits`
    the length of its codes; both are kept with the index, in FOLDER/.kinhash or at `index`. Photos are recognised
    by content: moved ones keep id and code. Every batch is durable when it is done, so an interrupted call loses
    nothing, and the next one goes on from there. `progress` is called with (photos done, photos to do).

    `kh.Index.open(outcome.index)` searches them, and `kh.load_encoder(outcome.encoder)` makes the codes to search for.
    """
    started = time.monotonic()
    place = place_of(folder, index)
    reading_threads(workers)  # refuses a wrong number before anything is kept
    if not place.home.exists():
        _walked(place)  # of a folder without photos nothing is kept
    with sole_use(place):
        seen = time.time_ns()
        found = _walked(place)
        settled = settled_encoder(place, encoder, bits, device)
        with _opened(place, settled.bits) as opened:
            unreadable = records.read_unreadable(place.unreadable)
            hidden = [passed.path for passed in found.passed_over if passed.folder]
            changes = compare(
                records.read_records(opened),
                found.files,
                lambda path: content_of(place.folder / path),
                unreadable,
                hidden,
            )
            update = Update(place, opened, seen)
            update.unreadable = changes.still_unreadable
            update.unreadable += [Unreadable(passed.path, passed.reason) for passed in found.passed_over]
            update.rearrange(changes)
            update.encode(changes, settled.load, workers, progress)
        records.write_unreadable(place.unreadable, update.unreadable)
        return update.outcome(time.monotonic() - started)


class Update:
    """The steps of one call. Each write leaves an index that agrees with the folder as far as it has come."""

    def __init__(self, place: Place, index: Index, seen: int) -> None:
        self.place, self.index, self.seen = place, index, seen
        self.added = self.changed = self.moved = self.removed = 0
        self.unreadable: list[Unreadable] = []
        self.notes: list[tuple[str, str]] = []
        self.photos = len(index)

    def rearrange(self, changes: Changes) -> None:
        """Moved files keep id and code; what is gone is removed."""
        followed = [*changes.moved, *changes.touched]
        if followed:
            items = self.index.get([record.id for record, _ in followed])
            pairs = zip(items.metadata, followed, strict=True)
            self.index.replace(
                [record.id for record, _ in followed],
                items.codes,
                [records.placed(item, file, self.seen) for item, (_, file) in pairs],
            )
        self.moved = len(changes.moved)
        self._remove(changes.removed)

    def encode(
        self, changes: Changes, load: Callable[[], Any], workers: int, progress: Progress | None
    ) -> None:
        """New photos become items, edited ones take the place of what they were."""
        owners = {file.path: record for record, file in changes.edited}
        files = [*(file for _, file in changes.edited), *changes.new]
        if not files:
            return
        from kinhash.album.encoding import encoded

        done = 0
        for batch in encoded(self.place.folder, files, load(), workers):
            self._put(batch.files, batch.photos, batch.codes, owners)
            for file, reason in batch.unreadable:
                self.unreadable.append(Unreadable(file.path, reason, file.size, file.modified))
            self._remove([owners[file.path] for file, _ in batch.unreadable if file.path in owners])
            done += batch.tried
            if progress is not None:
                progress(done, len(files))

    def outcome(self, seconds: float) -> Outcome:
        """What was done, after the index was closed."""
        return Outcome(
            self.place.folder,
            self.place.index,
            self.place.encoder,
            self.photos,
            self.added,
            self.changed,
            self.moved,
            self.removed,
            [(text_of(row.path), text_of(row.reason)) for row in self.unreadable],
            self.notes,
            self.place.unreadable if self.unreadable else None,
            seconds,
        )

    def _put(
        self, files: Sequence[Found], photos: Sequence[Photo], codes: Codes, owners: dict[str, Record]
    ) -> None:
        metadata = [
            records.described(photo, file, self.seen) for photo, file in zip(photos, files, strict=True)
        ]
        known = [row for row, file in enumerate(files) if file.path in owners]
        fresh = [row for row, file in enumerate(files) if file.path not in owners]
        if known:
            ids = [owners[files[row].path].id for row in known]
            self.index.replace(ids, codes[known], [metadata[row] for row in known])
        if fresh:
            ids = self._free_ids([files[row] for row in fresh])
            self.index.add(ids, codes[fresh], [metadata[row] for row in fresh])
        self.notes += [(item["path"], item["note"]) for item in metadata if "note" in item]
        self.changed += len(known)
        self.added += len(fresh)
        self.photos += len(fresh)

    def _free_ids(self, files: Sequence[Found]) -> list[str]:
        """The paths; where one is the id of a photo that has moved on, with a number."""
        ids: dict[str, None] = {}
        for file in files:
            name, number = text_of(file.path), 1
            while name in ids or name in self.index:
                number += 1
                name = f"{text_of(file.path)} ({number})"
            ids[name] = None
        return list(ids)

    def _remove(self, gone: Sequence[Record]) -> None:
        if gone:
            self.index.delete([record.id for record in gone])
        self.removed += len(gone)
        self.photos -= len(gone)


def _opened(place: Place, bits: int) -> Index:
    """The index, made where there is none yet; what a first call left behind that was killed before is thrown away."""
    if (place.index / HEAD).is_file():
        return Index.open(place.index)
    if place.index.is_dir():
        shutil.rmtree(place.index)
    return Index.create(place.index, bits, ids="str")


def _walked(place: Place) -> Walk:
    found = walk(place.folder)
    if not found.files:
        raise InputError(_nothing(place, found))
    return found


def _nothing(place: Place, found: Walk) -> str:
    told = f"{place.folder} holds no photos: no file below it has one of the usual suffixes"
    if found.passed_over:
        first = found.passed_over[0]
        told = f"{place.folder} holds no photos that can be read; {text_of(first.path)}: {first.reason}"
    if (place.index / HEAD).is_file():
        told += f". The index in {place.home} was left as it is: remove it if the photos are gone for good"
    return told
