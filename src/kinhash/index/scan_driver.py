"""What drives the compiled scan: batches become tiles, the database becomes pieces that threads take in turn.

Pieces are taken one after the other rather than dealt out beforehand, so a thread that the system holds up costs
no more than the piece it is at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.scan_runs import Run, Runs
from kinhash.kernels.scan import scan_few, scan_one
from kinhash.kernels.scan_batch import pays, scan_batch
from kinhash.kernels.scan_gather import count_distances
from kinhash.kernels.selection import (
    Selection,
    finish,
    grown,
    merge_sorted,
    order_within,
    start_selection,
)
from kinhash.kernels.sliced import BLOCK
from kinhash.kernels.threads import available_threads

Answer = tuple[NDArray[np.int64], NDArray[np.int32]]
Ragged = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
T = TypeVar("T")

TILE = 512  # queries that share one pass over the codes; what they hold stays in the cache
_ROOM = 1 << 26  # bytes for what the queries of a tile hold
_WORK = 1 << 20  # words to be read per thread before another thread pays
_PIECES = 8  # per thread


class Piece(NamedTuple):
    """Rows start to stop of a run."""

    run: Run
    start: int
    stop: int


def k_nearest(queries: Codes, runs: Runs, k: int, threads: int | None) -> Answer:
    """(m, k) positions and distances, in (distance, position) order."""
    m, bits = len(queries), queries.bits
    rows, distances = np.empty((m, k), dtype=np.int64), np.empty((m, k), dtype=np.int32)
    capacity = min(2 * k + BLOCK, max(runs.rows, k))
    tile = max(4, min(TILE, _ROOM // (8 * capacity)))
    for first in range(0, m, tile):
        part = queries.words[first : first + tile]

        def scan(pieces: Iterator[Piece], part: NDArray[np.uint64] = part) -> Selection:
            state = start_selection(part, bits, k, capacity, bits + 1)
            for piece in pieces:
                _scan(state, len(part), bits, piece)
            return state

        states = _together(scan, *_pieces(runs, len(part), threads))
        if len(states) == 1:
            finish(states[0].places(), rows[first : first + tile], distances[first : first + tile])
            continue
        sorted_rows = np.empty((len(states), len(part), k), dtype=np.int64)
        sorted_distances = np.empty((len(states), len(part), k), dtype=np.int32)
        for i, state in enumerate(states):
            finish(state.places(), sorted_rows[i], sorted_distances[i])
        merge_sorted(
            sorted_rows, sorted_distances, rows[first : first + tile], distances[first : first + tile]
        )
    return runs.named(rows), distances


def within(queries: Codes, runs: Runs, radius: int, threads: int | None) -> Ragged:
    """(offsets, positions, distances) of everything within a radius."""
    offsets, found = [np.zeros(1, dtype=np.int64)], []
    for first in range(0, len(queries), TILE):
        part = queries.words[first : first + TILE]
        ends, rows, distances = within_tile(part, queries.bits, runs, radius, threads)
        offsets.append(ends + offsets[-1][-1])
        found.append((rows, distances))
    if not found:
        return offsets[0], np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    rows, distances = (_joined(column) for column in zip(*found, strict=True))
    return np.concatenate(offsets), runs.named(rows), distances


def within_tile(
    part: NDArray[np.uint64], bits: int, runs: Runs, radius: int, threads: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """(end of every query's hits, rows, distances) in (query, distance, row) order."""

    def scan(pieces: Iterator[Piece]) -> list[tuple[int, Selection]]:
        found = []
        for piece in pieces:
            first = piece.run.base + piece.start
            state = start_selection(part, bits, 0, 0, radius + 1)
            while (reached := _scan(state, len(part), bits, piece)) < piece.stop:
                state, piece = grown(state), piece._replace(start=reached)
            size = state.size[0]
            found.append((first, state._replace(items=state.items[0, :size], owners=state.owners[:size])))
        return found

    shares = _together(scan, *_pieces(runs, len(part), threads))
    states = sorted((item for share in shares for item in share), key=lambda item: item[0])
    items = _joined([state.items for _, state in states])
    owners = _joined([state.owners for _, state in states])
    places = np.zeros((len(part), radius + 1), dtype=np.int64)
    rows, distances = np.empty(len(items), dtype=np.int64), np.empty(len(items), dtype=np.int32)
    order_within(owners, items, places, rows, distances)
    return places[:, -1].copy(), rows, distances


def pair_blocks(words: NDArray[np.uint64], bits: int, radius: int, threads: int | None) -> Iterator[Ragged]:
    """(left, right, distance) rows of every pair: each tile of codes against itself and what follows."""
    for first in range(0, len(words), TILE):
        part = words[first : first + TILE]
        rest = words[first:]
        ends, right, distances = within_tile(
            part, bits, Runs([Run(rest, first, None)], len(rest)), radius, threads
        )
        left = np.repeat(np.arange(first, first + len(part)), np.diff(ends, prepend=0))
        later = left < right
        yield left[later], right[later], distances[later]


def distance_histogram(queries: Codes, runs: Runs, threads: int | None) -> NDArray[np.int64]:
    """(m, bits + 1) counts of distances."""
    m, bins = len(queries), queries.bits + 1

    def scan(pieces: Iterator[Piece]) -> NDArray[np.int64]:
        counts = np.zeros((m, 4, bins), dtype=np.int64)
        for (words, _, _), start, stop in pieces:
            for i, query in enumerate(queries.words):
                count_distances(query, words[start:].ctypes.data, stop - start, counts[i])
        return counts.sum(axis=1)

    total: NDArray[np.int64] = np.sum(_together(scan, *_pieces(runs, m, threads)), axis=0)
    return total


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _scan(state: Selection, queries: int, bits: int, piece: Piece) -> int:
    """Run the kernel that suits the number of queries over a piece; the row where it stopped."""
    run, start, stop = piece
    mask = 0 if run.mask is None else run.mask.ctypes.data
    place = (run.words.ctypes.data, start, stop, run.base, mask)
    if queries == 1:
        return scan_one(state.places(), *place)
    if pays(queries, bits):
        return scan_batch(state.places(), bits, *place)
    return scan_few(state.places(), *place)


def _pieces(runs: Runs, queries: int, threads: int | None) -> tuple[list[Piece], int]:
    """Consecutive rows in order, some for every thread; and how many threads pay."""
    words = runs.rows * (runs.parts[0].words.shape[1] if runs.parts else 1)
    work = words * max(1, queries // 8)
    workers = max(1, min(threads or available_threads(), work // _WORK))
    size = -(-max(runs.rows, 1) // (workers * _PIECES if workers > 1 else 1))
    size = -(-size // BLOCK) * BLOCK
    pieces = [
        Piece(run, start, min(start + size, len(run.words)))
        for run in runs.parts
        for start in range(0, len(run.words), size)
    ]
    return pieces, workers


def _together(scan: Callable[[Iterator[Piece]], T], pieces: list[Piece], workers: int) -> list[T]:
    """Workers, this thread one of them, take the next piece until none is left: each sees its own in order."""
    line = iter(pieces)
    if workers == 1:
        return [scan(line)]
    with ThreadPoolExecutor(workers - 1) as pool:
        others = [pool.submit(scan, line) for _ in range(workers - 1)]
        return [scan(line), *(other.result() for other in others)]
