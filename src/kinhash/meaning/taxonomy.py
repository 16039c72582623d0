"""`Taxonomy`: a hierarchy with names, from pairs of parent and child or from a file of them."""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from kinhash.errors import FormatError, NotFoundError, TaxonomyError, UnknownClassError
from kinhash.meaning.graph import Graph, Positions
from kinhash.meaning.hierarchy import Floats, common_subsumer, lcs_height, wu_palmer


class Taxonomy:
    """A tree or a directed acyclic graph of named nodes.

    >>> pets = Taxonomy([("animal", "dog"), ("animal", "cat"), ("dog", "poodle")])
    >>> pets.subsumer("poodle", "cat")
    'animal'
    """

    def __init__(self, edges: Iterable[tuple[str, str]], source: str = "the hierarchy") -> None:
        pairs = _checked_edges(edges, source)
        self.names = tuple(dict.fromkeys(name for pair in pairs for name in pair))
        self._number = {name: i for i, name in enumerate(self.names)}
        children = np.array([self._number[child] for _, child in pairs], np.int32)
        parents = np.array([self._number[parent] for parent, _ in pairs], np.int32)
        order = np.argsort(children, kind="stable")
        counts = np.bincount(children, minlength=len(self.names))
        bounds = np.concatenate([[0], np.cumsum(counts)])
        self.graph = Graph(bounds, parents[order], self.names, source=source)
        self.source = source

    @classmethod
    def from_file(cls, path: str | Path) -> Taxonomy:
        """From lines `parent child`, separated by blanks; `.xz` is unpacked, empty lines and `#` comments are skipped."""
        path = Path(path)
        pairs = []
        for number, line in enumerate(_read(path).splitlines(), start=1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 2:
                raise FormatError(
                    f"{path}, line {number}: expected `parent child`, got {len(words)} words: {line!r}"
                )
            pairs.append((words[0], words[1]))
        return cls(pairs, str(path))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Taxonomy({len(self)} nodes, {len(self.graph.leaves)} leaves, {self.source})"

    @property
    def root(self) -> str:
        """The one node without a parent; several are an error."""
        roots = self.graph.roots
        if len(roots) > 1:
            shown = ", ".join(self.names[r] for r in roots[:4]) + (", ..." if len(roots) > 4 else "")
            raise TaxonomyError(f"{self.source} has {len(roots)} roots ({shown}); add one node above them")
        return self.names[roots[0]]

    @property
    def leaves(self) -> tuple[str, ...]:
        """Names of the nodes without a child, sorted: as numbers where all are whole numbers."""
        names = [self.names[node] for node in self.graph.leaves]
        numeric = all(name.isdecimal() for name in names)
        return tuple(sorted(names, key=int if numeric else str))

    def positions(self, names: Sequence[str]) -> Positions:
        """Numbers of the nodes called `names`; none at all is an error."""
        if isinstance(names, str) or not len(names):
            raise UnknownClassError(f"name at least one node, in a sequence of names; got {names!r:.60}")
        return np.array([self._position(str(name)) for name in names], np.int64)

    def parents(self, name: str) -> list[str]:
        """Names of the nodes directly above."""
        return [self.names[p] for p in self.graph.parents_of(self._position(name))]

    def children(self, name: str) -> list[str]:
        """Names of the nodes directly below."""
        return [self.names[c] for c in self.graph.children_of(self._position(name))]

    def ancestors(self, name: str) -> set[str]:
        """The node itself and all nodes above it."""
        return {self.names[a] for a in self.graph.above(self.positions([name]))}

    def min_depth(self, name: str) -> int:
        """Edges of the shortest way from a root."""
        return int(self.graph.min_depth[self._position(name)])

    def max_depth(self, name: str) -> int:
        """Edges of the longest way from a root."""
        return int(self.graph.max_depth[self._position(name)])

    def height(self, name: str) -> int:
        """Edges of the longest way down to a leaf."""
        return int(self.graph.height[self._position(name)])

    def subsumer(self, a: str, b: str) -> str:
        """The lowest common subsumer: the common ancestor with the longest way from the root."""
        return self.names[common_subsumer(self.graph, self._position(a), self._position(b))]

    def lcs_height(self, names: Sequence[str], variant: str = "symmetric") -> Floats:
        """(n, n) similarities by the height of the common subsumer; see `hierarchy.lcs_height`."""
        return lcs_height(self.graph, self.positions(names), variant)

    def wu_palmer(self, names: Sequence[str], variant: str = "symmetric") -> Floats:
        """(n, n) Wu-Palmer similarities; see `hierarchy`."""
        return wu_palmer(self.graph, self.positions(names), variant)

    def _position(self, name: str) -> int:
        if not isinstance(name, str):
            raise UnknownClassError(f"nodes are called by their names; got {name!r:.60}")
        if name not in self._number:
            close = get_close_matches(name, self.names, n=3)
            hint = (
                f"; did you mean {', '.join(close)}?"
                if close
                else f"; it has nodes like {', '.join(self.names[:3])}"
            )
            raise UnknownClassError(f"{self.source} has no node {name!r}{hint}")
        return self._number[name]


def _checked_edges(edges: Iterable[tuple[str, str]], source: str) -> list[tuple[str, str]]:
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise TaxonomyError(
            f"{source} is made of pairs of parent and child; got {edges!r:.60}. Taxonomy.from_file reads a file of them"
        )
    pairs = []
    for number, edge in enumerate(edges):
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise TaxonomyError(f"{source}: item {number} is no pair of parent and child: {edge!r:.60}")
        pairs.append((str(edge[0]), str(edge[1])))
    if not pairs:
        raise TaxonomyError(f"{source} is empty; give at least one pair of parent and child")
    seen = set()
    for parent, child in pairs:
        if parent == child:
            raise TaxonomyError(f"{source}: node {parent!r} is its own parent; remove that line")
        if (parent, child) in seen:
            raise TaxonomyError(f"{source}: the pair {parent!r} above {child!r} is given twice; remove one")
        seen.add((parent, child))
    return pairs


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
        text = lzma.decompress(content) if path.suffix == ".xz" else content
        return text.decode("utf-8-sig")  # some editors put a byte order mark first
    except FileNotFoundError:
        raise NotFoundError(f"there is no hierarchy file {path}") from None
    except (lzma.LZMAError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is not a text file of `parent child` lines: {error}") from error
    except OSError as error:
        raise NotFoundError(f"the hierarchy file {path} cannot be read: {error}") from error
