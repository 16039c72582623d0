"""One method for every route: a request in, a reply out."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from kinhash import __version__
from kinhash.errors import FormatError, InputError, NotFoundError
from kinhash.serving.asked import (
    MOST_IDS,
    MOST_K,
    MOST_QUERIES,
    SHAPE,
    check_fields,
    read_flag,
    read_id,
    read_ids,
    read_object,
    read_where,
)
from kinhash.serving.limits import read_body
from kinhash.serving.metrics import Metrics
from kinhash.serving.openapi import description
from kinhash.serving.page_files import PageFiles
from kinhash.serving.pictures import file_of, thumbnail, uploaded
from kinhash.serving.replies import RefusedError, reply
from kinhash.serving.searching import Searcher
from kinhash.serving.thumbnails import Cache

Call = Callable[[Request], Awaitable[Response]]
JSON_LIMIT = 4 * 2**20
MOST_UPLOADS = 16  # at once


class Routes:
    """What the routes share: the indexes by name, the page, the cache of thumbnails."""

    def __init__(
        self, searchers: Mapping[str, Searcher], metrics: Metrics, max_upload: int, cache: Path
    ) -> None:
        self._searchers = searchers
        self._metrics = metrics
        self._max_upload = max_upload
        self._cache = Cache(cache)
        self._drawing = asyncio.Semaphore(2)  # pictures decoded at once
        self._uploads = 0  # bodies in memory
        self._page = PageFiles()

    def table(self) -> dict[tuple[str, str], Call]:
        """(method, path) -> what answers; the hot one first."""
        return {
            ("POST", "/api/{index}/search"): self.search,
            ("POST", "/api/{index}/search/picture"): self.search_picture,
            ("POST", "/api/{index}/items"): self.items,
            ("POST", "/api/{index}/get"): self.get,
            ("POST", "/api/{index}/count"): self.count,
            ("GET", "/api/{index}/stats"): self.stats,
            ("GET", "/api/{index}/thumbnail"): self.thumbnail,
            ("GET", "/api"): self.overview,
            ("GET", "/health"): self.health,
            ("GET", "/metrics"): self.metrics,
            ("GET", "/openapi.json"): self.openapi,
            ("GET", "/"): self.page,
            ("GET", "/page/{file}"): self.page_file,
        }

    # ---- an index -----------------------------------------------------------------------------------

    async def search(self, request: Request) -> Response:
        searcher = self._searcher(request)
        return reply(await searcher.search(await self._object(request)))

    async def search_picture(self, request: Request) -> Response:
        searcher = self._searcher(request)
        asked = _from_query(request)
        if self._uploads >= MOST_UPLOADS:
            raise RefusedError(503, f"{MOST_UPLOADS} uploads are under way already: try again in a moment")
        self._uploads += 1
        try:
            body = await read_body(request, self._max_upload)
            async with self._drawing:
                picture = await asyncio.to_thread(uploaded, body)
        finally:
            self._uploads -= 1
        return reply(await searcher.search_picture(picture, asked))

    async def items(self, request: Request) -> Response:
        index = self._searcher(request).served.index
        asked = await self._object(request)
        check_fields(asked, ("limit", "after", "where"))
        limit = asked.get("limit", 100)
        if type(limit) is not int or not 1 <= limit <= MOST_IDS:
            raise InputError(f"limit is a whole number from 1 to {MOST_IDS:,}, got {limit!r}")
        after = None if asked.get("after") is None else read_id(asked["after"], index.ids_kind)
        found = await asyncio.to_thread(index.page, limit, after, read_where(asked))
        ids = list(found.ids) if isinstance(found.ids, list) else found.ids.tolist()
        more = ids[-1] if len(ids) == limit else None
        return reply({"ids": ids, "codes": found.codes.hex(), "metadata": found.metadata, "next": more})

    async def get(self, request: Request) -> Response:
        searcher = self._searcher(request)
        asked = await self._object(request)
        check_fields(asked, ("ids", "skip_missing"))
        ids = read_ids(asked)
        if read_flag(asked, "skip_missing", False):
            index = searcher.served.index
            ids = await asyncio.to_thread(lambda: [name for name in ids if name in index])
        found = await searcher.get(ids)
        return reply({"ids": ids, "codes": found.codes.hex(), "metadata": found.metadata})

    async def count(self, request: Request) -> Response:
        index = self._searcher(request).served.index
        asked = await self._object(request)
        check_fields(asked, ("where",))
        return reply({"count": await asyncio.to_thread(index.count, read_where(asked))})

    async def stats(self, request: Request) -> Response:
        index = self._searcher(request).served.index
        return reply(dataclasses.asdict(await asyncio.to_thread(index.stats)))

    async def thumbnail(self, request: Request) -> Response:
        searcher = self._searcher(request)
        served = searcher.served
        name = read_id(request.query_params.get("id"), served.index.ids_kind)
        size = request.query_params.get("size", "256")
        if not size.isdecimal() or len(size) > 9:  # Python itself refuses to read very long numbers
            raise InputError(f"size is a whole number, got {size!r:.20}")
        item = await searcher.get([name])
        path = file_of(name, item.metadata[0], served.pictures)
        try:
            async with self._drawing:
                content, kind, tag = await asyncio.to_thread(thumbnail, path, int(size), self._cache)
        except FormatError as error:
            raise RefusedError(422, f"{name!r} has no picture to show: {error}", "FormatError") from None
        headers = {"etag": f'"{tag}"', "cache-control": "private, max-age=300"}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=kind)

    # ---- the server ---------------------------------------------------------------------------------

    async def overview(self, request: Request) -> Response:
        limits = {"max_upload": self._max_upload, "max_k": MOST_K, "max_queries": MOST_QUERIES}
        cards = [self._card(searcher) for searcher in self._searchers.values()]
        return reply({"kinhash": __version__, "indexes": cards, **limits})

    def _card(self, searcher: Searcher) -> dict[str, Any]:
        served = searcher.served
        return {
            "name": served.name,
            "bits": served.index.bits,
            "items": len(served.index),
            "ids": served.index.ids_kind,
            "pictures": served.encode is not None,
            "text": served.encode_text is not None,
            "semantics": None if served.semantics is None else served.semantics.name,
        }

    async def health(self, request: Request) -> Response:
        for searcher in self._searchers.values():
            len(searcher.served.index)
        return reply({"status": "ok", "kinhash": __version__})

    async def metrics(self, request: Request) -> Response:
        searchers = self._searchers.items()
        gauges = {
            "kinhash_index_items": (
                "Items of an index.",
                {n: float(len(s.served.index)) for n, s in searchers},
            ),
            "kinhash_waiting_queries": (
                "Queries in line.",
                {n: float(s.batcher.waiting) for n, s in searchers},
            ),
        }
        return Response(self._metrics.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def openapi(self, request: Request) -> Response:
        return reply(description())

    async def page(self, request: Request) -> Response:
        return self._page.reply("index.html", request)

    async def page_file(self, request: Request) -> Response:
        return self._page.reply(request.path_params["file"], request)

    # ---- inside -------------------------------------------------------------------------------------

    def _searcher(self, request: Request) -> Searcher:
        name = request.path_params["index"]
        try:
            return self._searchers[name]
        except KeyError:
            there = ", ".join(self._searchers)
            raise NotFoundError(f"there is no index {name!r:.60} here; there are {there}") from None

    async def _object(self, request: Request) -> dict[str, Any]:
        return read_object(await read_body(request, min(JSON_LIMIT, self._max_upload)))


def _from_query(request: Request) -> dict[str, Any]:
    """The fields of a search out of the address; numbers and flags in json, `where` also as its text."""
    asked: dict[str, Any] = {}
    for field, text in request.query_params.items():
        if field not in SHAPE:
            check_fields({field: text}, SHAPE)
        asked[field] = text
        if field in ("k", "radius", "fewer", "items") or (field == "where" and text.lstrip().startswith("{")):
            try:
                asked[field] = json.loads(text)
            except (ValueError, RecursionError):
                raise InputError(f"{field} cannot be read: {text!r:.60}") from None
    return asked
