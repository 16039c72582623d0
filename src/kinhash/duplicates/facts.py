"""What a person weighs when one of several alike pictures is to stay: its size, its age, where it lies."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kinhash.data.images import opened
from kinhash.errors import KinhashError


@dataclass(frozen=True)
class Facts:
    """A picture file; zeros where something is not known."""

    path: Path
    name: str
    bytes: int = 0
    width: int = 0
    height: int = 0
    modified: int = 0  # nanoseconds

    def __str__(self) -> str:
        if not self.bytes:
            return "not found"
        day = datetime.datetime.fromtimestamp(self.modified / 1e9, datetime.UTC).date()
        return f"{self.width} × {self.height}, {_size(self.bytes)}, {day}"


def facts_of(path: Path, name: str) -> Facts:
    """Of the file at `path`, without decoding its pixels."""
    try:
        state = path.stat()
        with opened(path) as image:
            return Facts(path, name, state.st_size, *image.size, state.st_mtime_ns)
    except (KinhashError, OSError):
        return Facts(path, name)


def best_first(group: Iterable[Facts]) -> list[Facts]:
    """The one to keep first: most pixels, then the oldest, then the largest file, then the first name."""
    return sorted(group, key=lambda one: (-one.width * one.height, one.modified, -one.bytes, one.name))


def _size(count: int) -> str:
    for unit, most in (("MB", 1e6), ("kB", 1e3)):
        if count >= most:
            return f"{count / most:.1f} {unit}"
    return f"{count} bytes"
