"""Pages of hits: a cursor names the last hit of a page by (distance, id), the order of every answer."""

from __future__ import annotations

import base64
import json
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.index.checks import checked_k
from kinhash.index.results import IdArray, IdHits
from kinhash.serving.batching import Batcher

DEEPEST = 1_000_000  # hits that a client may page through


@dataclass(frozen=True)
class Cursor:
    """The last hit of a page; `seen` hits came up to it, itself included."""

    distance: int
    id: int | str
    seen: int

    def __str__(self) -> str:
        text = json.dumps([self.distance, self.id, self.seen], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def read(cls, text: Any, kind: str | None) -> Cursor:
        """What `str` wrote, for an index whose ids are of this kind."""
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)
            distance, name, seen = json.loads(raw)
        except (TypeError, ValueError, RecursionError):
            raise InputError(
                f"after is no cursor: {text!r:.60}; pass the `next` of the page before"
            ) from None
        fits = isinstance(name, str) if kind == "str" else type(name) is int
        if type(distance) is not int or type(seen) is not int or seen < 0 or not fits:
            raise InputError(f"after is no cursor of this index: {text!r:.60}")
        return cls(distance, name, seen)


@dataclass(frozen=True)
class Page:
    """Hits of one query in order, and the cursor of what follows, None at the end."""

    ids: list[Any]
    distances: list[int]
    next: Cursor | None


@dataclass(frozen=True)
class Wanted:
    """Which hits: the k first within a radius, without the item `own`, behind a cursor."""

    k: int
    where: Any = None
    radius: int | None = None
    own: int | str | None = None
    after: Cursor | None = None
    fewer: bool = True


async def pages(batcher: Batcher, codes: Codes, wanted: Wanted) -> list[Page]:
    """The page of every query; only a single one can go on behind a cursor."""
    seen = 0 if wanted.after is None else wanted.after.seen
    spare = 1 + (wanted.own is not None)  # one hit more tells whether there is another page
    while True:
        if seen + wanted.k > DEEPEST:
            raise InputError(f"pages end after {DEEPEST:,} hits: narrow the search by radius or where")
        asked = seen + wanted.k + spare
        hits = await batcher.search(codes, asked, wanted.where)
        found = [_page(hits, row, wanted) for row in range(len(codes))]
        if wanted.after is None or found[0].next is not None or _is_all(hits, asked, wanted.radius):
            break
        seen = 2 * seen + wanted.k  # more hits than the cursor knew of come before it by now
    if not wanted.fewer:
        for page in found:
            if len(page.ids) < wanted.k:
                checked_k(wanted.k, len(page.ids), filtered=wanted.where is not None)
    return found


def _page(hits: IdHits, row: int, wanted: Wanted) -> Page:
    ids, distances = hits[row]
    first = 0 if wanted.after is None else _behind(wanted.after, ids, distances)
    stop = len(ids)
    if wanted.radius is not None:
        stop = int(np.searchsorted(distances, wanted.radius, side="right"))
    places = range(first, max(first, min(stop, first + wanted.k + 2)))
    names = ids[first : places.stop].tolist()
    if wanted.own is not None:
        places_left = [place for place, name in zip(places, names, strict=True) if name != wanted.own]
        names = [name for name in names if name != wanted.own]
    else:
        places_left = list(places)
    shown = places_left[: wanted.k]
    far = distances[shown].tolist()
    more = Cursor(far[-1], names[wanted.k - 1], shown[-1] + 1) if len(places_left) > wanted.k else None
    return Page(names[: wanted.k], far, more)


def _behind(after: Cursor, ids: IdArray, distances: Any) -> int:
    """The first hit that comes after the cursor."""
    first, last = (int(np.searchsorted(distances, after.distance, side)) for side in ("left", "right"))
    return first + bisect_right(ids[first:last].tolist(), after.id)


def _is_all(hits: IdHits, asked: int, radius: int | None) -> bool:
    """Whether nothing follows the hits of the only query."""
    came = hits.ids.shape[1]
    return came < asked or (radius is not None and bool(hits.distances[0, -1] > radius))
