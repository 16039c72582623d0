"""Rankings of items that each have a target vector of their own (captions) instead of a class.

The similarity of two items is 1 - the scaled distance of their targets. It is computed tile by tile beside the
distances of the codes: neither n x n matrix ever exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import checked_choice, finite_rows, unit_rows
from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.kernels.kendall import kendall_rows
from kinhash.kernels.scoring_items import score_items
from kinhash.kernels.threads import map_blocks
from kinhash.metrics.inputs import checked_k, checked_key
from kinhash.metrics.pairs import Pairs, checked_pairs, sum_over_blocks
from kinhash.metrics.ranking import FORMULAS, TIES, RankingScores, describe

Floats = NDArray[np.float64]
TARGET_DISTANCES = ("cosine", "manhattan")


@dataclass(frozen=True)
class _Request:
    pairs: Pairs
    targets: Pairs
    offset: float  # distance of targets = (offset + what `targets` yields) * scale, in [0, 1]
    scale: float
    k: int
    stable: bool
    corrected: bool


def score_item_targets(
    queries: Codes | ArrayLike,
    targets: ArrayLike,
    database: Codes | ArrayLike | None = None,
    database_targets: ArrayLike | None = None,
    *,
    distance: str = "manhattan",
    name: str = "target",
    k: int = 250,
    ties: str = "expected",
    formula: str = "corrected",
    metric: str = "l1",
    threads: int | None = None,
) -> RankingScores:
    """AHP@k, its curve and Kendall's tau-b of every query, against the distances of target vectors.

    `targets` (n, D), one row a query, `database_targets` likewise. `distance`: "manhattan", divided by its largest
    value over all pairs, which takes one more pass, or "cosine", (1 - cos) / 2. `name` is what the keys call it. tau
    compares, query by query, the order of the database by code distance with that by target distance.
    """
    checked_key(name)
    pairs = checked_pairs(queries, database, metric)
    reference, offset, scale = _target_pairs(pairs, targets, database_targets, distance, threads)
    request = _Request(
        pairs,
        reference,
        offset,
        scale,
        checked_k(k, pairs.available, at_least=2),
        checked_choice(ties, TIES, "ties") == "stable",
        checked_choice(formula, FORMULAS, "formula") == "corrected",
    )
    ahp, tau = np.full((2, len(pairs.queries)), np.nan)

    def score(start: int, stop: int, curve: Floats) -> None:
        _score_block(request, start, stop, ahp[start:stop], tau[start:stop], curve)

    curve = sum_over_blocks(pairs, (request.k,), score, threads)
    defined = np.count_nonzero(~np.isnan(ahp)) or np.nan
    return RankingScores(
        describe(pairs, k=request.k, ties=ties, formula=formula),
        {f"mahp_{name}": ahp, "kendall_tau": tau},
        {f"hp_{name}": curve / defined},
        without_relevant=0,
    )


def _score_block(request: _Request, start: int, stop: int, ahp: Floats, tau: Floats, curve: Floats) -> None:
    distances = request.pairs.distances(start, stop)
    target = (request.targets.distances(start, stop) + request.offset) * request.scale
    if request.pairs.leave_out:
        distances, target = _without_own(distances, start), _without_own(target, start)
    similarity = np.clip(1 - target, 0, 1)  # rounding only
    stable = (
        request.stable or distances.dtype == np.uint16
    )  # small integers are sorted by radix, fast and stable
    order = np.argsort(distances, axis=1, kind="stable" if stable else None)
    best = np.partition(similarity, -request.k, axis=1)[:, -request.k :]
    ideal = np.cumsum(np.sort(best, axis=1)[:, ::-1], axis=1)
    reals = distances.astype(np.float64, copy=False)
    score_items(reals, order, similarity, ideal, request.stable, request.corrected, ahp, curve)
    kendall_rows(reals, target, order, np.argsort(target, axis=1), tau)


def _without_own(tile: NDArray[Any], start: int) -> NDArray[Any]:
    """Rows start... of a square matrix without its diagonal."""
    rows, n = tile.shape
    keep = np.ones((rows, n), np.bool_)
    keep[np.arange(rows), start + np.arange(rows)] = False
    return tile[keep].reshape(rows, n - 1)


def _target_pairs(
    pairs: Pairs,
    targets: ArrayLike,
    database_targets: ArrayLike | None,
    distance: str,
    threads: int | None,
) -> tuple[Pairs, float, float]:
    """Checked targets, and the offset and scale that bring what they yield into [0, 1]."""
    checked_choice(distance, TARGET_DISTANCES, "the distance of targets")
    if pairs.leave_out != (database_targets is None):
        raise InputError("database and database_targets go together: pass both, or neither for leave-one-out")
    left = _checked_targets(targets, len(pairs.queries), "targets", distance)
    right = None
    if database_targets is not None:
        right = _checked_targets(database_targets, len(pairs.database), "database_targets", distance)
    reference = checked_pairs(left, right, "dot" if distance == "cosine" else "l1")
    if distance == "cosine":
        return reference, 1.0, 0.5
    largest = _largest_distance(reference, threads)
    if largest == 0:
        raise InputError("all targets are equal: there is no order to compare with")
    return reference, 0.0, 1 / largest


def _checked_targets(targets: ArrayLike, n: int, name: str, distance: str) -> Floats:
    vectors = finite_rows(targets, name)
    if len(vectors) != n:
        raise InputError(f"{name} has {len(vectors)} rows for {n} items; one target per item is needed")
    return vectors if distance == "manhattan" else unit_rows(vectors, name)


def _largest_distance(reference: Pairs, threads: int | None) -> float:
    """Over all pairs of queries and database, a tile at a time."""
    largest = np.zeros(len(reference.queries))

    def run(start: int, stop: int) -> None:
        largest[start:stop] = reference.distances(start, stop).max(axis=1)

    map_blocks(run, len(largest), reference.block, threads)
    return float(largest.max())
