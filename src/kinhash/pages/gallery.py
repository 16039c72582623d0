"""What searches find, as pictures: queries in rows, and below each other what several encoders find for the same query."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import is_whole
from kinhash.codes import Codes
from kinhash.concatenation import concat as concatenated
from kinhash.data.images import Source
from kinhash.data.splits import Split
from kinhash.errors import InputError, NotFoundError
from kinhash.index.checks import LONGEST
from kinhash.index.scan import k_nearest
from kinhash.meaning.semantics import Semantics
from kinhash.pages.figure_cards import Card, card, shortened
from kinhash.pages.likeness import likeness_of
from kinhash.pages.markup import Html, tag
from kinhash.pages.page import page, section, write_page
from kinhash.pages.thumbnails import MEGABYTES, Thumbnail, thumbnails

QUERIES, SHOWN = 6, 8


@dataclass(frozen=True)
class Hit:
    """One picture that was found: its row, its distance in bits, and how near it is in meaning, where that is known."""

    row: int
    distance: int
    similarity: float | None = None


@dataclass(frozen=True)
class Found:
    """What every encoder finds for one query, nearest first."""

    query: int
    rows: Mapping[str, Sequence[Hit]]


@dataclass(frozen=True, eq=False)
class Gallery:
    """Searches of the pictures of a split among themselves. `save` writes a page or a picture."""

    data: Split
    found: Sequence[Found]
    bits: Mapping[str, int]  # code length by encoder
    measure: str | None  # where similarities come from
    seed: int | None  # of the choice of queries; None: they were named

    def save(
        self, path: str | os.PathLike[str], *, title: str = "Gallery", megabytes: float = MEGABYTES
    ) -> None:
        """Write `path`: a page (html), or a picture of the same rows (png)."""
        path = Path(path)
        if path.suffix.lower() in (".html", ".htm"):
            write_page(self.html(title=title, megabytes=megabytes), path)
        elif path.suffix.lower() == ".png":
            from kinhash.pages.gallery_sheet import save_sheet

            save_sheet(self, path)
        else:
            raise InputError(f"a gallery is written as .html or .png, not as {path.name!r}")

    def html(self, *, title: str = "Gallery", megabytes: float = MEGABYTES) -> Html:
        """One document with all pictures inside, of at most about `megabytes`."""
        uses = Counter(one.query for one in self.found)
        uses.update(hit.row for one in self.found for hits in one.rows.values() for hit in hits)
        small = thumbnails({row: self.source(row) for row in uses}, uses, megabytes)
        return page(
            title,
            tag("p", self.describe()),
            *(self.block(number, one, small.found) for number, one in enumerate(self.found, 1)),
            notes=(small.note(),),
        )

    def to_dict(self) -> dict[str, Any]:
        """Ids and distances in plain values, for json."""
        ids = self.data.ids
        cards = [
            {
                "query": ids[one.query],
                "found": {
                    name: [
                        {"id": ids[hit.row], "distance": hit.distance, "similarity": hit.similarity}
                        for hit in hits
                    ]
                    for name, hits in one.rows.items()
                },
            }
            for one in self.found
        ]
        return {"pictures": len(ids), "bits": dict(self.bits), "colour": self.measure, "queries": cards}

    def source(self, row: int) -> Source:
        """The picture of a row."""
        assert self.data.images is not None
        return self.data.images[row]

    def describe(self) -> str:
        """How the rows came about, in one paragraph."""
        names = "; ".join(f"{name}: {bits} bits" for name, bits in self.bits.items())
        chosen = "were named" if self.seed is None else f"were drawn with seed {self.seed}"
        colour = (
            "Nothing was said about meaning, so cards have no colour."
            if self.measure is None
            else f"The bar of a card runs from red (unrelated) to green (the same) by {self.measure}."
        )
        return (
            f"Each query searches {len(self.data):,} pictures for its nearest codes; itself is left out. Queries {chosen}. "
            f"{names}. {colour}"
        )

    def label(self, row: int) -> str | None:
        """The name of a row's class."""
        return None if self.data.labels is None else self.data.classes[self.data.labels[row]]

    def captions(self, row: int) -> Sequence[str]:
        return () if self.data.captions is None else self.data.captions[row]

    def block(self, number: int, one: Found, small: Mapping[int, Thumbnail]) -> Html:
        """One query with what every encoder finds."""
        query = tag("ul", self._card(one.query, small, None), class_="row")
        rows: list[Html] = []
        for name, hits in one.rows.items():
            if len(one.rows) > 1:
                rows.append(tag("h3", name))
            cards = (self._card(hit.row, small, hit, place) for place, hit in enumerate(hits, 1))
            rows.append(tag("ol", *cards, class_="row", aria_label=f"found by {name}"))
        return section(
            f"Query {number}: {shortened(self.data.ids[one.query])}", query, *rows, name=f"query-{number}"
        )

    def _card(self, row: int, small: Mapping[int, Thumbnail], hit: Hit | None, place: int = 0) -> Html:
        words = self.label(row) or next(iter(self.captions(row)), None)
        name = self.data.ids[row]
        what = "query" if hit is None else f"result {place}, {hit.distance} bits away"
        return card(
            Card(
                small[row],
                alt=f"{what}: {name if words is None else words}",
                head="query" if hit is None else _distance(hit),
                lines=(self.label(row), *self.captions(row)),
                name=name,
                similarity=None if hit is None else hit.similarity,
                query=hit is None,
            )
        )


def gallery(
    models: Mapping[str, Codes],
    data: Split,
    out: str | os.PathLike[str] | None = None,
    *,
    queries: int | Sequence[str] = QUERIES,
    k: int = SHOWN,
    seed: int = 0,
    semantics: Semantics | None = None,
    target_vectors: ArrayLike | None = None,
    concat: bool = False,
) -> Gallery:
    """Search the pictures of `data` among themselves with the codes of every model, and write the page or picture `out`.

    `models`: name -> codes, one for each row of `data`. `queries`: how many to draw with `seed`, or their ids. `concat` adds
    a row for the codes of all models, one after the other. Colours show the similarity of classes by `semantics`, or the
    cosine of `target_vectors` (n, D), such as embeddings of captions.
    """
    if data.images is None:
        raise InputError("a gallery shows pictures, and this data set holds embeddings only")
    codes = _checked_models(models, len(data), concat)
    if not is_whole(k) or not 0 < k < len(data):
        raise InputError(
            f"k is a whole number from 1 to {len(data) - 1}, all pictures but the query, got {k!r}"
        )
    rows = _query_rows(queries, data, seed)
    like = likeness_of(data, semantics, target_vectors)
    hits = {name: k_nearest(one[rows], one, k + 1) for name, one in codes.items()}
    found = []
    for i, row in enumerate(rows):
        by_model = {}
        for name, answer in hits.items():
            pairs = [(int(p), int(d)) for p, d in zip(*answer[i], strict=True) if p != row][:k]
            by_model[name] = [Hit(p, d, None if like is None else like.between(row, p)) for p, d in pairs]
        found.append(Found(int(row), by_model))
    bits = {name: one.bits for name, one in codes.items()}
    made = Gallery(
        data, found, bits, None if like is None else like.name, seed if is_whole(queries) else None
    )
    if out is not None:
        made.save(out)
    return made


def _checked_models(models: Mapping[str, Codes], n: int, concat: bool) -> dict[str, Codes]:
    if not models:
        raise InputError("a gallery needs the codes of at least one model")
    for name, codes in models.items():
        if len(codes) != n:
            raise InputError(
                f"{name!r} has {len(codes)} codes for {n} pictures: one each is needed, in their order"
            )
    if not concat:
        return dict(models)
    total = sum(one.bits for one in models.values())
    if len(models) < 2 or total > LONGEST:
        raise InputError(
            f"concatenation joins at least two models of at most {LONGEST} bits together; "
            f"got {len(models)} with {total} bits"
        )
    return {**models, " + ".join(models): concatenated(list(models.values()))}


def _query_rows(queries: int | Sequence[str], data: Split, seed: int) -> NDArray[np.int64]:
    if is_whole(queries):
        if not 0 < queries <= len(data):
            raise InputError(
                f"the number of queries is 1 to {len(data)}, all pictures there are; got {queries}"
            )
        return np.random.default_rng(seed).permutation(len(data))[:queries]
    assert not isinstance(queries, int)
    places = {name: row for row, name in enumerate(data.ids)}
    for name in queries:
        if name not in places:
            raise NotFoundError(
                f"there is no picture {name!r} among the {len(data)}; the first is {data.ids[0]!r}"
            )
    if not queries:
        raise InputError("name at least one query, or say how many to draw")
    return np.array([places[name] for name in queries], np.int64)


def _distance(hit: Hit) -> str:
    bits = f"{hit.distance} bit" if hit.distance == 1 else f"{hit.distance} bits"
    return bits if hit.similarity is None else f"{bits}, similarity {hit.similarity:.2f}"
