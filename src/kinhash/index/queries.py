"""The queries of an index on disk: every run is asked, and the answers become one, ordered by (distance, id)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes, width_of
from kinhash.frozen import handed_over
from kinhash.index.checks import Allowed, check_queries, checked_k, checked_radius
from kinhash.index.filters import Filter
from kinhash.index.ids import Id
from kinhash.index.results import IdArray, IdHits, RaggedIdHits, joined_offsets, joined_order
from kinhash.index.snapshot import Run, Snapshot


def search(snapshot: Snapshot, queries: Codes, k: int, where: Filter | None, fewer: bool) -> IdHits:
    """The k nearest items of every query. With `fewer`, all that pass where they are less than k."""
    check_queries(queries, snapshot.bits, "index")
    runs = _passing(snapshot, where)
    available = sum(count for _, _, count in runs)
    if fewer:
        checked_k(k, k, filtered=False)
    if fewer and available < k:
        k = available
        if k == 0:
            return _nothing(snapshot, len(queries))
    checked_k(k, available, filtered=where is not None)
    if not len(queries):
        return IdHits(_nothing(snapshot, 0).ids.reshape(0, k), np.empty((0, k), dtype=np.int32))
    found = [(run, run.nearest(queries, min(k, count), allowed)) for run, allowed, count in runs if count]
    ids = np.concatenate([run.ids(hits.positions) for run, hits in found], axis=1)
    distances = np.concatenate([hits.distances for _, hits in found], axis=1)
    if len(found) > 1:
        order = np.lexsort((ranks(ids), distances), axis=1)[:, :k]
        ids, distances = np.take_along_axis(ids, order, 1), np.take_along_axis(distances, order, 1)
    return IdHits(ids, distances)


def within(snapshot: Snapshot, queries: Codes, radius: int, where: Filter | None) -> RaggedIdHits:
    """Every item within a radius of every query, in (distance, id) order."""
    check_queries(queries, snapshot.bits, "index")
    checked_radius(radius, snapshot.bits)
    runs = [(run, allowed) for run, allowed, count in _passing(snapshot, where) if count]
    if not runs or not len(queries):
        nothing = _nothing(snapshot, 0)
        offsets = np.zeros(len(queries) + 1, dtype=np.int64)
        return RaggedIdHits(offsets, nothing.ids.ravel(), nothing.distances.ravel())
    found = [(run, run.within(queries, radius, allowed)) for run, allowed in runs]
    ids = np.concatenate([run.ids(hits.positions) for run, hits in found])
    distances = np.concatenate([hits.distances for _, hits in found])
    counts = [np.diff(hits.offsets) for _, hits in found]
    if len(found) > 1:
        order = joined_order(counts, ranks(ids), distances)
        ids, distances = ids[order], distances[order]
    return RaggedIdHits(joined_offsets(counts), ids, distances)


def everything(snapshot: Snapshot, where: Filter | None) -> tuple[IdArray, Codes]:
    """Ids and codes of all items, or of those that pass, in id order."""
    ids, words = [_nothing(snapshot, 0).ids.ravel()], []
    for run, allowed, _ in _passing(snapshot, where):
        mask = run.alive if allowed is None else allowed
        positions = np.flatnonzero(mask) if mask.dtype == np.bool_ else mask.astype(np.int64, copy=False)
        ids.append(run.ids(positions))
        words += [run.take_words(positions)]
    found = np.concatenate(ids)
    rows = np.concatenate([np.empty((0, width_of(snapshot.bits)), dtype=np.uint64), *words])
    if len(snapshot.runs) > 1:
        order = np.argsort(ranks(found), kind="stable")
        found, rows = found[order], rows[order]
    return found, Codes(handed_over(rows), snapshot.bits)


def page(snapshot: Snapshot, limit: int, after: Id | None, where: Filter | None) -> list[Id]:
    """The first `limit` ids behind `after`, in id order."""
    found: list[Id] = []
    for run, allowed, passed in _passing(snapshot, where):
        if passed:
            found += run.ids(run.following(after, limit, allowed)).tolist()
    return sorted(found)[:limit]


def count(snapshot: Snapshot, where: Filter | None) -> int:
    """How many items pass."""
    return sum(passed for _, _, passed in _passing(snapshot, where))


def ranks(ids: IdArray) -> NDArray[np.int64]:
    """Numbers that order as the ids do."""
    if ids.dtype != object:
        return ids
    return np.unique(ids.ravel(), return_inverse=True)[1].reshape(ids.shape)


def _passing(snapshot: Snapshot, where: Filter | None) -> list[tuple[Run, Allowed | None, int]]:
    """Every run, what the filter leaves of it, and how much that is."""
    if where is None:
        return [(run, None, run.live) for run in snapshot.runs]
    found: list[tuple[Run, Allowed | None, int]] = []
    for run in snapshot.runs:
        allowed = run.allowed(where)
        mask = allowed.dtype == np.bool_
        found.append((run, allowed, int(np.count_nonzero(allowed)) if mask else len(allowed)))
    return found


def _nothing(snapshot: Snapshot, queries: int) -> IdHits:
    dtype = object if snapshot.kind == "str" else np.int64
    return IdHits(np.empty((queries, 0), dtype=dtype), np.empty((queries, 0), dtype=np.int32))
