"""What drives the compiled scan: filters become runs of codes, batches become tiles, ranges go to threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.kernels.scan import scan_few, scan_one
from kinhash.kernels.scan_batch import scan_batch
from kinhash.kernels.scan_gather import count_distances, gather, passing_rows
from kinhash.kernels.selection import Selection, finish, grown, merge, order_within, start_selection
from kinhash.kernels.sliced import BLOCK
from kinhash.kernels.threads import available_threads

Chunk = tuple[NDArray[np.uint64], int]
Answer = tuple[NDArray[np.int64], NDArray[np.int32]]
Ragged = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]

BATCH = 24  # queries from which slicing a block pays
_TILE = 512  # queries that share one pass over the codes; what they hold stays in the cache
_ROOM = 1 << 26  # bytes for what the queries of a tile hold
_SMALL = 4096  # codes of a chunk below which copying chunks together pays
_DENSE = 0.25  # share of passing codes from which the filter is looked up per find
_WORK = 1 << 20  # words to be read per thread before another thread pays


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


class Piece(NamedTuple):
    """Rows start to stop of a run."""

    run: Run
    start: int
    stop: int


def prepare(chunks: Sequence[Chunk], allowed: NDArray[Any] | None) -> Runs:
    """Few passing codes, or many small chunks, are copied together; otherwise codes stay where they are."""
    total = sum(len(words) for words, _ in chunks)
    if allowed is not None:
        if allowed.dtype != np.bool_:
            if len(allowed) < _DENSE * total:
                return _gathered(chunks, allowed)
            mask = np.zeros(chunks[-1][1] + len(chunks[-1][0]), dtype=np.bool_)
            mask[allowed] = True
            allowed = mask
        passing = sum(int(np.count_nonzero(allowed[base : base + len(words)])) for words, base in chunks)
        if passing < _DENSE * total or total < _SMALL * len(chunks):
            return _gathered(chunks, _rows_of(chunks, allowed, passing))
        return Runs([Run(words, base, allowed[base : base + len(words)]) for words, base in chunks], passing)
    if len(chunks) > 1 and total < _SMALL * len(chunks):
        rows = np.concatenate([np.arange(base, base + len(words)) for words, base in chunks])
        return Runs([Run(np.concatenate([words for words, _ in chunks]), 0, None)], total, rows)
    return Runs([Run(np.ascontiguousarray(words), base, None) for words, base in chunks], total)


def _rows_of(chunks: Sequence[Chunk], mask: NDArray[np.bool_], passing: int) -> NDArray[np.int64]:
    """Positions that a mask lets pass."""
    rows, done = np.empty(passing, dtype=np.int64), 0
    for words, base in chunks:
        done += passing_rows(mask.ctypes.data + base, len(words), base, rows[done:])
    return rows


def _gathered(chunks: Sequence[Chunk], rows: NDArray[np.int64]) -> Runs:
    """The codes at some positions as one run; positions in gaps between chunks hold no code."""
    parts, kept = [], []
    for words, base in chunks:
        inside = rows[np.searchsorted(rows, base) : np.searchsorted(rows, base + len(words))]
        out = np.empty((len(inside), words.shape[1]), dtype=np.uint64)
        contiguous = np.ascontiguousarray(words)
        gather(contiguous.ctypes.data, base, inside, out)
        parts.append(out)
        kept.append(inside)
    words, rows = (parts[0], kept[0]) if len(parts) == 1 else (np.concatenate(parts), np.concatenate(kept))
    return Runs([Run(words, 0, None)], len(words), rows)


def k_nearest(queries: Codes, runs: Runs, k: int, threads: int | None) -> Answer:
    """(m, k) positions and distances, in (distance, position) order."""
    m, bits = len(queries), queries.bits
    rows, distances = np.empty((m, k), dtype=np.int64), np.empty((m, k), dtype=np.int32)
    capacity = min(2 * k + BLOCK, max(runs.rows, k))
    tile = max(4, min(_TILE, _ROOM // (8 * capacity)))
    for first in range(0, m, tile):
        part = queries.words[first : first + tile]
        shares = _shares(runs, len(part), threads)

        def scan(share: list[Piece], part: NDArray[np.uint64] = part) -> Selection:
            state = start_selection(part, bits, k, capacity, bits + 1)
            for piece in share:
                _scan(state, len(part), bits, piece)
            return state

        whole, *others = _each(scan, shares)
        for other in others:
            merge(whole.places(), other.places())
        finish(whole.places(), rows[first : first + tile], distances[first : first + tile])
    return runs.named(rows), distances


def within(queries: Codes, runs: Runs, radius: int, threads: int | None) -> Ragged:
    """(offsets, positions, distances) of everything within a radius."""
    offsets, found = [np.zeros(1, dtype=np.int64)], []
    for first in range(0, len(queries), _TILE):
        part = queries.words[first : first + _TILE]
        ends, rows, distances = _within_tile(part, queries.bits, runs, radius, threads)
        offsets.append(ends + offsets[-1][-1])
        found.append((rows, distances))
    if not found:
        return offsets[0], np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    rows, distances = (np.concatenate(column) for column in zip(*found, strict=True))
    return np.concatenate(offsets), runs.named(rows), distances


def pairs_within(words: NDArray[np.uint64], bits: int, radius: int, threads: int | None) -> Ragged:
    """(left, right, distance) rows of every pair: each tile of codes against itself and what follows."""
    found = []
    for first in range(0, len(words), _TILE):
        part = words[first : first + _TILE]
        rest = words[first:]
        runs = Runs([Run(rest, first, None)], len(rest))
        ends, right, distances = _within_tile(part, bits, runs, radius, threads)
        left = np.repeat(np.arange(first, first + len(part)), np.diff(ends, prepend=0))
        later = left < right
        found.append((left[later], right[later], distances[later]))
    left, right, distances = (np.concatenate(column) for column in zip(*found, strict=True))
    return left, right, distances


def distance_histogram(queries: Codes, chunks: Sequence[Chunk], threads: int | None) -> NDArray[np.int64]:
    """(m, bits + 1) counts of distances."""
    counts = np.zeros((len(queries), queries.bits + 1), dtype=np.int64)

    def count(i: int) -> None:
        rows = np.zeros((4, queries.bits + 1), dtype=np.int64)
        query = np.array(queries.words[i])
        for words, _ in chunks:
            words = np.ascontiguousarray(words)
            count_distances(query, words.ctypes.data, len(words), rows)
        counts[i] = rows.sum(axis=0)

    if len(queries):
        with ThreadPoolExecutor(threads or available_threads()) as pool:
            list(pool.map(count, range(len(queries))))
    return counts


def _within_tile(
    part: NDArray[np.uint64], bits: int, runs: Runs, radius: int, threads: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """(end of every query's hits, rows, distances) in (query, distance, row) order."""

    def scan(share: list[Piece]) -> Selection:
        state = start_selection(part, bits, 0, 0, radius + 1)
        for piece in share:
            while (reached := _scan(state, len(part), bits, piece)) < piece.stop:
                state, piece = grown(state), piece._replace(start=reached)
        return state

    states = _each(scan, _shares(runs, len(part), threads))
    items = _joined([state.items[0, : state.size[0]] for state in states])
    owners = _joined([state.owners[: state.size[0]] for state in states])
    places = np.zeros((len(part), radius + 1), dtype=np.int64)
    rows, distances = np.empty(len(items), dtype=np.int64), np.empty(len(items), dtype=np.int32)
    order_within(owners, items, places, rows, distances)
    return places[:, -1].copy(), rows, distances


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _scan(state: Selection, queries: int, bits: int, piece: Piece) -> int:
    """Run the kernel that suits the number of queries over a piece; the row where it stopped."""
    run, start, stop = piece
    mask = 0 if run.mask is None else run.mask.ctypes.data
    place = (run.words.ctypes.data, start, stop, run.base, mask)
    if queries == 1:
        return scan_one(state.places(), *place)
    if queries < BATCH:
        return scan_few(state.places(), *place)
    return scan_batch(state.places(), bits, *place)


def _shares(runs: Runs, queries: int, threads: int | None) -> list[list[Piece]]:
    """Consecutive rows for every thread, about as many for each."""
    rows = runs.rows
    words = rows * (runs.parts[0].words.shape[1] if runs.parts else 1)
    wanted = threads or available_threads()
    workers = max(1, min(wanted, words * max(1, queries // 8) // _WORK))
    size = -(-max(rows, 1) // workers)
    size = -(-size // BLOCK) * BLOCK
    shares: list[list[Piece]] = [[]]
    free = size
    for run in runs.parts:
        start = 0
        while start < len(run.words):
            if free == 0:
                shares.append([])
                free = size
            stop = min(len(run.words), start + free)
            shares[-1].append(Piece(run, start, stop))
            free -= stop - start
            start = stop
    return shares


def _each(scan: Callable[[list[Piece]], Selection], shares: list[list[Piece]]) -> list[Selection]:
    """Scan every share, on threads where there are several; the states in row order."""
    if len(shares) == 1:
        return [scan(shares[0])]
    with ThreadPoolExecutor(len(shares)) as pool:
        return list(pool.map(scan, shares))
