"""Queries that wait share a scan, and everybody gets the answer that a search alone gives."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinhash as kh
from kinhash.serving.batching import MOST_TOGETHER, Batcher
from kinhash.serving.replies import RefusedError


@pytest.fixture
def index(tmp_path: Path, rng: np.random.Generator) -> Any:
    with kh.Index.create(tmp_path / "a.kin", 64) as index:
        codes = kh.Codes.from_bits(rng.random((300, 64)) < 0.5)
        index.add(np.arange(300), codes, {"n": np.arange(300)})
        yield index


class Held:
    """An index whose first search waits until it is let go; the sizes of all searches are kept."""

    def __init__(self, index: kh.Index) -> None:
        self.index, self.go, self.sizes = index, threading.Event(), list[tuple[int, int, Any]]()

    def search(self, codes: kh.Codes, k: int, where: Any, fewer: bool) -> Any:
        self.sizes.append((len(codes), k, where))
        assert self.go.wait(20)
        return self.index.search(codes, k, where, fewer=fewer)


def test_what_arrives_during_a_scan_shares_the_next(index: kh.Index, rng: np.random.Generator) -> None:
    queries = kh.Codes.from_bits(rng.random((12, 64)) < 0.5)
    held = Held(index)

    async def crowd() -> list[Any]:
        batcher = Batcher(held)  # type: ignore[arg-type]
        first = asyncio.create_task(batcher.search(queries[:1], 3))
        await asyncio.sleep(0)
        others = [asyncio.create_task(batcher.search(queries[i : i + 2], 2 + i)) for i in range(1, 9)]
        filtered = [asyncio.create_task(batcher.search(queries[i], 4, "n < 5")) for i in (10, 11)]
        far = asyncio.create_task(batcher.search(queries[3], 290))
        await asyncio.sleep(0)
        held.go.set()
        try:
            return await asyncio.gather(first, *others, *filtered, far)
        finally:
            batcher.close()

    answers = asyncio.run(crowd())
    assert held.sizes == [(1, 3, None), (16, 10, None), (2, 4, "n < 5"), (1, 290, None)]
    wanted = [(queries[:1], 3, None), *((queries[i : i + 2], 2 + i, None) for i in range(1, 9))]
    wanted += [(queries[10], 4, "n < 5"), (queries[11], 4, "n < 5"), (queries[3], 290, None)]
    for answer, (codes, k, where) in zip(answers, wanted, strict=True):
        alone = index.search(codes, k, where)
        assert np.array_equal(answer.ids, alone.ids)
        assert np.array_equal(answer.distances, alone.distances)


def test_a_scan_has_a_largest_size_and_the_line_a_longest(index: kh.Index) -> None:
    codes = kh.Codes(np.zeros((MOST_TOGETHER - 10, 1), dtype=np.uint64), 64)
    held = Held(index)

    async def crowd() -> None:
        batcher = Batcher(held, most_waiting=2 * MOST_TOGETHER)  # type: ignore[arg-type]
        asked = [
            asyncio.create_task(batcher.search(part, 1)) for part in (codes[:1], codes, codes, codes[:20])
        ]
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="are waiting already: try again in a moment") as refused:
            await batcher.search(codes, 1)
        assert refused.value.status == 503
        held.go.set()
        await asyncio.gather(*asked)
        assert batcher.waiting == 0
        batcher.close()

    asyncio.run(crowd())
    assert sum(size for size, _, _ in held.sizes) == 1 + 2 * len(codes) + 20
    assert max(size for size, _, _ in held.sizes) <= MOST_TOGETHER


def test_who_hangs_up_is_not_searched_for(index: kh.Index) -> None:
    codes = kh.Codes(np.zeros((5, 1), dtype=np.uint64), 64)
    held = Held(index)

    async def crowd() -> None:
        batcher = Batcher(held)  # type: ignore[arg-type]
        first = asyncio.create_task(batcher.search(codes[0], 1))
        await asyncio.sleep(0)
        gone, stays = (asyncio.create_task(batcher.search(codes[:n], 1)) for n in (4, 2))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        held.go.set()
        assert len(await stays) == 2
        await first
        assert batcher.waiting == 0
        batcher.close()

    asyncio.run(crowd())
    assert [size for size, _, _ in held.sizes] == [1, 2]


def test_an_error_reaches_all_who_share_the_scan(index: kh.Index) -> None:
    async def crowd() -> None:
        batcher = Batcher(index)
        codes = kh.Codes(np.zeros((1, 1), dtype=np.uint64), 64)
        found = await asyncio.gather(*(batcher.search(codes, 0) for _ in range(3)), return_exceptions=True)
        assert all(isinstance(error, kh.KinhashError) for error in found)
        assert (await batcher.search(codes, 1)).ids.shape == (1, 1)
        batcher.close()

    asyncio.run(crowd())
