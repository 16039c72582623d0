"""`Graph`: the shape of a hierarchy as arrays. Nodes are numbers; names are the business of `Taxonomy` and `WordNet`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import TaxonomyError
from kinhash.kernels.taxonomy import Ancestry, Bounds, Ints, list_ancestors, measure_graph, shortcut_steps

Positions = NDArray[np.int64]
_SHOWN = 10  # nodes of a cycle in a message


@dataclass(frozen=True)
class Part:
    """All ancestors of some nodes, numbered parents first, with a root that lies above all of them."""

    members: Positions  # number in the part -> node of the whole graph
    graph: Ancestry

    def local(self, nodes: Positions) -> Ints:
        """Numbers of `nodes` within the part."""
        order = np.argsort(self.members)
        return order[np.searchsorted(self.members, nodes, sorter=order)].astype(np.int32)

    @cached_property
    def around(self) -> Ancestry:
        """The same part with steps that may lead down again; see `shortcut_steps`."""
        return self.graph._replace(steps=shortcut_steps(self.graph))


class Graph:
    """A directed acyclic graph: `parents[parent_bounds[u]:parent_bounds[u + 1]]` are the parents of node u.

    `names` and `source` serve error messages, and `names` break ties; `rank[u]` is the place of u when nodes are
    sorted by name. Depths are counted from 0 at the roots. Several roots are allowed, but not above one set of classes.
    """

    def __init__(
        self,
        parent_bounds: Bounds,
        parents: Ints,
        names: Sequence[str],
        rank: Ints | None = None,
        source: str = "the hierarchy",
    ) -> None:
        self.parent_bounds = parent_bounds
        self.parents = parents
        self.names = names
        self.source = source
        self._rank = rank
        self.child_bounds, self.children = _reversed(parent_bounds, parents)
        n = len(parent_bounds) - 1
        order, self.min_depth, self.max_depth, self.height = np.zeros((4, n), np.int32)
        reached = measure_graph(
            parent_bounds,
            parents,
            self.child_bounds,
            self.children,
            order,
            self.min_depth,
            self.max_depth,
            self.height,
        )
        if reached < n:
            raise TaxonomyError(
                f"{source} runs in a circle: {' -> '.join(self._circle(order[:reached]))} "
                "(parent -> child). Remove one of these edges"
            )

    def __len__(self) -> int:
        return len(self.parent_bounds) - 1

    @cached_property
    def rank(self) -> Ints:
        """Place of every node when all are sorted by name."""
        if self._rank is not None:
            return self._rank
        rank = np.empty(len(self), np.int32)
        rank[sorted(range(len(self)), key=self.names.__getitem__)] = np.arange(len(self), dtype=np.int32)
        return rank

    @property
    def roots(self) -> Positions:
        """Nodes without a parent."""
        return np.flatnonzero(np.diff(self.parent_bounds) == 0)

    @property
    def leaves(self) -> Positions:
        """Nodes without a child."""
        return np.flatnonzero(np.diff(self.child_bounds) == 0)

    def parents_of(self, node: int) -> list[int]:
        """In the order in which they were given."""
        return [int(p) for p in self.parents[self.parent_bounds[node] : self.parent_bounds[node + 1]]]

    def children_of(self, node: int) -> list[int]:
        """By number."""
        return [int(c) for c in self.children[self.child_bounds[node] : self.child_bounds[node + 1]]]

    def above(self, nodes: Positions) -> Positions:
        """`nodes` and all their ancestors, ascending by number."""
        seen = np.zeros(len(self), np.bool_)
        frontier = np.unique(nodes)
        while len(frontier):
            seen[frontier] = True
            reached = _gather(self.parent_bounds, self.parents, frontier)
            frontier = np.unique(reached[~seen[reached]])
        return np.flatnonzero(seen)

    def part(self, nodes: Positions) -> Part:
        """The part of the graph that decides how similar `nodes` are; several roots above them are an error."""
        members = self.above(nodes)
        members = members[np.argsort(self.max_depth[members], kind="stable")]
        counts = np.diff(self.parent_bounds)[members]
        roots = members[counts == 0]
        if len(roots) > 1:
            raise TaxonomyError(
                f"{self.source}: the classes lie below {len(roots)} roots ({self._listed(roots)}), so they have no common "
                "measure; add one node above these, or choose classes below one of them"
            )
        number = np.empty(len(self), np.int32)
        number[members] = np.arange(len(members), dtype=np.int32)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        parents = number[_gather(self.parent_bounds, self.parents, members)]
        return Part(members, Ancestry(bounds, parents, *list_ancestors(bounds, parents)))

    def _listed(self, nodes: Positions) -> str:
        shown = ", ".join(self.names[int(node)] for node in nodes[:4])
        return shown + (", ..." if len(nodes) > 4 else "")

    def _circle(self, reached: Ints) -> list[str]:
        """Names along one cycle, parent before child: among nodes not reached, walking up must come back."""
        left = np.ones(len(self), np.bool_)
        left[reached] = False
        walk: dict[int, int] = {}
        node = int(np.flatnonzero(left)[0])
        while node not in walk:
            walk[node] = len(walk)
            node = next(p for p in self.parents_of(node) if left[p])
        circle = [node, *list(walk)[walk[node] :][::-1]]
        names = [self.names[step] for step in circle]
        return names if len(names) <= _SHOWN else [*names[: _SHOWN - 2], "...", names[-1]]


def _gather(bounds: Bounds, values: Ints, nodes: Positions) -> Ints:
    """The lists of `nodes`, end to end."""
    counts = bounds[nodes + 1] - bounds[nodes]
    shift = np.repeat(bounds[nodes] - np.cumsum(counts) + counts, counts)
    return values[shift + np.arange(counts.sum())]


def _reversed(bounds: Bounds, values: Ints) -> tuple[Bounds, Ints]:
    """Lists of children from lists of parents."""
    n = len(bounds) - 1
    counts = np.bincount(values, minlength=n)
    owners = np.repeat(np.arange(n, dtype=np.int32), np.diff(bounds))
    return np.concatenate([[0], np.cumsum(counts)]), owners[np.argsort(values, kind="stable")]
