"""Queries against a database: the distances between them, one tile at a time, never the whole matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import checked_choice, finite_rows
from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.kernels.bits import hamming_tile
from kinhash.kernels.distances import l1_tile, negative_dot_tile, squared_l2_tile
from kinhash.kernels.threads import map_blocks

METRICS = {"l1": l1_tile, "l2": squared_l2_tile, "dot": negative_dot_tile}
_SPANS = 64
_TILE = 2_000_000  # entries of a tile: 16 MB of doubles


@dataclass(frozen=True)
class Pairs:
    """Checked queries and database. `leave_out`: they are one set, and a query does not find itself."""

    queries: Codes | NDArray[Any]
    database: Codes | NDArray[Any]
    leave_out: bool
    metric: str  # "hamming", "l1", "l2" or "dot"
    columns: NDArray[Any]  # (d, n): the database vectors, transposed for the kernels; empty for codes

    @property
    def available(self) -> int:
        """Items that can answer a query."""
        return len(self.database) - int(self.leave_out)

    @property
    def block(self) -> int:
        """Queries per tile."""
        return max(1, min(64, _TILE // max(1, len(self.database))))

    def distances(self, start: int, stop: int) -> NDArray[Any]:
        """(stop - start, n): Hamming (uint16), L1, squared L2, or minus the dot product (float64)."""
        shape = (stop - start, len(self.database))
        if isinstance(self.queries, Codes) and isinstance(self.database, Codes):
            words = np.empty(shape, np.uint16)
            hamming_tile(self.queries.words[start:stop], self.database.words, words)
            return words
        assert not isinstance(self.queries, Codes)
        tile = np.empty(shape)
        METRICS[self.metric](self.queries[start:stop], self.columns, tile)
        if not np.isfinite(tile).all():
            raise InputError(
                f"{self.metric} distances overflow: the vectors of rows {start} to {stop - 1} or of the "
                "database are too large; scale them down"
            )
        return tile


def sum_over_blocks(
    pairs: Pairs,
    shape: tuple[int, ...],
    score: Callable[[int, int, NDArray[np.float64]], object],
    threads: int | None,
) -> NDArray[np.float64]:
    """Call `score(start, stop, total)` for every block of queries, on all cores; the sum of all `total`s of this shape.

    Blocks are dealt out in a fixed number of spans, each with a total of its own, so that the sum does not depend on the
    number of threads.
    """
    n = len(pairs.queries)
    span = -(-n // _SPANS)
    totals = np.zeros((-(-n // span), *shape))

    def run(start: int, stop: int) -> None:
        for left in range(start, stop, pairs.block):
            score(left, min(left + pairs.block, stop), totals[start // span])

    map_blocks(run, n, span, threads)
    summed: NDArray[np.float64] = totals.sum(axis=0)
    return summed


def checked_pairs(
    queries: Codes | ArrayLike, database: Codes | ArrayLike | None = None, metric: str = "l1"
) -> Pairs:
    """Queries and database of one kind and width; `database=None` is the queries themselves, leave-one-out."""
    checked_choice(metric, tuple(METRICS), "metric")
    if isinstance(queries, Codes) or isinstance(database, Codes):
        return _code_pairs(queries, database)
    left = finite_rows(queries, "queries", None)
    right = left if database is None else finite_rows(database, "database", None)
    if left.shape[1] != right.shape[1]:
        raise InputError(
            f"queries have {left.shape[1]} dimensions and the database {right.shape[1]}; they must agree"
        )
    if left.dtype != right.dtype:
        left, right = left.astype(np.float64), right.astype(np.float64)
    _refuse_too_few(left, right, database is None)
    return Pairs(left, right, database is None, metric, np.ascontiguousarray(right.T))


def _code_pairs(queries: Codes | ArrayLike, database: Codes | ArrayLike | None) -> Pairs:
    right = queries if database is None else database
    if not isinstance(queries, Codes) or not isinstance(right, Codes):
        raise InputError("queries and database must both be Codes or both be vectors; convert one of them")
    if queries.bits != right.bits:
        raise InputError(
            f"queries have {queries.bits} bits and the database {right.bits}; codes of one encoder agree"
        )
    if queries.bits >= 2**16:
        raise InputError(f"metrics take codes of up to 65535 bits, got {queries.bits}")
    _refuse_too_few(queries, right, database is None)
    return Pairs(queries, right, database is None, "hamming", np.empty((0, 0)))


def _refuse_too_few(queries: Any, database: Any, leave_out: bool) -> None:
    if len(queries) == 0:
        raise InputError("there are no queries: the set is empty")
    if len(database) == 0:
        raise InputError("the database is empty: nothing can be ranked")
    if leave_out and len(queries) == 1:
        raise InputError(
            "one item has no others to be ranked against (leave-one-out); pass a larger set, or a database"
        )
