"""How many of the true neighbours of float vectors their codes find."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.kernels.threads import map_blocks
from kinhash.metrics.inputs import checked_k
from kinhash.metrics.pairs import checked_pairs

Floats = NDArray[np.float64]


def neighbour_recall(
    vectors: ArrayLike,
    codes: Codes,
    database_vectors: ArrayLike | None = None,
    database_codes: Codes | None = None,
    *,
    k: int = 10,
    depth: int | None = None,
    metric: str = "l2",
    threads: int | None = None,
) -> Floats:
    """recall@depth of the k nearest vectors among the nearest codes, one value per query.

    The k nearest by `metric` ("l1", "l2", "dot") are wanted, with everything that ties with the k-th; found are those
    among the `depth` (default: k) nearest codes, ties there counted at their expectation. The value is found /
    min(depth, wanted). Without a database every item is a query against all others.
    """
    if isinstance(vectors, Codes) or not isinstance(codes, Codes):
        raise InputError(
            f"recall compares float vectors with their Codes; got {type(vectors).__name__} and {type(codes).__name__}"
        )
    true, short = checked_pairs(vectors, database_vectors, metric), checked_pairs(codes, database_codes)
    if (len(true.queries), len(true.database)) != (len(short.queries), len(short.database)):
        raise InputError(
            f"{len(true.queries)} queries against {len(true.database)} vectors, but {len(short.queries)} against "
            f"{len(short.database)} codes; every vector needs its code"
        )
    if true.leave_out != short.leave_out:
        raise InputError("database_vectors and database_codes go together: pass both, or neither")
    wanted = checked_k(k, true.available)
    first = checked_k(k if depth is None else depth, true.available, "depth")
    recall = np.empty(len(true.queries))

    def run(start: int, stop: int) -> None:
        far, hamming = true.distances(start, stop), short.distances(start, stop).astype(np.int64)
        if true.leave_out:
            own = (np.arange(stop - start), np.arange(start, stop))
            far[own], hamming[own] = np.inf, np.iinfo(np.int64).max
        recall[start:stop] = _block_recall(far, hamming, wanted, first)

    map_blocks(run, len(recall), true.block, threads)
    return recall


def _block_recall(far: Floats, hamming: NDArray[np.int64], wanted: int, depth: int) -> Floats:
    relevant = far <= np.partition(far, wanted - 1, axis=1)[:, wanted - 1 : wanted]
    last = np.partition(hamming, depth - 1, axis=1)[:, depth - 1 : depth]
    inside, edge = hamming < last, hamming == last
    share = (depth - np.count_nonzero(inside, axis=1)) / np.count_nonzero(edge, axis=1)
    found = np.count_nonzero(relevant & inside, axis=1) + share * np.count_nonzero(relevant & edge, axis=1)
    return found / np.minimum(depth, np.count_nonzero(relevant, axis=1))
