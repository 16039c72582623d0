"""The exact scan: every query against every code, over arrays in memory or mapped from files.

The answer always equals a stable sort by (distance, position). `scan_driver` runs the compiled kernels; with
Numba's compiler switched off (NUMBA_DISABLE_JIT=1) plain NumPy gives the same answers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.index.hits import Hits, Pairs, RaggedHits
from kinhash.kernels import scan_plain

Chunk = tuple[NDArray[np.uint64], int]  # words (n, width) and the position of their first row
Database = Codes | Sequence[Chunk]  # chunks in ascending order of position; gaps between them are fine
Allowed = NDArray[np.bool_] | NDArray[np.int64]  # a mask over positions, or ascending positions


def k_nearest(
    queries: Codes,
    database: Database,
    k: int,
    *,
    allowed: Allowed | None = None,
    threads: int | None = None,
) -> Hits:
    """The k codes of the database nearest to every query, ties in position order.

    `allowed` restricts the database to some positions: a boolean mask over them (True passes), or the
    positions themselves in ascending order. k larger than the number of codes that pass is an error.
    """
    chunks = checked_chunks(queries, database)
    allowed = checked_allowed(allowed, span(chunks))
    if not compiled():
        words, positions = _gathered(chunks, allowed)
        checked_k(k, len(words), filtered=allowed is not None)
        return Hits(*scan_plain.k_nearest(queries.words, words, positions, k))
    from kinhash.index import scan_driver, scan_runs

    runs = scan_runs.prepare(chunks, allowed, len(queries))
    checked_k(k, runs.passing, filtered=allowed is not None)
    return Hits(*scan_driver.k_nearest(queries, runs, k, threads))


def within(
    queries: Codes,
    database: Database,
    radius: int,
    *,
    allowed: Allowed | None = None,
    threads: int | None = None,
) -> RaggedHits:
    """Every code at Hamming distance <= radius of every query, in (distance, position) order."""
    chunks = checked_chunks(queries, database)
    allowed = checked_allowed(allowed, span(chunks))
    checked_radius(radius, queries.bits)
    if not compiled():
        words, positions = _gathered(chunks, allowed)
        q, p, d = scan_plain.within(queries.words, words, positions, radius)
        return RaggedHits(np.searchsorted(q, np.arange(len(queries) + 1)), p, d)
    from kinhash.index import scan_driver, scan_runs

    runs = scan_runs.prepare(chunks, allowed, len(queries))
    return RaggedHits(*scan_driver.within(queries, runs, radius, threads))


def pairs_within(
    codes: Codes,
    radius: int,
    *,
    allowed: Allowed | None = None,
    threads: int | None = None,
) -> Pairs:
    """All pairs of codes at Hamming distance <= radius, each once, ordered by (left, distance, right).

    All of them are in memory at once; `pair_blocks` gives them in parts.
    """
    blocks = list(pair_blocks(codes, radius, allowed=allowed, threads=threads))
    return Pairs(
        np.concatenate([block.left for block in blocks]),
        np.concatenate([block.right for block in blocks]),
        np.concatenate([block.distances for block in blocks]),
    )


def pair_blocks(
    codes: Codes,
    radius: int,
    *,
    allowed: Allowed | None = None,
    threads: int | None = None,
) -> Iterator[Pairs]:
    """What `pairs_within` gives, some hundred left codes at a time: only those pairs are in memory."""
    chunks = checked_chunks(codes, codes)
    checked_radius(radius, codes.bits)
    words, positions = _gathered(chunks, checked_allowed(allowed, len(codes)))
    if compiled():
        from kinhash.index.scan_driver import pair_blocks
    else:
        from kinhash.kernels.scan_plain import pair_blocks
    nothing = np.empty(0, dtype=np.int64)
    yield Pairs(nothing, nothing, nothing.astype(np.int32))
    for left, right, distances in pair_blocks(words, codes.bits, radius, threads):
        yield Pairs(positions[left], positions[right], distances)


def distance_histogram(
    queries: Codes, database: Database, *, allowed: Allowed | None = None, threads: int | None = None
) -> NDArray[np.int64]:
    """(m, bits + 1) counts: how many codes of the database lie at every distance from every query."""
    chunks = checked_chunks(queries, database)
    allowed = checked_allowed(allowed, span(chunks))
    if compiled():
        from kinhash.index import scan_driver, scan_runs

        runs = scan_runs.copied(chunks, allowed)
        return scan_driver.distance_histogram(queries, runs, threads)
    return scan_plain.histogram(queries.words, _gathered(chunks, allowed)[0], queries.bits)


def compiled() -> bool:
    """Whether Numba compiles; otherwise the plain scan answers."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


# ---- checks, shared with the multi-index ---------------------------------------------------------------


def span(chunks: Sequence[Chunk]) -> int:
    """One more than the last position."""
    return chunks[-1][1] + len(chunks[-1][0])


def checked_chunks(queries: Codes, database: Database) -> list[Chunk]:
    """The database as plain arrays, or an error that says how it does not fit the queries."""
    if isinstance(database, Codes):
        if database.bits != queries.bits:
            raise InputError(
                f"the queries have {queries.bits} bits and the database {database.bits}: encode both alike"
            )
        database = [(database.words, 0)]
    chunks = [(words.view(np.ndarray), base) for words, base in database if len(words)]
    if not chunks:
        raise InputError("the database is empty: add codes before searching")
    end = 0
    for words, base in chunks:
        if words.dtype != np.uint64 or words.ndim != 2 or words.shape[1] != queries.words.shape[1]:
            raise InputError(
                f"{queries.bits}-bit queries need chunks of (n, {queries.words.shape[1]}) uint64 words, "
                f"got shape {words.shape} of {words.dtype}"
            )
        if base < end:
            raise InputError(f"chunk at position {base} begins before {end}, where the one before it ends")
        end = base + len(words)
    return chunks


def checked_allowed(allowed: Allowed | None, end: int) -> Allowed | None:
    """`allowed` as a contiguous mask or as int64 positions."""
    if allowed is None:
        return None
    array: NDArray[Any] = np.asarray(allowed)
    if array.ndim == 1 and array.dtype == np.bool_:
        if len(array) != end:
            raise InputError(f"the mask has {len(array)} entries for {end} positions")
        return np.ascontiguousarray(array)
    if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise InputError(
            f"allowed is a boolean mask or a row of positions, got shape {array.shape} of {array.dtype}"
        )
    array = np.ascontiguousarray(array, dtype=np.int64)
    if len(array) and (array[0] < 0 or array[-1] >= end or (np.diff(array) <= 0).any()):
        raise InputError(f"allowed positions must ascend without repeats inside 0..{end - 1}")
    return array


def checked_k(k: int, available: int, *, filtered: bool) -> None:
    """k is a whole number from 1 to the number of codes that may be found."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k is a positive whole number, got {k!r}")
    if k > available:
        what = "pass the filter" if filtered else "are in the database"
        raise InputError(f"k = {k}, but only {available} codes {what}: ask for at most {available}")


def checked_radius(radius: int, bits: int) -> None:
    """A radius is a whole number from 0 to the code length."""
    if isinstance(radius, bool) or not isinstance(radius, int | np.integer) or not 0 <= radius <= bits:
        raise InputError(f"a radius is a whole number from 0 to {bits} (the code length), got {radius!r}")


def _gathered(
    chunks: Sequence[Chunk], allowed: Allowed | None
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Words and positions of everything that passes."""
    words = np.concatenate([part for part, _ in chunks])
    positions = np.concatenate([np.arange(base, base + len(part)) for part, base in chunks])
    if allowed is None:
        return words, positions
    keep = allowed[positions] if allowed.dtype == np.bool_ else np.isin(positions, allowed)
    return words[keep], positions[keep]
