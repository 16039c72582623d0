"""Index the codes of the test pictures, search three of them, and draw what came."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from kinhash.codes import Codes
from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.index.index import Index
from kinhash.meaning.semantics import Semantics
from kinhash.pages.montage import Tile, montage

ASKED = ("leopard", "bicycle", "oak_tree")  # fixed beforehand: what comes is not chosen, misses included
SHOWN = 7


@dataclass(frozen=True)
class Search:
    """One query, the picture `row` of the split, and the rows and distances of its nearest neighbours."""

    row: int
    hits: tuple[tuple[int, int], ...]  # (row, Hamming distance), nearest first


def search_examples(folder: Path, split: Split, codes: Codes) -> list[Search]:
    """Write an index of all pictures except the queries to `folder`, and search it for the queries."""
    labels = split.targets()
    queries = [_first_of(split, name) for name in ASKED]
    others = np.setdiff1d(np.arange(len(split)), queries)
    names = [{"class": split.classes[labels[row]]} for row in others]
    with Index.create(folder, bits=codes.bits) as index:
        index.add([split.ids[row] for row in others], codes[others], names)
        found = index.search(codes[queries], k=SHOWN)
    rows = {name: row for row, name in enumerate(split.ids)}
    return [
        Search(query, tuple((rows[name], int(bits)) for name, bits in zip(*found[i], strict=True)))
        for i, query in enumerate(queries)
    ]


def picture_of(searches: list[Search], split: Split, kin: Semantics) -> Image.Image:
    """A row per search: the query, then its hits, framed from green (the same class) to red (unrelated)."""
    return montage(
        [[_tile(split, one.row), *(_hit(split, kin, one.row, hit) for hit in one.hits)] for one in searches]
    )


def sentences(searches: list[Search], split: Split) -> list[str]:
    """'leopard -> tiger (3 bits), ...' of every search."""
    return [
        f"{_name(split, one.row)} -> " + ", ".join(f"{_name(split, row)} ({bits})" for row, bits in one.hits)
        for one in searches
    ]


def _hit(split: Split, kin: Semantics, query: int, hit: tuple[int, int]) -> Tile:
    labels = split.targets()
    row, bits = hit
    likeness = 1 - float(kin.distance[labels[query], labels[row]])
    return _tile(split, row, f"{bits} bits apart", likeness)


def _tile(split: Split, row: int, note: str = "query", similarity: float | None = None) -> Tile:
    assert isinstance(split.images, np.ndarray)
    return Tile(split.images[row], _name(split, row), note, similarity)


def _name(split: Split, row: int) -> str:
    return split.classes[split.targets()[row]].replace("_", " ")


def _first_of(split: Split, name: str) -> int:
    if name not in split.classes or not (split.targets() == split.classes.index(name)).any():
        raise InputError(f"the demo searches for a {name!r}, and none of the test pictures shows one")
    return int(np.argmax(split.targets() == split.classes.index(name)))
