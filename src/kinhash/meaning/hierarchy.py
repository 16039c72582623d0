"""Similarity of nodes by their place in a hierarchy: height of the lowest common subsumer, and Wu-Palmer.

Three variants of Wu-Palmer, which differ in what "lowest" means where a node has several parents:

* ``"nltk"``: what NLTK computes, to the bit. Lowest = largest *shortest* way from the root; the row's own node wins
  among equals, else the first by name; D is its *longest* way. Not symmetric, and a node may be unlike itself.
* ``"symmetric"``: the mean of ``"nltk"`` in both directions, and 1 between a node and itself. The default.
* ``"barz"``: lowest = largest longest way from the root (Barz & Denzler, WACV 2019).

With W = 2 D / (s_a + s_b + 2 D), D = nodes from the root to the subsumer, s = edges from each node to it
(Wu & Palmer, ACL 1994).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinhash.arrays import checked_choice
from kinhash.errors import InputError
from kinhash.kernels.taxonomy import Ints, subsumer_rows, wu_palmer_rows
from kinhash.kernels.threads import map_blocks
from kinhash.meaning.graph import Graph, Part, Positions

Floats = NDArray[np.float64]
VARIANTS = ("symmetric", "nltk", "barz")
_BLOCK = 128  # rows at a time; bounds the memory for subsumers, and fewer are not worth a second thread
_TILE = 1024


def wu_palmer(
    graph: Graph, nodes: Positions, variant: str = "symmetric", threads: int | None = None
) -> Floats:
    """(n, n) Wu-Palmer similarities in (0, 1] between `nodes`; see the module for the variants."""
    checked_choice(variant, VARIANTS, "variant")
    part = graph.part(nodes)
    depth = graph.max_depth[part.members] + np.int32(1)
    ways = part.graph if variant == "barz" else part.around
    keys = _Preference(graph, part, variant)
    own = part.local(nodes)
    out = np.empty((len(nodes), len(nodes)))

    def run(start: int, stop: int) -> None:
        common = keys.subsumers(own[start:stop], own)
        wu_palmer_rows(own[start:stop], own, ways, depth, common, out[start:stop])

    map_blocks(run, len(nodes), _BLOCK, threads)
    return _symmetrised(out, own) if variant == "symmetric" else out


def lcs_height(
    graph: Graph, nodes: Positions, variant: str = "symmetric", threads: int | None = None
) -> Floats:
    """(n, n) similarities `1 - height(lcs) / height(root)` (Deng et al. 2011; Barz & Denzler, WACV 2019).

    height = longest way down to a leaf, lcs = the common ancestor with the longest way from the root; among equals
    the lowest, then the first by name. With "barz" an inner node is unlike itself by its height; "symmetric" sets 1.
    """
    if checked_choice(variant, VARIANTS, "variant") == "nltk":
        raise InputError("NLTK has no LCS height; choose the variant 'symmetric' or 'barz', or measure='wup'")
    part = graph.part(nodes)
    height = graph.height[part.members]
    keys = _Preference(graph, part, "barz")
    own = part.local(nodes)
    share = 1.0 - height / max(1, int(height.max()))
    out = np.empty((len(nodes), len(nodes)))

    def run(start: int, stop: int) -> None:
        out[start:stop] = share[keys.subsumers(own[start:stop], own)]

    map_blocks(run, len(nodes), _BLOCK, threads)
    return _equal_to_itself(out, own) if variant == "symmetric" else out


def common_subsumer(graph: Graph, a: int, b: int, variant: str = "barz") -> int:
    """The node that `variant` takes as the lowest common subsumer of a and b, seen from a."""
    nodes = np.array([a, b])
    part = graph.part(nodes)
    own = part.local(nodes)
    return int(part.members[_Preference(graph, part, variant).subsumers(own[:1], own[1:])[0, 0]])


class _Preference:
    """Which of several common ancestors counts: the one with the smallest key."""

    def __init__(self, graph: Graph, part: Part, variant: str) -> None:
        self.graph = part.graph
        nodes = part.members
        if variant == "barz":
            depth = graph.max_depth[nodes]
            order = np.lexsort((graph.rank[nodes], graph.height[nodes], -depth))
        else:
            depth = graph.min_depth[nodes]
            order = np.lexsort((graph.rank[nodes], -depth))
        place = np.empty(len(nodes), np.int32)
        place[order] = np.arange(len(nodes), dtype=np.int32)
        self.by_key = order.astype(np.int32)
        self.keys = 2 * place + np.int32(1)
        self.own_keys = self.keys
        if variant != "barz":  # among equals the row's own node comes first
            equals_begin = np.searchsorted(-depth[order], -depth)
            self.own_keys = (2 * equals_begin).astype(np.int32)

    def subsumers(self, rows: Ints, columns: Ints) -> Ints:
        """(rows, columns) numbers within the part."""
        out = np.empty((len(rows), len(columns)), np.int32)
        subsumer_rows(rows, columns, self.graph, self.keys, self.own_keys, self.by_key, out)
        return out


def _symmetrised(values: Floats, nodes: Ints) -> Floats:
    """(W + W^T) / 2 in place, tile by tile: the matrix may fill half of the memory."""
    n = len(values)
    for i in range(0, n, _TILE):
        for j in range(i, n, _TILE):
            upper, lower = values[i : i + _TILE, j : j + _TILE], values[j : j + _TILE, i : i + _TILE]
            mean = (upper + lower.T) / 2
            upper[:] = mean
            lower[:] = mean.T
    return _equal_to_itself(values, nodes)


def _equal_to_itself(values: Floats, nodes: Ints) -> Floats:
    """1 wherever row and column are the same node, which two classes may share."""
    order = np.argsort(nodes, kind="stable")
    np.fill_diagonal(values, 1.0)
    for group in np.split(order, np.flatnonzero(np.diff(nodes[order])) + 1):
        if len(group) > 1:
            values[np.ix_(group, group)] = 1.0
    return values
