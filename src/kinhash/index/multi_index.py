"""`MultiIndex`: exact search that reads a small part of the database, by multi-index hashing.

M. Norouzi, A. Punjani, D. J. Fleet: Fast exact search in Hamming space with multi-index hashing (2014). Codes are cut
into keys, one table each; near codes agree in most bits of some key, so only a few buckets need reading. A query
that would read more than the scan costs is answered by the scan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kinhash.arrays import is_whole
from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.index import scan
from kinhash.index.checks import check_length, check_queries, checked_k, checked_radius
from kinhash.index.results import Hits, RaggedHits
from kinhash.kernels.jit import compiled
from kinhash.kernels.threads import map_blocks

_MOST = 1 << 32  # codes that a 32-bit number tells apart


@dataclass(frozen=True, eq=False)
class Costs:
    """What every query of a search read; all arrays are (m,)."""

    probes: NDArray[np.int64]  # buckets looked up
    candidates: NDArray[np.int64]  # entries in them: a code is counted once per table that offers it
    compared: NDArray[np.int64]  # of these, codes whose full distance was taken
    rounds: NDArray[np.int64]  # rounds completed: everything nearer than this was met
    fell_back: NDArray[np.bool_]  # answered by the scan; the counts say what was read before


class MultiIndex:
    """Tables over codes in memory; the codes themselves are shared, not copied.

    `tables` is chosen from the codes unless given. `lean` keeps numbers only (about 13 bytes per 64-bit code besides the
    codes themselves, instead of 25), and is slower where buckets hold many codes that are not near.

    >>> index = MultiIndex(Codes.from_bits([[0] * 16, [1] * 16, [0, 1] * 8]))
    >>> index.search(Codes.from_bits([[0] * 16]), k=2).positions.tolist()
    [[0, 2]]
    """

    def __init__(
        self, codes: Codes, *, tables: int | None = None, lean: bool = False, threads: int | None = None
    ) -> None:
        _check(codes, tables)
        self.codes = codes
        self._lean = lean
        if compiled():
            from kinhash.index.multi_index_plan import make_plan
            from kinhash.index.multi_index_tables import build_tables

            self._plan = make_plan(codes, tables, lean=lean, threads=threads)
            self._tables = build_tables(codes, self._plan, lean=lean, threads=threads)

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"MultiIndex(n={len(self)}, bits={self.bits}, tables={self.tables})"

    @property
    def bits(self) -> int:
        """Length of the codes."""
        return self.codes.bits

    @property
    def tables(self) -> int:
        """How many tables there are; none where Numba's compiler is switched off, and the scan answers."""
        return len(self._plan.keys) if compiled() else 0

    @property
    def nbytes(self) -> int:
        """Bytes of the tables and of the codes."""
        arrays = self._tables if compiled() else (self.codes.words,)
        return sum(array.nbytes for array in arrays)

    def search(self, queries: Codes, k: int, *, threads: int | None = None) -> Hits:
        """The k codes nearest to every query, ties in position order: what `scan.k_nearest` gives."""
        return self.search_counted(queries, k, threads=threads)[0]

    def within(self, queries: Codes, radius: int, *, threads: int | None = None) -> RaggedHits:
        """Every code at Hamming distance <= radius of every query: what `scan.within` gives."""
        return self.within_counted(queries, radius, threads=threads)[0]

    def search_counted(
        self, queries: Codes, k: int, *, threads: int | None = None, bounded: bool = True
    ) -> tuple[Hits, Costs]:
        """`search`, and what it read. With `bounded=False` no query falls back to the scan, whatever it costs."""
        check_queries(queries, self.bits)
        checked_k(k, len(self), filtered=False)
        if self._scans_at_once(len(queries), bounded, k):
            return scan.k_nearest(queries, self.codes, k, threads=threads), _all_scanned(len(queries))
        from kinhash.index import multi_index_driver

        prices = self._plan.prices(len(self), len(queries), lean=self._lean, bounded=bounded)
        positions, distances, counted = multi_index_driver.k_nearest(
            self._tables, prices, queries, k, threads
        )
        costs = _costs(counted)
        if costs.fell_back.all() and len(queries):
            return scan.k_nearest(queries, self.codes, k, threads=threads), costs
        if costs.fell_back.any():
            again = scan.k_nearest(queries[costs.fell_back], self.codes, k, threads=threads)
            positions[costs.fell_back], distances[costs.fell_back] = again.positions, again.distances
        return Hits(positions, distances), costs

    def within_counted(
        self, queries: Codes, radius: int, *, threads: int | None = None, bounded: bool = True
    ) -> tuple[RaggedHits, Costs]:
        """`within`, and what it read. With `bounded=False` no query falls back to the scan, whatever it costs."""
        check_queries(queries, self.bits)
        checked_radius(radius, queries.bits)
        if self._scans_at_once(len(queries), bounded):
            return scan.within(queries, self.codes, radius, threads=threads), _all_scanned(len(queries))
        from kinhash.index import multi_index_driver

        prices = self._plan.prices(len(self), len(queries), lean=self._lean, bounded=bounded)
        parts, counted = multi_index_driver.within(self._tables, prices, queries, radius, threads)
        costs = _costs(counted)
        if costs.fell_back.any():
            again = scan.within(queries[costs.fell_back], self.codes, radius, threads=threads)
            for i, query in enumerate(np.flatnonzero(costs.fell_back)):
                parts[query] = again[i]
        return multi_index_driver.joined(parts), costs

    def _distinct(self, queries: Codes, costs: Costs, threads: int | None) -> NDArray[np.int64]:
        """How many different codes the buckets looked up hold."""
        met = np.full(len(queries), len(self), dtype=np.int64)
        if compiled():
            from kinhash.kernels.multi_count import count_met

            def count(start: int, stop: int) -> None:
                part = slice(start, stop)
                count_met(self._tables, queries.words[part], costs.rounds[part], met[part])

            map_blocks(count, len(queries), 64, threads)
        return met

    def _scans_at_once(self, m: int, bounded: bool, k: int = 0) -> bool:
        """Without the compiler, and where probes are not worth trying."""
        if not compiled():
            return True
        from kinhash.index.multi_index_prices import worth_it

        return bounded and not worth_it(len(self), self.codes.words.shape[1], m, k)


def candidates_per_query(
    codes: Codes, queries: Codes, k: int = 10, *, tables: int | None = None, threads: int | None = None
) -> Costs:
    """What multi-index hashing reads for exact k nearest neighbours, without ever falling back to the scan.

    `candidates` counts entries of buckets, as in any search. `compared` counts the different codes among them: what is
    compared by multi-index hashing as published, which knows no signatures. Both fall as bits are used evenly
    and independently; a scan compares all codes.
    """
    index = MultiIndex(codes, tables=tables, threads=threads)
    _, costs = index.search_counted(queries, k, threads=threads, bounded=False)
    return replace(costs, compared=index._distinct(queries, costs, threads))


def _costs(counted: NDArray[np.int64]) -> Costs:
    probes, candidates, compared, rounds, fell_back, _ = counted.T
    return Costs(probes, candidates, compared, rounds, fell_back > 0)


def _all_scanned(m: int) -> Costs:
    zeros = np.zeros(m, dtype=np.int64)
    return Costs(zeros, zeros, zeros, zeros, np.ones(m, dtype=np.bool_))


def _check(codes: Codes, tables: int | None) -> None:
    if not isinstance(codes, Codes):
        raise InputError(f"a MultiIndex holds Codes, got {type(codes).__name__}; see Codes.from_logits")
    if len(codes) == 0:
        raise InputError("a MultiIndex needs at least one code: the set is empty")
    check_length(codes.bits)
    if len(codes) > _MOST - 2:
        raise InputError(f"a MultiIndex holds fewer than {_MOST} codes, got {len(codes)}: split them")
    if tables is None:
        return
    if not is_whole(tables) or tables < 1:
        raise InputError(f"tables is a positive whole number, got {tables!r}")
    fewest = -(-codes.bits // 26)
    if not fewest <= tables <= codes.bits:
        raise InputError(
            f"{tables} tables do not suit {codes.bits}-bit codes: keys have 1 to 26 bits, "
            f"so take {fewest} to {codes.bits} tables"
        )
