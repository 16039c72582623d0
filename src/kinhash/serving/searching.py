"""Searches of one index: what is asked with becomes codes, codes become hits, hits get their items where wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from PIL.Image import Image

from kinhash.codes import Codes
from kinhash.errors import InputError, NotFoundError
from kinhash.index.results import Items
from kinhash.serving.asked import SHAPE, check_fields, read_codes, read_flag, read_id, read_label, read_wanted
from kinhash.serving.batching import Batcher, Told
from kinhash.serving.meanings import KEY, Meanings, Reference
from kinhash.serving.paging import Page, Wanted, pages
from kinhash.serving.replies import RefusedError
from kinhash.serving.served import Served

BY = ("codes", "base64", "id", "text")
MOST_TO_ENCODE = 64  # pictures and sentences in line
_ATTEMPTS = 5  # items of hits may be deleted between the search and the look at them


class Searcher:
    """Used from one event loop; encoders run one at a time in a thread of their own."""

    def __init__(self, served: Served, told: Told | None = None) -> None:
        self.served = served
        self.batcher = Batcher(served.index, told=told)
        self._meanings = Meanings(served.semantics)
        self._encoding = ThreadPoolExecutor(1, thread_name_prefix="kinhash-encode")
        self._to_encode = 0

    async def search(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request in json."""
        check_fields(asked, (*BY, *SHAPE))
        if sum(field in asked for field in BY) != 1:
            raise InputError(f"say what to search for, with one of {', '.join(BY)}")
        index = self.served.index
        wanted = read_wanted(asked, index)
        items = read_flag(asked, "items", False)
        labels: dict[str, Any] = {"asked": read_label(asked)}
        if "id" in asked:
            name = read_id(asked["id"], index.ids_kind)
            item = await self.get([name])
            codes, labels["item"] = item.codes, item.metadata[0].get(KEY)
            wanted = replace(wanted, own=name)
        elif "text" in asked:
            codes = await self._encoded(partial(self.served.text_code, asked["text"]))
        else:
            codes = read_codes(asked, index.bits)
        return await self._answer(codes, wanted, items, labels)

    async def search_picture(self, picture: Image, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer to an uploaded picture."""
        check_fields(asked, SHAPE)
        wanted = read_wanted(asked, self.served.index)
        items = read_flag(asked, "items", False)
        codes = await self._encoded(partial(self.served.picture_code, picture))
        labels: dict[str, Any] = {"asked": read_label(asked)}
        if items and self.served.predict is not None:
            labels["prediction"] = await self._encoded(partial(self.served.predict, picture))
        return await self._answer(codes, wanted, items, labels)

    async def get(self, ids: list[Any]) -> Items:
        return await asyncio.to_thread(self.served.index.get, ids)

    def close(self) -> None:
        self.batcher.close()
        self._encoding.shutdown(wait=True, cancel_futures=True)
        self.served.index.close()

    async def _encoded(self, work: Callable[[], Any]) -> Any:
        if self._to_encode >= MOST_TO_ENCODE:
            raise RefusedError(503, f"{self._to_encode} queries wait for the encoder: try again in a moment")
        self._to_encode += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._encoding, work)
        finally:
            self._to_encode -= 1

    async def _answer(
        self, codes: Codes, wanted: Wanted, items: bool, labels: dict[str, Any]
    ) -> dict[str, Any]:
        if wanted.after is not None and len(codes) != 1:
            raise InputError(f"after goes on with one query, got {len(codes)} codes")
        for attempt in range(_ATTEMPTS):
            found = await pages(self.batcher, codes, wanted)
            answers = [_card(page) for page in found]
            try:
                for answer in answers if items else ():
                    answer |= await self._described(answer["ids"], labels, first=wanted.after is None)
                break
            except NotFoundError:
                if attempt == _ATTEMPTS - 1:
                    raise
        return {"codes": codes.hex(), "answers": answers}

    async def _described(self, ids: list[Any], known: dict[str, Any], first: bool) -> dict[str, Any]:
        """Codes, metadata and distances in meaning of some hits; `first`: whether they begin with the nearest."""
        if not ids:
            return {"items": [], "reference": None}
        found = await self.get(ids)
        labels = [item.get(KEY) for item in found.metadata]
        reference = self._meanings.reference(known | ({"nearest": labels[0]} if first else {}))
        far = self._meanings.distances(reference, labels)
        cards = [
            {"code": code, "metadata": metadata, "semantic": distance}
            for code, metadata, distance in zip(found.codes.hex(), found.metadata, far, strict=True)
        ]
        return {"items": cards, "reference": _reference_card(reference)}


def _card(page: Page) -> dict[str, Any]:
    more = None if page.next is None else str(page.next)
    return {"ids": page.ids, "distances": page.distances, "next": more}


def _reference_card(reference: Reference | None) -> dict[str, str] | None:
    return None if reference is None else {"label": reference.label, "source": reference.source}
