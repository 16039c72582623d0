"""Every metric of a ranking in one pass over the data: hierarchical precision, AP, precision, recall, hits.

Protocol: a query of class c ranks the database by distance; with `database=None` the database is the query set
without the query itself. Ties: `"expected"` gives the exact mean over all orders inside groups of equal
distance, `"stable"` keeps the order of the database. An item is relevant when its class is the query's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.kernels.scoring import PER_CUTOFF, Plan, score_codes, score_rows
from kinhash.kernels.threads import map_blocks
from kinhash.metrics.inputs import (
    checked_choice,
    checked_k,
    checked_label_range,
    checked_labels,
    checked_similarities,
)
from kinhash.metrics.pairs import Pairs, checked_pairs

Floats = NDArray[np.float64]
TIES = ("expected", "stable")
FORMULAS = ("corrected", "legacy")
_SPANS = 64  # fixed, so that sums of curves do not depend on the number of threads


@dataclass(frozen=True)
class RankingScores:
    """Scores of every query, and the protocol that they were measured under.

    All arrays have one entry per query. NaN marks a query for which a value does not exist: one without any
    relevant item in the database (relevance metrics), or without any similar one (hierarchical metrics). Such
    queries are left out of the means and counted in `without_relevant`.
    """

    protocol: dict[str, Any]
    ahp: dict[str, Floats]  # similarity -> AHP@k
    curves: dict[str, Floats]  # similarity -> (k,) mean HP@1..k
    ap: Floats | None  # over the whole ranking; None where it was not asked for
    ap_over_found: dict[int, Floats]  # cutoff -> AP@cutoff / hits found (what hashing papers print)
    ap_over_relevant: dict[int, Floats]  # cutoff -> AP@cutoff / min(cutoff, relevant)
    precision: dict[int, Floats]
    recall: dict[int, Floats]
    hit: dict[int, Floats]  # chance of at least one relevant item up to the cutoff
    within: dict[int, Floats]  # Hamming radius -> precision among the items within it; 0 where there is none
    without_relevant: int

    def means(self) -> dict[str, float]:
        """Mean over the queries that have a value, by printed name; NaN where none has."""
        named = {f"mahp@{self.protocol['k']} {name}": values for name, values in self.ahp.items()}
        if self.ap is not None:
            named["map"] = self.ap
        for k in self.precision:
            named[f"map@{k} /found"] = self.ap_over_found[k]
            named[f"map@{k} /relevant"] = self.ap_over_relevant[k]
            named[f"precision@{k}"] = self.precision[k]
            named[f"recall@{k}"] = self.recall[k]
            named[f"hit@{k}"] = self.hit[k]
        for radius, values in self.within.items():
            named[f"precision r<={radius}"] = values
        return {name: mean_of_defined(values) for name, values in named.items()}


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
    cutoffs: Sequence[int] | None = None,
    radii: Sequence[int] = (),
    full: bool = True,
    ties: str = "expected",
    formula: str = "corrected",
    metric: str = "l1",
    threads: int | None = None,
) -> RankingScores:
    """Many metrics at once.

    `similarities`: name -> (C, C) matrix in [0, 1], each yields AHP@k and its curve. `cutoffs` (default: k) are
    those of AP@, precision@, recall@ and hit@. `radii`: Hamming radii of precision within. `full`: AP over the
    whole ranking. `metric` ("l1", "l2", "dot") ranks vectors; codes are ranked by Hamming distance.
    """
    pairs = checked_pairs(queries, database, metric)
    query_labels, items = _both_labels(pairs, labels, database_labels)
    matrices = checked_similarities(similarities)
    for matrix in matrices.values():
        checked_label_range(query_labels, len(matrix), "labels")
        checked_label_range(items, len(matrix), "labels" if pairs.leave_out else "database_labels")
    query_labels, items, stack = _compressed(query_labels, items, list(matrices.values()))
    plan = make_plan(
        pairs,
        query_labels,
        items,
        stack,
        k=checked_k(k, pairs.available, at_least=2) if matrices else 0,
        cutoffs=[checked_k(c, pairs.available, "cutoff") for c in ((k,) if cutoffs is None else cutoffs)],
        radii=_checked_radii(radii, pairs),
        full=full,
        stable=checked_choice(ties, TIES, "ties") == "stable",
        corrected=checked_choice(formula, FORMULAS, "formula") == "corrected",
    )
    columns, curves = run_plan(pairs, plan, threads)
    protocol = describe(pairs, k=k, ties=ties, formula=formula)
    return _unpacked(columns, curves, plan, list(matrices), protocol)


def describe(pairs: Pairs, **chosen: Any) -> dict[str, Any]:
    """The protocol in words that go into a report."""
    return {
        "database": "same set, query left out" if pairs.leave_out else "other set",
        "queries": len(pairs.queries),
        "items": pairs.available,
        "metric": pairs.metric,
        **chosen,
    }


def make_plan(
    pairs: Pairs,
    labels: NDArray[np.int64],
    items: NDArray[np.int64],
    similarities: Floats,
    *,
    k: int,
    cutoffs: Sequence[int],
    radii: Sequence[int],
    full: bool,
    stable: bool,
    corrected: bool,
) -> Plan:
    """The request in the form that kernels take; labels are small whole numbers by now."""
    counts = np.bincount(items, minlength=similarities.shape[2])
    present = np.zeros(max(len(counts), int(labels.max()) + 1), np.int64)
    present[: len(counts)] = counts
    return Plan(
        k=k,
        full=full,
        corrected=corrected,
        stable=stable,
        leave_out=pairs.leave_out,
        cutoffs=np.array(cutoffs, np.int64),
        radii=np.array(radii, np.float64),
        labels=labels,
        rows=labels,
        items=items,
        relevant=present[labels] - int(pairs.leave_out),
        counts=present,
        similarities=similarities,
        order=falling_order(similarities),
    )


def falling_order(similarities: Floats) -> NDArray[np.int64]:
    """Columns of every row by falling similarity."""
    return np.argsort(-similarities, axis=2, kind="stable").astype(np.int64)


def run_plan(pairs: Pairs, plan: Plan, threads: int | None) -> tuple[Floats, Floats]:
    """(queries, columns) of scores and (M, k) sums of curves, block by block on all cores."""
    m = len(plan.similarities)
    width = 1 + PER_CUTOFF * len(plan.cutoffs) + len(plan.radii) + m
    columns = np.full((len(pairs.queries), width), np.nan)
    span = -(-len(columns) // _SPANS)
    curves = np.zeros((-(-len(columns) // span), m, plan.k))

    def run(start: int, stop: int) -> None:
        for left in range(start, stop, pairs.block):
            right = min(left + pairs.block, stop)
            score_block(pairs, plan, left, right, columns[left:right], curves[start // span])

    map_blocks(run, len(columns), span, threads)
    return columns, curves.sum(axis=0)


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
        depth = max(plan.k, *plan.cutoffs) if len(plan.cutoffs) else plan.k
        last = depth - 1 + int(plan.leave_out)
        thresholds = np.partition(distances, last, axis=1)[:, last].astype(np.float64)
    score_rows(distances.astype(np.float64, copy=False), order, thresholds, plan, start, out, curves)


def _both_labels(
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


def _compressed(
    labels: NDArray[np.int64], items: NDArray[np.int64], matrices: list[Floats]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Number only the classes that occur: any integers may be labels, and 21,000 unused classes cost nothing."""
    used, numbers = np.unique(np.concatenate([labels, items]), return_inverse=True)
    stack = np.empty((len(matrices), len(used), len(used)))
    for m, matrix in enumerate(matrices):
        stack[m] = matrix[np.ix_(used, used)]
    numbers = numbers.astype(np.int64)
    return numbers[: len(labels)].copy(), numbers[len(labels) :].copy(), stack


def _checked_radii(radii: Sequence[int], pairs: Pairs) -> list[int]:
    if len(radii) and pairs.metric != "hamming":
        raise InputError("radii are Hamming radii: they need Codes, not vectors")
    for radius in radii:
        if isinstance(radius, bool) or not isinstance(radius, int | np.integer) or radius < 0:
            raise InputError(f"a Hamming radius is a whole number from 0 on, got {radius!r}")
    return [int(radius) for radius in radii]


def _unpacked(
    columns: Floats, curves: Floats, plan: Plan, names: list[str], protocol: dict[str, Any]
) -> RankingScores:
    """Columns by name, in the order in which the kernel writes them."""
    cutoffs = [int(c) for c in plan.cutoffs]
    five = [{c: columns[:, 1 + PER_CUTOFF * i + j] for i, c in enumerate(cutoffs)} for j in range(PER_CUTOFF)]
    first_radius = 1 + PER_CUTOFF * len(cutoffs)
    first_ahp = first_radius + len(plan.radii)
    ahp = {name: columns[:, first_ahp + m] for m, name in enumerate(names)}
    defined = {name: max(1, np.count_nonzero(~np.isnan(values))) for name, values in ahp.items()}
    return RankingScores(
        protocol=protocol,
        ahp=ahp,
        curves={name: curves[m] / defined[name] for m, name in enumerate(names)},
        ap=columns[:, 0] if plan.full else None,
        ap_over_found=five[0],
        ap_over_relevant=five[1],
        precision=five[2],
        recall=five[3],
        hit=five[4],
        within={int(r): columns[:, first_radius + i] for i, r in enumerate(plan.radii)},
        without_relevant=int(np.count_nonzero(plan.relevant == 0)),
    )
