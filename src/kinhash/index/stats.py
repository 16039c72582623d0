"""What an index consists of, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from kinhash.index.head import SIZE
from kinhash.index.snapshot import Snapshot
from kinhash.index.view import View


@dataclass(frozen=True)
class Stats:
    """Sizes and counts of one version. `scans`: how many parts a search goes through one after the other."""

    items: int
    bits: int
    ids: str | None
    commit: int
    segments: int
    scans: int
    in_log: int
    deleted: int
    bytes: int
    metadata: dict[str, str]


def stats_of(view: View, snapshot: Snapshot) -> Stats:
    """Stats of a view whose snapshot this is."""
    kinds: dict[str, set[str]] = {}
    for part in snapshot.parts:
        for key, kind in part.segment.metadata.kinds.items():
            kinds.setdefault(key, set()).add(kind)
    layout = view.state.layout
    return Stats(
        items=len(snapshot),
        bits=snapshot.bits,
        ids=snapshot.kind,
        commit=snapshot.commit,
        segments=len(layout.segments),
        scans=len(snapshot.runs),
        in_log=len(view.pending),
        deleted=sum(entry.rows for entry in layout.segments) + len(view.pending) - len(snapshot),
        bytes=sum(segment.file.nbytes for segment in view.segments.values()) + view.manifest.bytes() + SIZE,
        metadata={key: " or ".join(sorted(found)) for key, found in sorted(kinds.items())},
    )
