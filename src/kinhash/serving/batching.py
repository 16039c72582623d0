"""Queries that arrive while a scan runs share the next one: a batch costs little more than a query alone.

Nobody waits for company: where no scan runs, a query starts one at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from kinhash.codes import Codes
from kinhash.index.index import Index
from kinhash.index.results import IdHits
from kinhash.serving.replies import RefusedError, to_json

Told = Callable[[int, float], object]  # (queries, seconds) of a scan

MOST_TOGETHER = 512  # queries in a scan: one pass over the codes
_SMALL = 128  # up to this k, queries share a scan whatever their k


@dataclass(eq=False)
class _Asked:
    codes: Codes
    k: int
    where: Any
    key: tuple[bytes, int]
    answer: asyncio.Future[IdHits]


class Batcher:
    """The queries of one index. Used from one event loop; the scans run in a thread of their own."""

    def __init__(self, index: Index, *, most_waiting: int = 8192, told: Told | None = None) -> None:
        self._index = index
        self._most_waiting = most_waiting
        self._told = told
        self._line: deque[_Asked] = deque()
        self._busy = False
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="kinhash-scan")
        self.waiting = 0  # queries in line

    async def search(self, codes: Codes, k: int, where: Any = None) -> IdHits:
        """The k nearest of every query, or all where there are fewer."""
        if self.waiting + len(codes) > self._most_waiting:
            raise RefusedError(503, f"{self.waiting} queries are waiting already: try again in a moment")
        key = (to_json(where), k if k <= 0 else max(_SMALL, 1 << (k - 1).bit_length()))
        asked = _Asked(codes, k, where, key, asyncio.get_running_loop().create_future())
        self._line.append(asked)
        self.waiting += len(codes)
        if not self._busy:
            self._start()
        return await asked.answer

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _start(self) -> None:
        """Scan for the first in line and for all that can share its scan."""
        batch = self._next()
        self._busy = bool(batch)
        if batch:
            scan = asyncio.get_running_loop().run_in_executor(self._pool, self._scan, batch)
            scan.add_done_callback(lambda done: self._hand_out(batch, done))

    def _next(self) -> list[_Asked]:
        batch: list[_Asked] = []
        left: deque[_Asked] = deque()
        queries = 0
        for asked in self._line:
            if asked.answer.done():  # whoever asked has hung up
                self.waiting -= len(asked.codes)
            elif not batch or (asked.key == batch[0].key and queries + len(asked.codes) <= MOST_TOGETHER):
                batch.append(asked)
                queries += len(asked.codes)
            else:
                left.append(asked)
        self._line = left
        self.waiting -= queries
        return batch

    def _scan(self, batch: list[_Asked]) -> IdHits:
        started = perf_counter()
        codes = batch[0].codes if len(batch) == 1 else Codes.concat([asked.codes for asked in batch])
        hits = self._index.search(codes, max(asked.k for asked in batch), batch[0].where, fewer=True)
        if self._told is not None:
            self._told(len(codes), perf_counter() - started)
        return hits

    def _hand_out(self, batch: list[_Asked], done: asyncio.Future[IdHits]) -> None:
        self._start()  # the next scan runs while answers are written
        first = 0
        for asked in batch:
            last = first + len(asked.codes)
            if not asked.answer.done():
                if (error := done.exception()) is not None:
                    asked.answer.set_exception(error)
                else:
                    hits = done.result()
                    asked.answer.set_result(_part(hits, first, last, asked.k))
            first = last


def _part(hits: IdHits, first: int, last: int, k: int) -> IdHits:
    return IdHits(hits.ids[first:last, :k], hits.distances[first:last, :k])
