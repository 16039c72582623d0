"""What a committed version of an index consists of."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinhash.codes import width_of


@dataclass(frozen=True)
class SegmentEntry:
    """A segment of the layout: its number names the file, its checksum identifies the content."""

    number: int
    rows: int
    checksum: int
    dead: int = 0  # how many rows the dead table names


@dataclass(frozen=True)
class Layout:
    """What changes rarely."""

    bits: int
    ids: str | None  # "int", "str", or None before the first item
    next_number: int = 1
    segments: tuple[SegmentEntry, ...] = ()

    @property
    def width(self) -> int:
        """Words of a code."""
        return width_of(self.bits)


@dataclass(frozen=True)
class State:
    """One committed version: the layout, and the log entries first <= seq < next on top of it."""

    commit: int
    first: int
    next: int
    layout: Layout
    layout_crc: int = field(default=0, compare=False)


def segment_name(number: int) -> str:
    return f"segment-{number:08d}.kin"
