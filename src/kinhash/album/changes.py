"""What happened to a folder since its index was last brought up to date.

A photo is known by its content. A file with the path, size and time stamp of a record is taken to be that photo. For
all others contents decide: a record follows its content to another path; a path whose content is new was
edited, and keeps its record; what is left over is new, or gone. Only files that can decide something are read: those at a
known path with another stamp, and those of the size of a record whose own file is gone or differs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kinhash.album.records import Record, Unreadable
from kinhash.data.walking import Found

Fingerprint = Callable[[str], str | None]  # of the content at a path; None where it cannot be read


@dataclass
class Changes:
    """Every file is in one of the lists, or counted in `unchanged`; every record in one, or kept."""

    unchanged: int = 0
    touched: list[tuple[Record, Found]] = field(default_factory=list)  # same path and content, other stamp
    moved: list[tuple[Record, Found]] = field(default_factory=list)
    edited: list[tuple[Record, Found]] = field(default_factory=list)
    new: list[Found] = field(default_factory=list)
    removed: list[Record] = field(default_factory=list)
    still_unreadable: list[Unreadable] = field(default_factory=list)


def compare(
    records: Iterable[Record],
    files: Iterable[Found],
    fingerprint: Fingerprint,
    unreadable: Mapping[str, Unreadable] | None = None,
    hidden: Iterable[str] = (),
) -> Changes:
    """The changes from `records` to `files`. Records below the folders `hidden`, which could not be looked into, stay."""
    changes = Changes()
    by_path = {record.path: record for record in records}
    doubtful: list[tuple[Record, Found]] = []
    unknown: list[Found] = []
    present = set()
    for file in files:
        present.add(file.path)
        record = by_path.get(file.path)
        known_bad = None if unreadable is None else unreadable.get(file.path)
        if record is not None and (record.size, record.modified) == (file.size, file.modified):
            changes.unchanged += 1
        elif known_bad is not None and (known_bad.size, known_bad.modified) == (file.size, file.modified):
            changes.still_unreadable.append(known_bad)
            present.discard(file.path)  # a record of what was there before it was spoilt goes
        elif record is not None:
            doubtful.append((record, file))
        else:
            unknown.append(file)
    displaced = [by_path[path] for path in by_path.keys() - present if not _below(path, hidden)]
    contents: dict[str, str | None] = {}
    differing: list[tuple[Record, Found]] = []
    for record, file in doubtful:
        contents[file.path] = fingerprint(file.path)
        if contents[file.path] == record.content:
            changes.touched.append((record, file))
        else:
            differing.append((record, file))
            displaced.append(record)
    _follow(displaced, [file for _, file in differing], unknown, contents, fingerprint, changes)
    kept = {record.id for record, _ in changes.moved}
    taken = {file.path for _, file in changes.moved}
    for record, file in differing:
        if file.path in taken:
            continue
        if record.id in kept:
            changes.new.append(file)
        else:
            changes.edited.append((record, file))
            kept.add(record.id)
    changes.new += [file for file in unknown if file.path not in taken]
    changes.new.sort(key=lambda file: file.path)
    changes.removed = sorted((r for r in displaced if r.id not in kept), key=lambda record: record.id)
    return changes


def _follow(
    displaced: Iterable[Record],
    differing: Iterable[Found],
    unknown: Iterable[Found],
    contents: dict[str, str | None],
    fingerprint: Fingerprint,
    changes: Changes,
) -> None:
    """Records whose content now lies at another path."""
    lost: dict[tuple[int, str], list[Record]] = defaultdict(list)
    for record in sorted(displaced, key=lambda record: record.id, reverse=True):
        lost[record.size, record.content].append(record)
    sizes = {size for size, _ in lost}
    for file in sorted([*differing, *unknown], key=lambda file: file.path):
        if file.size not in sizes:
            continue
        if file.path not in contents:
            contents[file.path] = fingerprint(file.path)
        candidates = lost.get((file.size, contents[file.path] or ""))
        if candidates:
            changes.moved.append((candidates.pop(), file))


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(folder == "." or path.startswith(f"{folder}/") for folder in folders)
