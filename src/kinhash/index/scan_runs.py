"""A database made ready for the kernels: filters become masks over codes in place, or few codes copied together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinhash.index.checks import Chunk
from kinhash.kernels.scan_gather import gather, passing_rows
from kinhash.kernels.threads import map_blocks

_PIECE = 1 << 16  # rows that a thread copies before it takes the next ones
_SMALL = 4096  # codes of a chunk below which copying chunks together pays
# nanoseconds, measured: what decides between a mask and a copy need not be exact
_COPY_ROW, _COPY_WORD = 5.0, 1.0  # to copy a code that passes
_READ_WORD, _COMPARE_WORD = 0.2, 0.028  # to scan a word: from memory, and with every query


class Run(NamedTuple):
    """Consecutive codes: their words, the number of the first row, the bytes of their mask or None."""

    words: NDArray[np.uint64]
    base: int
    mask: NDArray[np.bool_] | None


@dataclass(frozen=True)
class Runs:
    """A database ready for the kernels; `positions` translates row numbers, None where they are positions."""

    parts: list[Run]
    passing: int
    positions: NDArray[np.int64] | None = None

    @property
    def rows(self) -> int:
        return sum(len(run.words) for run in self.parts)

    def named(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of numbered rows."""
        return rows if self.positions is None else self.positions[rows]


def prepare(
    chunks: Sequence[Chunk],
    allowed: NDArray[Any] | None,
    queries: int,
    threads: int | None,
    *,
    copy: bool = False,
) -> Runs:
    """Few passing codes, or many small chunks, are copied together; otherwise codes stay where they are."""
    chunks = [(np.ascontiguousarray(words), base) for words, base in chunks]
    total = sum(len(words) for words, _ in chunks)
    small = total < _SMALL * len(chunks)
    if allowed is None:
        if len(chunks) == 1 or not small:
            return Runs([Run(words, base, None) for words, base in chunks], total)
        allowed = np.concatenate([np.arange(base, base + len(words)) for words, base in chunks])
    width = chunks[0][0].shape[1]
    if allowed.dtype != np.bool_:
        if copy or small or _copying_pays(len(allowed), total, width, queries):
            return _gathered(chunks, allowed, threads)
        mask = np.zeros(chunks[-1][1] + len(chunks[-1][0]), dtype=np.bool_)
        mask[allowed] = True
        allowed = mask
    counts = [int(np.count_nonzero(allowed[base : base + len(words)])) for words, base in chunks]
    if copy or small or _copying_pays(sum(counts), total, width, queries):
        return _gathered(chunks, _rows_of(chunks, allowed, counts), threads)
    parts = zip(chunks, counts, strict=True)
    runs = [Run(words, base, allowed[base : base + len(words)]) for (words, base), some in parts if some]
    return Runs(runs, sum(counts))


def copied(chunks: Sequence[Chunk], allowed: NDArray[Any] | None, threads: int | None) -> Runs:
    """Like `prepare`, without masks: for what looks at every code."""
    return prepare(chunks, allowed, 0, threads, copy=True)


def _copying_pays(passing: int, total: int, width: int, queries: int) -> bool:
    """Copying what passes takes less time than it saves."""
    a_word = max(_READ_WORD, _COMPARE_WORD * queries)
    return passing * (_COPY_ROW + _COPY_WORD * width) < (total - passing) * width * a_word


def _rows_of(chunks: Sequence[Chunk], mask: NDArray[np.bool_], counts: Sequence[int]) -> NDArray[np.int64]:
    """Positions that a mask lets pass."""
    rows, done = np.empty(sum(counts) + 2, dtype=np.int64), 0
    for (words, base), some in zip(chunks, counts, strict=True):
        if some:
            done += passing_rows(mask.ctypes.data + base, len(words), base, rows[done:])
    return rows[:done]


def _gathered(chunks: Sequence[Chunk], rows: NDArray[np.int64], threads: int | None) -> Runs:
    """The codes at some positions as one run; positions in gaps between chunks hold no code."""
    kept = [
        rows[np.searchsorted(rows, base) : np.searchsorted(rows, base + len(words))] for words, base in chunks
    ]
    found = kept[0] if len(kept) == 1 else np.concatenate(kept)
    width = chunks[0][0].shape[1]
    out = np.empty((len(found), width), dtype=np.uint64)
    pieces, done = [], 0
    for (words, base), inside in zip(chunks, kept, strict=True):
        for first in range(0, len(inside), _PIECE):
            part = inside[first : first + _PIECE]
            pieces.append((words.ctypes.data, base, part, out[done:].ctypes.data, width))
            done += len(part)

    def copy(start: int, stop: int) -> None:
        for piece in pieces[start:stop]:
            gather(*piece)

    map_blocks(copy, len(pieces), 1 if len(found) > _PIECE else max(1, len(pieces)), threads)
    return Runs([Run(out, 0, None)], len(out), found)
