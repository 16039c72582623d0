"""Similarities by sets and recursion, straight from their definitions: slow and obvious."""

from __future__ import annotations


class NaiveDag:
    """`parents`: node -> the names above it; the root has none."""

    def __init__(self, parents: dict[str, list[str]]) -> None:
        self.parents = parents
        self._ways: dict[str, list[list[str]]] = {}

    def above(self, node: str) -> set[str]:
        return {node}.union(*(self.above(p) for p in self.parents[node]))

    def ways_up(self, node: str) -> list[list[str]]:
        if node not in self._ways:
            above = [way for p in self.parents[node] for way in self.ways_up(p)]
            self._ways[node] = [[node, *way] for way in above] or [[node]]
        return self._ways[node]

    def min_depth(self, node: str) -> int:
        return min(len(way) for way in self.ways_up(node)) - 1

    def max_depth(self, node: str) -> int:
        return max(len(way) for way in self.ways_up(node)) - 1

    def height(self, node: str) -> int:
        return max(way.index(node) for other in self.parents for way in self.ways_up(other) if node in way)

    def up(self, node: str, ancestor: str) -> int:
        return min(way.index(ancestor) for way in self.ways_up(node) if ancestor in way)

    def around(self, a: str, b: str) -> int:
        """Shortest way from a up to a common ancestor and down to b."""
        return min(self.up(a, c) + self.up(b, c) for c in self.above(a) & self.above(b))

    def lcs(self, a: str, b: str) -> str:
        common = self.above(a) & self.above(b)
        return min(common, key=lambda c: (-self.max_depth(c), self.height(c), c))

    def lcs_height(self, a: str, b: str, top: int) -> float:
        return 1.0 - self.height(self.lcs(a, b)) / top

    def barz(self, a: str, b: str) -> float:
        c = self.lcs(a, b)
        depth = self.max_depth(c) + 1
        return 2.0 * depth / (self.up(a, c) + depth + self.up(b, c) + depth)

    def nltk(self, a: str, b: str) -> float:
        common = self.above(a) & self.above(b)
        deepest = max(self.min_depth(c) for c in common)
        lowest = sorted(c for c in common if self.min_depth(c) == deepest)
        subsumer = a if a in lowest else lowest[0]
        depth = self.max_depth(subsumer) + 1
        return 2.0 * depth / (self.around(a, subsumer) + depth + self.around(b, subsumer) + depth)
