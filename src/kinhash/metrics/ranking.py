"""Every metric of a ranking in one pass over the data: hierarchical precision, AP, precision, recall, hits.

Protocol: a query of class c ranks the database by distance; with `database=None` the database is the query set
without the query itself. Ties: `"expected"` gives the exact mean over all orders inside groups of equal
distance, `"stable"` keeps the order of the database. An item is relevant when its class is the query's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import checked_choice, is_whole
from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.kernels.scoring import AT_K, Plan, score_codes, score_rows
from kinhash.metrics.inputs import (
    checked_k,
    checked_label_range,
    checked_labels,
    checked_similarities,
    renumbered,
)
from kinhash.metrics.pairs import Pairs, checked_pairs, sum_over_blocks

Floats = NDArray[np.float64]
TIES = ("expected", "stable")
FORMULAS = ("corrected", "legacy")


@dataclass(frozen=True)
class RankingScores:
    """Scores of every query, and the protocol that they were measured under.

    `per_query` holds one value per query under the keys of a report (`mahp_wup` holds the AHP of every query). NaN
    marks a query for which a value does not exist: one without any relevant item in the database (relevance
    metrics), or without any similar one (hierarchical metrics). Such queries are left out of the means and counted
    in `without_relevant`.
    """

    protocol: dict[str, Any]
    per_query: dict[str, Floats]
    curves: dict[str, Floats]  # `hp_<similarity>` -> (k,) mean HP@1..k
    without_relevant: int

    @property
    def metrics(self) -> dict[str, float]:
        """Mean over the queries that have a value; NaN where none has."""
        means = {key: mean_of_defined(values) for key, values in self.per_query.items()}
        heights = {key.replace("hp_", "hp_at_k_", 1): float(curve[-1]) for key, curve in self.curves.items()}
        first = {key: value for key, value in means.items() if key.startswith("mahp_")}
        return first | heights | means


def mean_of_defined(values: Floats) -> float:
    """Mean of the values that are not NaN; NaN where there is none."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def score_ranking(
    queries: Codes | ArrayLike,
    labels: ArrayLike,
    database: Codes | ArrayLike | None = None,
    database_labels: ArrayLike | None = None,
    *,
    similarities: Mapping[str, ArrayLike] | ArrayLike | None = None,
    k: int = 250,
    hits: Sequence[int] = (),
    radius: int | None = None,
    full: bool = True,
    ties: str = "expected",
    formula: str = "corrected",
    metric: str = "l1",
    threads: int | None = None,
) -> RankingScores:
    """Many metrics at once.

    `similarities`: name -> (C, C) matrix in [0, 1], each yields AHP@k and its curve. `k` also cuts AP@k, precision
    and recall; `hits` are the cutoffs of hit@K. `radius`: Hamming radius of precision within. `full`: AP over the
    whole ranking as well. `metric` ("l1", "l2", "dot") ranks vectors; codes are ranked by Hamming distance.
    """
    pairs = checked_pairs(queries, database, metric)
    query_labels, items = both_labels(pairs, labels, database_labels)
    matrices = checked_similarities(similarities)
    for matrix in matrices.values():
        checked_label_range(query_labels, len(matrix), "labels")
        checked_label_range(items, len(matrix), "labels" if pairs.leave_out else "database_labels")
    used, query_labels, items = renumbered(query_labels, items)
    stack = np.empty((len(matrices), len(used), len(used)))
    for m, matrix in enumerate(matrices.values()):
        stack[m] = matrix[np.ix_(used, used)]
    present = np.bincount(items, minlength=stack.shape[2])
    plan = Plan(
        k=checked_k(k, pairs.available, at_least=2 if matrices else 1),
        full=full,
        corrected=checked_choice(formula, FORMULAS, "formula") == "corrected",
        stable=checked_choice(ties, TIES, "ties") == "stable",
        leave_out=pairs.leave_out,
        hits=_checked_hits(hits, pairs),
        radii=np.array(_checked_radius(radius, pairs), np.float64),
        labels=query_labels,
        rows=query_labels,
        items=items,
        relevant=present[query_labels] - int(pairs.leave_out),
        counts=present,
        similarities=stack,
        order=falling_order(stack),
    )
    columns, curves = run_plan(pairs, plan, threads)
    protocol = describe(pairs, k=int(k), ties=ties, formula=formula)
    return _unpacked(columns, curves, plan, list(matrices), protocol)


def describe(pairs: Pairs, **chosen: Any) -> dict[str, Any]:
    """The protocol by the keys of a report."""
    return {
        "database": "queries" if pairs.leave_out else "given",
        "n_queries": len(pairs.queries),
        "n_database": len(pairs.database),
        "exclude_query": pairs.leave_out,
        "metric": pairs.metric,
        **chosen,
    }


def falling_order(similarities: Floats) -> NDArray[np.int64]:
    """Columns of every row by falling similarity."""
    return np.argsort(-similarities, axis=2, kind="stable").astype(np.int64)


def run_plan(pairs: Pairs, plan: Plan, threads: int | None) -> tuple[Floats, Floats]:
    """(queries, columns) of scores and (M, k) sums of curves, block by block on all cores."""
    m = len(plan.similarities)
    width = AT_K + len(plan.hits) + len(plan.radii) + m
    columns = np.full((len(pairs.queries), width), np.nan)

    def score(start: int, stop: int, curves: Floats) -> None:
        score_block(pairs, plan, start, stop, columns[start:stop], curves)

    return columns, sum_over_blocks(pairs, (m, plan.k), score, threads)


def score_block(pairs: Pairs, plan: Plan, start: int, stop: int, out: Floats, curves: Floats) -> None:
    """Codes with expected ties need only a histogram of distances; all else is sorted."""
    if isinstance(pairs.queries, Codes) and isinstance(pairs.database, Codes) and not plan.stable:
        words = pairs.queries.words[start:stop]
        score_codes(words, pairs.database.words, pairs.database.bits, plan, start, out, curves)
        return
    distances = pairs.distances(start, stop)
    order = np.empty((len(distances), 0), np.int64)
    thresholds = np.empty(0)
    if plan.full or len(plan.radii):
        # small integers are sorted by radix, stable and fast; for reals only a stable order needs the slow sort
        stable = plan.stable or distances.dtype == np.uint16
        order = np.argsort(distances, axis=1, kind="stable" if stable else None)
    else:
        last = max([plan.k, *plan.hits]) - 1 + int(plan.leave_out)
        thresholds = np.partition(distances, last, axis=1)[:, last].astype(np.float64)
    score_rows(distances.astype(np.float64, copy=False), order, thresholds, plan, start, out, curves)


def both_labels(
    pairs: Pairs, labels: ArrayLike, database_labels: ArrayLike | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    own = checked_labels(labels, len(pairs.queries))
    if pairs.leave_out:
        if database_labels is not None:
            raise InputError("database_labels without a database: pass both, or neither for leave-one-out")
        return own, own
    if database_labels is None:
        raise InputError("a database needs database_labels, one class number per item")
    return own, checked_labels(database_labels, len(pairs.database), "database_labels")


def _checked_hits(hits: Sequence[int], pairs: Pairs) -> NDArray[np.int64]:
    if isinstance(hits, str) or not isinstance(hits, Iterable):
        raise InputError(f"hits are the cutoffs of hit@K, a row of whole numbers; got {hits!r}")
    return np.array([checked_k(c, pairs.available, "a cutoff of hits") for c in hits], np.int64)


def _checked_radius(radius: int | None, pairs: Pairs) -> list[int]:
    if radius is None:
        return []
    if pairs.metric != "hamming":
        raise InputError("a radius is a Hamming radius: it needs Codes, not vectors")
    if not is_whole(radius) or radius < 0:
        raise InputError(f"a Hamming radius is a whole number from 0 on, got {radius!r}")
    return [int(radius)]


def _unpacked(
    columns: Floats, curves: Floats, plan: Plan, names: list[str], protocol: dict[str, Any]
) -> RankingScores:
    """Columns by name, in the order in which the kernel writes them."""
    keys = ["map_full", "map_at_k_found", "map_at_k_relevant", "precision_at_k", "recall_at_k"]
    keys += [f"hit_at_{k}" for k in plan.hits]
    keys += ["precision_within_radius"] * len(plan.radii)
    by_key = {f"mahp_{name}": columns[:, len(keys) + m] for m, name in enumerate(names)}
    by_key |= {key: columns[:, i] for i, key in enumerate(keys) if plan.full or key != "map_full"}
    defined = [np.count_nonzero(~np.isnan(by_key[f"mahp_{name}"])) or np.nan for name in names]
    return RankingScores(
        protocol=protocol,
        per_query=by_key,
        curves={f"hp_{name}": curves[m] / defined[m] for m, name in enumerate(names)},
        without_relevant=int(np.count_nonzero(plan.relevant == 0)),
    )
