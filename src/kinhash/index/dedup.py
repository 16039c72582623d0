"""Near-duplicates: all pairs of items within a radius, and the groups that they form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.checks import checked_radius
from kinhash.index.results import IdArray, joined_pairs
from kinhash.index.scan import pair_blocks

Announce = Callable[[int, int], object]  # items compared with all later ones, items in all


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Pairs in the order (left id, distance, right id), left before right; groups of items that pairs connect.

    A group is a chain: its ends may lie further apart than the radius. Groups and the ids in them are in id order.
    """

    left: IdArray
    right: IdArray
    distances: NDArray[np.int32]
    groups: list[IdArray]


def find_duplicates(ids: IdArray, codes: Codes, radius: int, progress: Announce | None = None) -> Duplicates:
    """Compare every code with all later ones; `ids` ascend."""
    checked_radius(radius, codes.bits)
    blocks = pair_blocks(codes, radius, progress=progress) if len(codes) else ()
    pairs = joined_pairs(blocks)
    groups = [ids[rows] for rows in components(pairs.left, pairs.right)]
    return Duplicates(ids[pairs.left], ids[pairs.right], pairs.distances, groups)


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
