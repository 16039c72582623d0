"""The scan on GPUs: the codes stay in their memory, split by position over as many as there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.arrays import is_whole
from kinhash.codes import WORD, Codes, width_of
from kinhash.errors import InputError
from kinhash.index.checks import check_queries, checked_chunks, checked_k, checked_radius
from kinhash.index.results import Hits, RaggedHits, joined_offsets, joined_order
from kinhash.kernels import gpu_nearest, gpu_plain, gpu_within
from kinhash.kernels.gpu_graph import Replays
from kinhash.kernels.gpu_shard import ROW_BITS, ROW_MASK, checked_devices, has_kernels, upload
from kinhash.kernels.threads import map_blocks


class GpuIndex:
    """Exact search over codes that are resident on one or several GPUs.

    The database is `Codes`, or chunks (words, position of the first row) in ascending order of position; words
    are (n, width) uint64 arrays, or int64 tensors that may already be on a GPU. They are copied. Every device takes an
    equal share of the rows; answers are those of one stable sort by (distance, position), on one device or on ten.
    `bits` says how long codes in chunks are, by default as long as their words. Without Triton, and on a 'cpu' that is
    named, torch alone gives the same answers later.
    """

    def __init__(
        self,
        database: Codes | Sequence[tuple[Any, int]],
        devices: Sequence[object] | None = None,
        *,
        bits: int | None = None,
    ) -> None:
        self.bits, chunks = _checked(database, bits)
        used = checked_devices(devices)
        lengths = [len(words) for words, _ in chunks]
        self._starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)  # first row of every chunk
        self._bases = np.array([base for _, base in chunks], dtype=np.int64)
        ends = [len(self) * (i + 1) // len(used) for i in range(len(used))]
        self._shards, self._offsets, lo = [], [], 0
        for device, hi in zip(used, ends, strict=True):
            if hi > lo:
                self._shards.append(upload(_between(chunks, lo, hi), device))
                self._offsets.append(lo)
            lo = hi
        self._replays = [Replays() if has_kernels(shard.words.device) else None for shard in self._shards]

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __repr__(self) -> str:
        return f"GpuIndex(n={len(self)}, bits={self.bits}, devices={self.devices})"

    @property
    def devices(self) -> list[str]:
        """The device of every shard."""
        return [str(shard.words.device) for shard in self._shards]

    def search(self, queries: Codes, k: int) -> Hits:
        """The k codes nearest to every query, ties in position order."""
        check_queries(queries, self.bits)
        checked_k(k, len(self), filtered=False)
        parts: list[NDArray[np.int64]] = [np.empty(0, np.int64)] * len(self._shards)

        def run(i: int, _stop: int) -> None:
            shard, replays = self._shards[i], self._replays[i]
            nearest = min(k, shard.rows)
            if replays is None:
                keys = gpu_plain.k_nearest(shard, queries.words, nearest)
            else:
                keys = gpu_nearest.k_nearest(shard, queries.words, nearest, replays)
            parts[i] = keys + self._offsets[i]

        if len(queries):
            map_blocks(run, len(self._shards), 1, len(self._shards))
        else:
            parts = [np.empty((0, k), np.int64)]
        keys = merged(parts, k)
        return Hits(self._positions(keys & ROW_MASK), (keys >> ROW_BITS).astype(np.int32))

    def within(self, queries: Codes, radius: int) -> RaggedHits:
        """Every code at Hamming distance <= radius of every query, in (distance, position) order."""
        check_queries(queries, self.bits)
        checked_radius(radius, queries.bits)
        parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = [_NO_KEYS] * len(self._shards)

        def run(i: int, _stop: int) -> None:
            within = gpu_plain.within if self._replays[i] is None else gpu_within.within
            counts, keys = zip(*within(self._shards[i], queries.words, radius), strict=True)
            parts[i] = np.concatenate(counts), np.concatenate(keys) + self._offsets[i]

        if len(queries):
            map_blocks(run, len(self._shards), 1, len(self._shards))
        offsets, keys = merged_ragged(parts)
        return RaggedHits(offsets, self._positions(keys & ROW_MASK), (keys >> ROW_BITS).astype(np.int32))

    def _positions(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of rows: chunks may leave gaps between them."""
        chunk = np.searchsorted(self._starts, rows, side="right") - 1
        positions: NDArray[np.int64] = rows - self._starts[chunk] + self._bases[chunk]
        return positions


_TYPES = ("uint64", "torch.int64")
_NO_KEYS = (np.empty(0, np.int64), np.empty(0, np.int64))


def merged(parts: Sequence[NDArray[np.int64]], k: int) -> NDArray[np.int64]:
    """The k smallest keys of every query over all shards."""
    if len(parts) == 1:
        return parts[0]
    return np.sort(np.concatenate(parts, axis=1), axis=1)[:, :k]


def merged_ragged(
    parts: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Offsets and keys in (query, key) order, of every shard's (counts by query, keys)."""
    counts, keys = [count for count, _ in parts], np.concatenate([keys for _, keys in parts])
    if len(parts) > 1:
        keys = keys[joined_order(counts, keys)]
    return joined_offsets(counts), keys


def _checked(
    database: Codes | Sequence[tuple[Any, int]], bits: int | None
) -> tuple[int, list[tuple[Any, int]]]:
    """The length of the codes and the chunks that hold rows."""
    if isinstance(database, Codes):
        if bits not in (None, database.bits):
            raise InputError(f"these codes have {database.bits} bits, and bits is {bits!r}: leave it out")
        bits, database = database.bits, [(database.words, 0)]
    whole = next((words for words, _ in database if len(words)), np.empty((0, 1)))
    if bits is None:
        bits = WORD * int(whole.shape[-1])
    if not is_whole(bits) or bits < 1:
        raise InputError(f"bits is a positive whole number, got {bits!r}")
    return int(bits), checked_chunks(database, width_of(bits), _TYPES)


def _between(chunks: Sequence[tuple[Any, int]], lo: int, hi: int) -> list[Any]:
    """The parts of the chunks that hold rows lo..hi."""
    parts, start = [], 0
    for words, _ in chunks:
        part = words[max(0, lo - start) : max(0, hi - start)]
        if len(part):
            parts.append(part)
        start += len(words)
    return parts
