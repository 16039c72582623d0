"""Near-duplicates: the groups that pairs of items within a radius form, and the pairs themselves where they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.checks import checked_radius
from kinhash.index.results import IdArray, Pairs, joined_pairs
from kinhash.index.scan import pair_blocks

Announce = Callable[[int, int], object]  # items compared with all later ones, items in all
Rows = NDArray[np.int64]

_FEW = 1 << 20  # pairs that wait until they are put into groups


@dataclass(frozen=True, eq=False)
class IdPairs:
    """Pairs of ids in the order (left, distance, right), left before right."""

    left: IdArray
    right: IdArray
    distances: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Groups of items that pairs connect, how many pairs there are, and the pairs where they were asked for.

    A group is a chain: its ends may lie further apart than the radius. Groups and the ids in them are in id order.
    """

    groups: list[IdArray]
    count: int
    pairs: IdPairs | None = None


def find_duplicates(
    ids: IdArray, codes: Codes, radius: int, *, pairs: bool = False, progress: Announce | None = None
) -> Duplicates:
    """Compare every code with all later ones; `ids` ascend."""
    checked_radius(radius, codes.bits)
    if not len(codes):
        return Duplicates([], 0, IdPairs(ids, ids, np.empty(0, dtype=np.int32)) if pairs else None)
    if not pairs:
        groups, count = _groups(codes, radius, progress)
        return Duplicates([ids[rows] for rows in groups], count)
    found = joined_pairs(pair_blocks(codes, radius, progress=progress))
    listed = IdPairs(ids[found.left], ids[found.right], found.distances)
    return Duplicates([ids[rows] for rows in components(found.left, found.right)], len(found), listed)


def _groups(codes: Codes, radius: int, progress: Announce | None) -> tuple[list[Rows], int]:
    """Groups of rows, and the number of pairs. Equal codes are compared once, and no pair is kept for long."""
    _, first, which, sizes = np.unique(
        codes.words, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    which = which.ravel()
    done = np.cumsum(sizes)  # a code of many items counts for all of them

    def announce(compared: int, _: int) -> None:
        if progress is not None:
            progress(int(done[compared - 1]), len(codes))

    count = int((sizes * (sizes - 1) // 2).sum())
    if radius == 0:
        joined = Forest()
        announce(len(first), len(first))
    else:
        joined, apart = _forest(pair_blocks(codes[first], radius, progress=announce), sizes)
        count += apart
    equal = first[which] != np.arange(len(codes))  # each such row belongs to the first one of its code
    rows = np.flatnonzero(equal)
    left, right = joined.edges()
    return components(
        np.concatenate([first[which[rows]], first[left]]), np.concatenate([rows, first[right]])
    ), count


def _forest(blocks: Iterator[Pairs], sizes: Rows) -> tuple[Forest, int]:
    """What connects distinct codes, and how many pairs of items they make: `sizes` have each code."""
    joined, count = Forest(), 0
    for block in blocks:
        count += int((sizes[block.left] * sizes[block.right]).sum())
        joined.add(block.left, block.right)
    return joined, count


class Forest:
    """Which rows are connected, in at most one edge a row and the few pairs that came since they were last counted."""

    def __init__(self) -> None:
        self._edges: list[tuple[Rows, Rows]] = []
        self._waiting, self._limit = 0, _FEW

    def add(self, left: Rows, right: Rows) -> None:
        self._edges.append((left, right))
        self._waiting += len(left)
        if self._waiting > self._limit:
            rows, label = labels(*self.edges())
            inner = label != np.arange(len(rows))
            self._edges = [(rows[label[inner]], rows[inner])]
            self._waiting = int(np.count_nonzero(inner))
            self._limit = max(_FEW, 2 * self._waiting)

    def edges(self) -> tuple[Rows, Rows]:
        return _joined(left for left, _ in self._edges), _joined(right for _, right in self._edges)


def _joined(parts: Iterable[Rows]) -> Rows:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def components(left: Rows, right: Rows) -> list[Rows]:
    """Rows that are connected by pairs, each group ascending, in the order of their first rows."""
    rows, label = labels(left, right)
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    return np.split(rows[order], starts[1:]) if len(rows) else []


def labels(left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """The rows that pairs name, ascending, and for each the place among them of the least that it is connected with."""
    rows, ends = np.unique(np.concatenate([left, right]), return_inverse=True)
    a, b = ends[: len(left)], ends[len(left) :]
    label = np.arange(len(rows))
    while True:  # every row learns the least row that it is connected with; chains halve in every round
        before = label.copy()
        least = np.minimum(label[a], label[b])
        for end in (a, b):
            np.minimum.at(label, label[end], least)
        label = np.minimum(label, label[label])
        if (label == before).all():
            return rows, label
