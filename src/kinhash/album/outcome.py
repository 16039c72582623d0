"""What `kh.photos` did, as numbers and as a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinhash.data.walking import text_of


@dataclass
class Outcome:
    """`photos` are in the index now; `unreadable` lists (path, reason), `notes` the same for what was read in part."""

    folder: Path
    index: Path
    encoder: Path
    photos: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unreadable: Sequence[tuple[str, str]] = ()
    notes: Sequence[tuple[str, str]] = ()
    listed: Path | None = None  # the table of what is unreadable
    seconds: float = 0.0

    def __str__(self) -> str:
        counts = {name: getattr(self, name) for name in ("added", "changed", "moved", "removed")}
        said = [f"{count:,} {name}" for name, count in counts.items() if count]
        photos = "1 photo" if self.photos == 1 else f"{self.photos:,} photos"
        told = f"{text_of(str(self.folder))}: {photos}, {', '.join(said) or 'nothing has changed'}"
        if self.unreadable:
            told += f"; {len(self.unreadable):,} unreadable, see {text_of(str(self.listed))}"
        if self.notes:
            told += f"; {len(self.notes):,} read in part, such as {self.notes[0][0]} ({self.notes[0][1]})"
        return told

    def to_dict(self) -> dict[str, Any]:
        """Plain values for json."""
        card: dict[str, Any] = {
            name: text_of(str(getattr(self, name))) for name in ("folder", "index", "encoder")
        }
        card |= {name: getattr(self, name) for name in ("photos", "added", "changed", "moved", "removed")}
        for name in ("unreadable", "notes"):
            card[name] = [{"path": path, "reason": reason} for path, reason in getattr(self, name)]
        return card | {"seconds": round(self.seconds, 3)}
