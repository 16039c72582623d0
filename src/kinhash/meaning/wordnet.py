"""The nouns of WordNet 3.0, from the resource inside the package: synsets by name, id or word; gloss, ways to the root.

`resources/wordnet30.npz` holds 82,115 synsets (built by `tools/build_wordnet.py`); its licence lies beside it.
Nothing but the shape of the hierarchy is unpacked until somebody asks for words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import overload

import numpy as np

from kinhash.errors import UnknownClassError
from kinhash.meaning.graph import Graph, Positions

_WNID = re.compile(r"n\d{8}")
_NAME = re.compile(r"(.+)\.([a-z])\.(\d+)")


@dataclass(frozen=True)
class Synset:
    """One meaning: `name` is what NLTK calls it ("cat.n.01"), `wnid` what ImageNet calls it ("n02121620")."""

    position: int
    name: str
    wnid: str
    lemmas: tuple[str, ...]
    gloss: str


class WordNet:
    """The noun hierarchy. Synsets are numbered in the order of their ids; `graph` knows them by that number."""

    def __init__(self) -> None:
        with np.load(str(files("kinhash.meaning") / "resources" / "wordnet30.npz")) as arrays:
            self.offsets = arrays["offset"]
            bounds = np.concatenate([[0], np.cumsum(arrays["parent_count"], dtype=np.int64)])
            self.graph = Graph(bounds, arrays["parent"], _Wnids(self.offsets), arrays["rank"], "WordNet")

    def __len__(self) -> int:
        return len(self.offsets)

    def __repr__(self) -> str:
        return f"WordNet({len(self)} noun synsets)"

    def synset(self, key: str | int) -> Synset:
        """By name ("cat.n.01"), by id ("n02121620"), or by position."""
        position = key if isinstance(key, int) else self.position(key)
        if not 0 <= position < len(self):
            raise UnknownClassError(f"synsets are numbered 0 to {len(self) - 1}, got {position}")
        lemmas = self._lemmas[position]
        name = f"{lemmas[0].lower()}.n.{self._senses[self._first[position]]:02d}"
        return Synset(position, name, self.wnid(position), lemmas, self._glosses[position])

    def position(self, key: str) -> int:
        """Number of a synset by id or name; anything else is an error that says what was expected."""
        if not isinstance(key, str):
            raise UnknownClassError(f"a synset is called by a name like 'cat.n.01' or an id; got {key!r:.60}")
        if _WNID.fullmatch(key):
            place = int(np.searchsorted(self.offsets, int(key[1:])))
            if place < len(self) and self.offsets[place] == int(key[1:]):
                return place
            raise UnknownClassError(
                f"WordNet 3.0 has no noun with the id {key!r}; ids of other versions differ"
            )
        if match := _NAME.fullmatch(key):
            return self._named(key, *match.groups())
        raise UnknownClassError(
            f"{key!r} is neither a synset name like 'cat.n.01' nor an id like 'n02121620'"
        )

    def positions(self, keys: Sequence[str]) -> Positions:
        """Numbers of several synsets by id or name."""
        return np.array([self.position(key) for key in keys], np.int64)

    def wnid(self, position: int) -> str:
        """The id of ImageNet: "n" and the 8 digits of the offset."""
        return f"n{self.offsets[position]:08d}"

    def senses(self, lemma: str) -> list[Synset]:
        """All noun meanings of a word, the most frequent first; empty where WordNet does not know it."""
        return [self.synset(position) for _, position in self._index.get(as_lemma(lemma), ())]

    def paths_to_root(self, synset: Synset) -> list[list[Synset]]:
        """Every way up, each from the synset to the root; the shortest first."""
        paths = [[self.synset(p) for p in path] for path in self._ways_up(synset.position)]
        return sorted(paths, key=len)

    def _named(self, key: str, word: str, part_of_speech: str, number: str) -> int:
        if part_of_speech != "n":
            raise UnknownClassError(f"{key!r} is no noun; only the nouns of WordNet are in the package")
        senses = self._index.get(as_lemma(word), ())
        for sense, position in senses:
            if sense == int(number):
                return position
        known = ", ".join(self.synset(position).name for _, position in senses)
        raise UnknownClassError(
            f"WordNet 3.0 has no noun {key!r}; "
            + (f"{word!r} has {known}" if known else f"nor the word {word!r}")
        )

    def _ways_up(self, position: int) -> Iterator[list[int]]:
        above = self.graph.parents_of(position)
        if not above:
            yield [position]
        for parent in above:
            for way in self._ways_up(parent):
                yield [position, *way]

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        with np.load(str(files("kinhash.meaning") / "resources" / "wordnet30.npz")) as arrays:
            return {name: arrays[name].tobytes().decode().split("\n") for name in ("lemmas", "glosses")}

    @cached_property
    def _lemmas(self) -> list[tuple[str, ...]]:
        return [tuple(line.split(" ")) for line in self._texts["lemmas"]]

    @property
    def _glosses(self) -> list[str]:
        return self._texts["glosses"]

    @cached_property
    def _senses(self) -> list[int]:
        """Number of the sense of every lemma of every synset, end to end."""
        with np.load(str(files("kinhash.meaning") / "resources" / "wordnet30.npz")) as arrays:
            numbers: list[int] = arrays["sense"].tolist()
        return numbers

    @cached_property
    def _first(self) -> list[int]:
        """Where the lemmas of each synset begin in `_senses`."""
        ends: list[int] = np.cumsum([0] + [len(lemmas) for lemmas in self._lemmas]).tolist()
        return ends

    @cached_property
    def _index(self) -> dict[str, list[tuple[int, int]]]:
        """Word -> (number of the sense, position), ascending."""
        index: dict[str, list[tuple[int, int]]] = {}
        numbers = iter(self._senses)
        for position, lemmas in enumerate(self._lemmas):
            for lemma in lemmas:
                index.setdefault(lemma.lower(), []).append((next(numbers), position))
        # a synset may list a word in two spellings ("T", "t"), which is one sense
        return {word: sorted(set(senses)) for word, senses in index.items()}


class _Wnids(Sequence[str]):
    """The ids as names of nodes, made when asked for."""

    def __init__(self, offsets: Positions) -> None:
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [f"n{offset:08d}" for offset in self._offsets[place]]
        return f"n{self._offsets[place]:08d}"


def as_lemma(name: str) -> str:
    """The form in which WordNet writes a word: lower case, underscores for blanks."""
    return "_".join(name.lower().split())


@cache
def load_wordnet() -> WordNet:
    """The nouns of WordNet 3.0, loaded once per process."""
    return WordNet()
