"""What drives the compiled scan: batches become tiles, threads share the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.scan_runs import Run, Runs
from kinhash.index.scan_threads import Crew, Piece
from kinhash.kernels.scan import scan_few, scan_one
from kinhash.kernels.scan_batch import pays, scan_batch
from kinhash.kernels.scan_counts import count_distances
from kinhash.kernels.selection import (
    Selection,
    finish,
    grown,
    merge_sorted,
    order_within,
    start_selection,
)
from kinhash.kernels.sliced import BLOCK

Answer = tuple[NDArray[np.int64], NDArray[np.int32]]
Ragged = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
PairBlock = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]

TILE = 512  # queries that share one pass over the codes; what they hold stays in the cache
_ROOM = 1 << 26  # bytes for what the queries of a tile hold


def k_nearest(queries: Codes, runs: Runs, k: int, threads: int | None) -> Answer:
    """(m, k) positions and distances, in (distance, position) order."""
    m, bits = len(queries), queries.bits
    rows, distances = np.empty((m, k), dtype=np.int64), np.empty((m, k), dtype=np.int32)
    capacity = min(2 * k + BLOCK, max(runs.rows, k))
    tile = max(4, min(TILE, _ROOM // (8 * capacity)))
    with Crew(threads) as crew:
        for first in range(0, m, tile):
            part = queries.words[first : first + tile]
            _nearest_in_tile(
                part, bits, runs, capacity, crew, rows[first : first + tile], distances[first : first + tile]
            )
    return runs.named(rows), distances


def _nearest_in_tile(
    part: NDArray[np.uint64],
    bits: int,
    runs: Runs,
    capacity: int,
    crew: Crew,
    rows: NDArray[np.int64],
    distances: NDArray[np.int32],
) -> None:
    """The nearest of some queries to `rows` and `distances`, (queries, k)."""
    k = rows.shape[1]

    def scan(pieces: Iterator[Piece]) -> Selection:
        state = start_selection(part, bits, k, capacity, bits + 1)
        for piece in pieces:
            _scan(state, len(part), bits, piece)
        return state

    states = crew.run(scan, runs, len(part))
    if len(states) == 1:
        finish(states[0].places(), rows, distances)
        return
    all_rows = np.empty((len(states), *rows.shape), dtype=np.int64)
    all_distances = np.empty((len(states), *rows.shape), dtype=np.int32)
    for i, state in enumerate(states):
        finish(state.places(), all_rows[i], all_distances[i])
    merge_sorted(all_rows, all_distances, rows, distances)


def within(queries: Codes, runs: Runs, radius: int, threads: int | None) -> Ragged:
    """(offsets, positions, distances) of everything within a radius."""
    offsets, found = [np.zeros(1, dtype=np.int64)], []
    with Crew(threads) as crew:
        for first in range(0, len(queries), TILE):
            part = queries.words[first : first + TILE]
            ends, rows, distances = _within_tile(part, queries.bits, runs, radius, crew)
            offsets.append(ends + offsets[-1][-1])
            found.append((rows, distances))
    if not found:
        return offsets[0], np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    rows, distances = (_joined(column) for column in zip(*found, strict=True))
    return np.concatenate(offsets), runs.named(rows), distances


def _within_tile(
    part: NDArray[np.uint64], bits: int, runs: Runs, radius: int, crew: Crew
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

    shares = crew.run(scan, runs, len(part))
    states = sorted((item for share in shares for item in share), key=lambda item: item[0])
    items = _joined([state.items for _, state in states])
    owners = _joined([state.owners for _, state in states])
    places = np.zeros((len(part), radius + 1), dtype=np.int64)
    rows, distances = np.empty(len(items), dtype=np.int64), np.empty(len(items), dtype=np.int32)
    order_within(owners, items, places, rows, distances)
    return places[:, -1].copy(), rows, distances


def pair_blocks(
    words: NDArray[np.uint64], bits: int, radius: int, threads: int | None
) -> Iterator[PairBlock]:
    """(left rows done, left, right, distance) of every pair: each tile of codes against itself and what follows."""
    with Crew(threads) as crew:
        for first in range(0, len(words), TILE):
            part, rest = words[first : first + TILE], words[first:]
            runs = Runs([Run(rest, first, None)], len(rest))
            ends, right, distances = _within_tile(part, bits, runs, radius, crew)
            left = np.repeat(np.arange(first, first + len(part)), np.diff(ends, prepend=0))
            later = left < right
            yield first + len(part), left[later], right[later], distances[later]


def distance_histogram(queries: Codes, runs: Runs, threads: int | None) -> NDArray[np.int64]:
    """(m, bits + 1) counts of distances."""
    m, bins = len(queries), queries.bits + 1

    def scan(pieces: Iterator[Piece]) -> NDArray[np.int64]:
        counts = np.zeros((m, 4, bins), dtype=np.int64)
        for (words, _, _), start, stop in pieces:
            for i, query in enumerate(queries.words):
                count_distances(query, words[start:].ctypes.data, stop - start, counts[i])
        return counts.sum(axis=1)

    with Crew(threads) as crew:
        total: NDArray[np.int64] = np.sum(crew.run(scan, runs, m), axis=0)
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
