"""Does a query find the one item that belongs to it? Pictures and their sentences, in both directions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array
from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.kernels.threads import map_blocks
from kinhash.metrics.inputs import checked_k
from kinhash.metrics.pairs import checked_pairs

Floats = NDArray[np.float64]


def own_recall(
    queries: Codes | ArrayLike,
    database: Codes | ArrayLike,
    queries_of: ArrayLike,
    database_of: ArrayLike,
    *,
    ks: Sequence[int] = (1, 5, 10),
    metric: str = "dot",
    threads: int | None = None,
) -> dict[int, Floats]:
    """recall@k of every query: 1 where one of its own items is among the k nearest, 0 where none is.

    Query i belongs to thing `queries_of[i]`, item j to thing `database_of[j]`: sentences to pictures, say. With the
    nearest own item at distance d, b items nearer, t at d and o of these its own, the value is the expectation over
    all orders of ties, `1 - C(t - o, m) / C(t, m)` with m = k - b places left at d (0 or less: 0; t or more: 1).
    """
    pairs = checked_pairs(queries, database, metric)
    own = _things(queries_of, len(pairs.queries), "queries_of")
    theirs = _things(database_of, len(pairs.database), "database_of")
    missing = np.flatnonzero(~np.isin(own, theirs))
    if len(missing):
        raise InputError(
            f"query {missing[0]} belongs to {own[missing[0]]}, of which the database holds nothing"
        )
    wanted = [checked_k(k, len(pairs.database)) for k in ks]
    found = {k: np.empty(len(own)) for k in wanted}

    def run(start: int, stop: int) -> None:
        distances = pairs.distances(start, stop)
        mine = own[start:stop, None] == theirs[None, :]
        best = np.where(mine, distances, distances.max()).min(axis=1)[:, None]
        before = np.count_nonzero(distances < best, axis=1)
        level = distances == best
        tied, lucky = np.count_nonzero(level, axis=1), np.count_nonzero(level & mine, axis=1)
        for k in wanted:
            found[k][start:stop] = _chance(k - before, tied, lucky)

    map_blocks(run, len(own), pairs.block, threads)
    return found


def _chance(places: NDArray[np.int64], tied: NDArray[np.int64], own: NDArray[np.int64]) -> Floats:
    """That at least one of `own` among `tied` comes to one of the first `places`."""
    places = np.clip(places, 0, tied)
    none = np.ones(len(places))
    for step in range(int(places.max(initial=0))):
        left = np.maximum(tied - step, 1)
        none *= np.where(step < places, np.maximum(tied - own - step, 0) / left, 1.0)
    return 1 - none


def _things(values: ArrayLike, n: int, name: str) -> NDArray[np.int64]:
    array = as_array(values, name)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        raise InputError(
            f"{name} needs one whole number for each of {n} rows, got shape {array.shape} of {array.dtype}"
        )
    return array.astype(np.int64)
