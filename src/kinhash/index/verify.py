"""Reads every byte of an index, and checks what the bytes say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinhash.codes import Codes
from kinhash.errors import FormatError, InputError
from kinhash.index.head import Head
from kinhash.index.ids import ascends
from kinhash.index.segment import StoredSegment
from kinhash.index.snapshot import Snapshot
from kinhash.index.sqlite_files import fingerprint
from kinhash.index.storage import SegmentFile
from kinhash.index.view import View

_ATTEMPTS = 5


@dataclass(frozen=True)
class Verified:
    """What was found to be intact."""

    items: int
    files: int
    bytes: int
    commit: int


def verify_index(view: View) -> Verified:
    """Check all files of the newest version; raises at the first damage.

    A writer may remove files while we read them: what looks like damage counts only if nothing was committed meanwhile.
    """
    for attempt in range(_ATTEMPTS):
        view.refresh()
        head = view.head.read()
        try:
            return _verified(view, head)
        except FormatError:
            if view.head.read() == head or attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError  # the last attempt returned or raised


def _verified(view: View, head: Head) -> Verified:
    view.manifest.check()
    with view.manifest.reading():
        state = view.manifest.state_inside()
        view.manifest.log(state.first, state.next)
        view.manifest.dead(state.layout)
    if head.closed and fingerprint(view.manifest.path) != (head.manifest_bytes, head.manifest_crc):
        raise view.manifest.damaged("the file as a whole")
    snapshot = view.snapshot()
    size = sum(_verify_segment(segment, snapshot.bits) for segment in view.segments.values())
    _check_distinct(view, snapshot)
    size += view.manifest.bytes() + len(head.packed())
    return Verified(len(snapshot), len(view.segments) + 2, size, snapshot.commit)


def _verify_segment(segment: StoredSegment, bits: int) -> int:
    """Every byte from the disk anew, then order of the ids and shape of the codes."""
    path = segment.file.path
    size = SegmentFile(path, segment.file.checksum).verify()
    try:
        Codes(segment.words(), bits)
    except InputError as error:
        raise FormatError(f"{path} is damaged: {error}") from error
    if len(segment.words()) != segment.rows:
        raise FormatError(f"{path} is damaged: it has {len(segment.words())} codes for {segment.rows} items")
    if not ascends(segment.ids.all()):
        raise FormatError(f"{path} is damaged: its ids do not ascend")
    return size


def _check_distinct(view: View, snapshot: Snapshot) -> None:
    """No id may live twice. The ids of one run ascend, so only several runs can hold one twice."""
    if len(snapshot.runs) < 2:
        return
    ids = np.concatenate([run.ids(np.flatnonzero(run.alive)) for run in snapshot.runs])
    ordered = np.sort(ids)
    if (ordered[1:] == ordered[:-1]).any():
        raise FormatError(f"{view.folder} is damaged: an id occurs twice. Restore it from a backup")
