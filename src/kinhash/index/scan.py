"""The exact scan: every query against every code, over arrays in memory or mapped from files.

The answer always equals a stable sort by (distance, position). `scan_driver` runs the compiled kernels; with
Numba's compiler switched off (NUMBA_DISABLE_JIT=1) plain NumPy gives the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.checks import (
    Allowed,
    Chunk,
    Database,
    checked_allowed,
    checked_database,
    checked_k,
    checked_radius,
    span,
)
from kinhash.index.results import Hits, Pairs, RaggedHits, joined_pairs
from kinhash.kernels import scan_plain
from kinhash.kernels.jit import compiled


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
    chunks = checked_database(queries, database)
    allowed = checked_allowed(allowed, span(chunks))
    if not compiled():
        words, positions = _gathered(chunks, allowed)
        checked_k(k, len(words), filtered=allowed is not None)
        return Hits(*scan_plain.k_nearest(queries.words, words, positions, k))
    from kinhash.index import scan_driver, scan_runs

    runs = scan_runs.prepare(chunks, allowed, len(queries), threads)
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
    chunks = checked_database(queries, database)
    allowed = checked_allowed(allowed, span(chunks))
    checked_radius(radius, queries.bits)
    if not compiled():
        words, positions = _gathered(chunks, allowed)
        q, p, d = scan_plain.within(queries.words, words, positions, radius)
        return RaggedHits(np.searchsorted(q, np.arange(len(queries) + 1)), p, d)
    from kinhash.index import scan_driver, scan_runs

    runs = scan_runs.prepare(chunks, allowed, len(queries), threads)
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
    return joined_pairs(pair_blocks(codes, radius, allowed=allowed, threads=threads))


def pair_blocks(
    codes: Codes,
    radius: int,
    *,
    allowed: Allowed | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Iterator[Pairs]:
    """What `pairs_within` gives, some hundred left codes at a time: only those pairs are in memory.

    `progress` is called after every block with the codes compared with all later ones, and with all there are.
    """
    chunks = checked_database(codes, codes)
    checked_radius(radius, codes.bits)
    words, positions = _gathered(chunks, checked_allowed(allowed, len(codes)))
    if compiled():
        from kinhash.index.scan_driver import pair_blocks
    else:
        from kinhash.kernels.scan_plain import pair_blocks
    for done, left, right, distances in pair_blocks(words, codes.bits, radius, threads):
        if progress is not None:
            progress(done, len(words))
        yield Pairs(positions[left], positions[right], distances)


def distance_histogram(
    queries: Codes, database: Database, *, allowed: Allowed | None = None, threads: int | None = None
) -> NDArray[np.int64]:
    """(m, bits + 1) counts: how many codes of the database lie at every distance from every query."""
    chunks = checked_database(queries, database)
    allowed = checked_allowed(allowed, span(chunks))
    if compiled():
        from kinhash.index import scan_driver, scan_runs

        runs = scan_runs.copied(chunks, allowed, threads)
        return scan_driver.distance_histogram(queries, runs, threads)
    return scan_plain.histogram(queries.words, _gathered(chunks, allowed)[0], queries.bits)


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
