"""Near-duplicates: all pairs of items within a radius, and the groups that they form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.results import IdArray
from kinhash.index.scan import checked_radius, within

Progress = Callable[[int, int], object]  # items compared with all later ones, items in all
_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Pairs in the order (left id, distance, right id), left before right; groups of items that pairs connect.

    A group is a chain: its ends may lie further apart than the radius. Groups and the ids in them are in id order.
    """

    left: IdArray
    right: IdArray
    distances: NDArray[np.int32]
    groups: list[IdArray]


def find_duplicates(ids: IdArray, codes: Codes, radius: int, progress: Progress | None = None) -> Duplicates:
    """Compare every code with all later ones; `ids` ascend."""
    checked_radius(radius, codes.bits)
    left, right, distances = [_none()], [_none()], [np.empty(0, dtype=np.int32)]
    for first in range(0, len(codes), _BLOCK):
        block = codes[first : first + _BLOCK]
        hits = within(block, [(codes.words[first:], first)], radius)
        owner = np.repeat(np.arange(first, first + len(block)), np.diff(hits.offsets))
        later = owner < hits.positions
        left.append(owner[later])
        right.append(hits.positions[later])
        distances.append(hits.distances[later])
        if progress is not None:
            progress(first + len(block), len(codes))
    a, b = np.concatenate(left), np.concatenate(right)
    return Duplicates(ids[a], ids[b], np.concatenate(distances), [ids[rows] for rows in components(a, b)])


def components(left: NDArray[np.int64], right: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rows that are connected by pairs, each group ascending, in the order of their first rows."""
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
            break
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    return np.split(rows[order], starts[1:]) if len(rows) else []


def _none() -> NDArray[np.int64]:
    return np.empty(0, dtype=np.int64)
