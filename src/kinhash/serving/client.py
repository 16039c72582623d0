"""`Client`: an index behind a server, with the face of `Index` for everything that only reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinhash.arrays import is_whole
from kinhash.codes import Codes
from kinhash.errors import NotFoundError
from kinhash.index.checks import check_queries, checked_k, checked_radius
from kinhash.index.filters import Combine, Filter, Where, parse_filter
from kinhash.index.ids import as_array, checked_ids, plain
from kinhash.index.results import IdArray, IdHits, Items, RaggedIdHits
from kinhash.index.stats import Stats
from kinhash.serving.connection import Connection

_QUERIES, _IDS = 1024, 10_000  # in a request
_HITS = 1000  # of a query in a request of `within`


class Client:
    """An index that a server holds. Every method of `Index` that reads is here and gives the same.

    `index`: the name of one of several indexes; by default the first. Threads may share a client; they take turns.
    """

    def __init__(
        self, url: str, index: str | None = None, *, token: str | None = None, timeout: float = 60.0
    ) -> None:
        self._connection = Connection(url, token, timeout)
        try:
            cards = {card["name"]: card for card in self._connection.get("/api")["indexes"]}
            self.name = next(iter(cards)) if index is None else index
            if self.name not in cards:
                raise NotFoundError(f"there is no index {index!r} at {url}; there are {', '.join(cards)}")
        except BaseException:
            self._connection.close()
            raise
        self.url = url
        self.bits: int = cards[self.name]["bits"]

    # ---- as Index -----------------------------------------------------------------------------------

    @property
    def ids_kind(self) -> str | None:
        """ "int" or "str"; None before the first item."""
        return self.stats().ids

    def __len__(self) -> int:
        return self.stats().items

    def __contains__(self, name: object) -> bool:
        if not (is_whole(name) or isinstance(name, str)) or name == "":
            return False
        asked = {"ids": plain(checked_ids(name)), "skip_missing": True}
        return bool(self._post("get", asked)["ids"])

    def __repr__(self) -> str:
        return f"Client({self.url!r}, {self.name!r}: codes of {self.bits} bits)"

    def get(self, ids: Any) -> Items:
        """Codes and metadata of some ids, in their order; an unknown id is an error."""
        batch = checked_ids(ids)
        names = plain(batch)
        codes, metadata = [], []
        for part in _parts(names, _IDS):
            answer = self._post("get", {"ids": part})
            codes += answer["codes"]
            metadata += answer["metadata"]
        return Items(batch, Codes.from_hex(codes, self.bits), metadata)

    def search(self, queries: Codes, k: int, where: Where | None = None, *, fewer: bool = False) -> IdHits:
        """The k items nearest to every query; see `Index.search`. At most 10,000."""
        check_queries(queries, self.bits, "index")
        checked_k(k, k, filtered=False)
        asked = {"k": int(k), "where": _where(where), "fewer": fewer}
        answers = [answer for _, answer in self._answers(queries, asked)]
        width = len(answers[0]["ids"]) if answers else k
        ids = [name for answer in answers for name in answer["ids"]]
        distances = np.array([answer["distances"] for answer in answers], dtype=np.int32).reshape(
            len(queries), width
        )
        return IdHits(self._array(ids).reshape(len(queries), width), distances)

    def within(self, queries: Codes, radius: int, where: Where | None = None) -> RaggedIdHits:
        """Every item at Hamming distance <= radius of every query, in (distance, id) order; it comes in pages."""
        check_queries(queries, self.bits, "index")
        checked_radius(radius, self.bits)
        asked = {"k": _HITS, "radius": int(radius), "where": _where(where)}
        ids: list[Any] = []
        distances: list[int] = []
        offsets = [0]
        for query, answer in self._answers(queries, asked):
            page = answer
            while True:
                ids += page["ids"]
                distances += page["distances"]
                if page["next"] is None:
                    break
                more = {**asked, "codes": query.hex(), "after": page["next"], "k": _IDS}
                page = self._post("search", more)["answers"][0]
            offsets.append(len(ids))
        return RaggedIdHits(np.array(offsets, np.int64), self._array(ids), np.array(distances, np.int32))

    def count(self, where: Where | None = None) -> int:
        """How many items pass a filter."""
        found: int = self._post("count", {"where": _where(where)})["count"]
        return found

    def page(self, limit: int, after: Any = None, where: Where | None = None) -> Items:
        """At most `limit` items in id order, those behind the id `after`."""
        asked = {"limit": limit, "after": after, "where": _where(where)}
        answer = self._post("items", asked)
        return Items(
            checked_ids(answer["ids"]), Codes.from_hex(answer["codes"], self.bits), answer["metadata"]
        )

    def items(self, where: Where | None = None) -> tuple[IdArray, Codes]:
        """Ids and codes of all items, or of those that pass, in id order; they come in pages."""
        ids: list[Any] = []
        codes: list[str] = []
        asked: dict[str, Any] = {"limit": _IDS, "after": None, "where": _where(where)}
        while True:
            answer = self._post("items", asked)
            ids += answer["ids"]
            codes += answer["codes"]
            asked["after"] = answer["next"]
            if asked["after"] is None:
                return self._array(ids), Codes.from_hex(codes, self.bits)

    def stats(self) -> Stats:
        """Sizes and counts."""
        return Stats(**self._connection.get(self._path("stats")))

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- what the server's encoder adds -------------------------------------------------------------

    def search_picture(
        self, picture: str | os.PathLike[str] | bytes, k: int, where: Where | None = None
    ) -> IdHits:
        """The k items nearest to a picture, or as many as there are: a file's path, or its bytes."""
        body = picture if isinstance(picture, bytes) else _read(Path(picture))
        fields = {"k": k} | ({} if where is None else {"where": _where(where)})
        return self._only(self._connection.upload(self._path("search/picture"), fields, body))

    def search_text(self, text: str, k: int, where: Where | None = None) -> IdHits:
        """The k items nearest to a sentence, or as many as there are."""
        return self._only(self._post("search", {"text": text, "k": k, "where": _where(where)}))

    def search_id(self, name: int | str, k: int, where: Where | None = None) -> IdHits:
        """The k other items nearest to an item, or as many as there are."""
        return self._only(self._post("search", {"id": name, "k": k, "where": _where(where)}))

    def thumbnail(self, name: int | str, size: int = 256) -> bytes:
        """A small copy of the picture of an item, WebP or JPEG; size: 128, 256, 512 or 1024 pixels."""
        return self._connection.download(self._path("thumbnail"), {"id": name, "size": size})

    # ---- inside -------------------------------------------------------------------------------------

    def _path(self, verb: str) -> str:
        return f"/api/{self.name}/{verb}"

    def _post(self, verb: str, asked: dict[str, Any]) -> Any:
        return self._connection.post(self._path(verb), asked)

    def _array(self, names: list[Any]) -> IdArray:
        """int64, or objects of type str, as the index has them."""
        strings = isinstance(names[0], str) if names else self.ids_kind == "str"
        return as_array(names if strings else np.array(names, dtype=np.int64))

    def _only(self, answer: dict[str, Any]) -> IdHits:
        """The hits of the only query."""
        [hits] = answer["answers"]
        return IdHits(self._array(hits["ids"])[None], np.array([hits["distances"]], dtype=np.int32))

    def _answers(self, queries: Codes, asked: dict[str, Any]) -> Iterator[tuple[Codes, dict[str, Any]]]:
        """Every query with its answer."""
        for start in range(0, len(queries), _QUERIES):
            part = queries[start : start + _QUERIES]
            yield from zip(part, self._post("search", {**asked, "codes": part.hex()})["answers"], strict=True)


def _parts(names: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (names[start : start + size] for start in range(0, len(names), size))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"{path} cannot be read: {error.strerror}") from None


def _where(where: Where | None) -> Any:
    """A filter in its form of json; what is wrong with it is found before it travels."""
    return None if where is None else _plain(parse_filter(where))


def _plain(where: Filter) -> dict[str, Any]:
    if not isinstance(where, Combine):
        return {where.key: {where.operator: where.value}}
    parts = [_plain(part) for part in where.parts]
    return {"$not": parts[0]} if where.operator == "not" else {f"${where.operator}": parts}
