"""Which searches are recorded; the recording itself, which only a GPU can do, is played."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from kinhash.kernels import gpu_graph
from kinhash.kernels.gpu_lists import Lists, new_lists
from kinhash.kernels.gpu_shard import Shard

SHARD = Shard(torch.zeros((1, 16), dtype=torch.int64), 16)


class PlayedGraph:
    """Replaying it computes again what was recorded."""

    recorded = 0

    def __init__(self) -> None:
        PlayedGraph.recorded += 1

    def replay(self) -> None:
        Search.answer.copy_(Search.lists.queries[:2] + 1)


class Search:
    """Answers every query by the next number."""

    lists: Lists
    answer: torch.Tensor
    runs = 0

    def __call__(self, lists: Lists) -> torch.Tensor:
        Search.runs += 1
        Search.lists, Search.answer = lists, lists.queries[:2] + 1
        return Search.answer


@pytest.fixture(autouse=True)
def _played(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def graph(_graph: PlayedGraph, capture_error_mode: str) -> Iterator[None]:
        yield

    monkeypatch.setattr(torch.cuda, "CUDAGraph", PlayedGraph)
    monkeypatch.setattr(torch.cuda, "graph", graph)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    PlayedGraph.recorded = Search.runs = 0


def ask(replays: gpu_graph.Replays, shape: tuple[int, int] | None, first: int) -> None:
    queries = np.array([[first], [first + 10]], np.uint64)
    answer = replays.run(shape, queries, lambda: new_lists(SHARD, queries, 4, histogram=False), Search())
    assert answer.tolist() == [[first + 1], [first + 11]]


def test_a_shape_is_recorded_when_it_comes_again() -> None:
    replays = gpu_graph.Replays()
    ask(replays, (2, 5), 1)
    assert (Search.runs, PlayedGraph.recorded) == (1, 0)
    ask(replays, (2, 5), 2)
    assert (Search.runs, PlayedGraph.recorded) == (3, 1)  # once to compile, once to record
    for first in (3, 4):
        ask(replays, (2, 5), first)
    assert (Search.runs, PlayedGraph.recorded) == (3, 1)
    ask(replays, (2, 6), 9)
    assert (Search.runs, PlayedGraph.recorded) == (4, 1)


def test_what_has_no_shape_is_never_recorded() -> None:
    replays = gpu_graph.Replays()
    for first in range(4):
        ask(replays, None, first)
    assert (Search.runs, PlayedGraph.recorded) == (4, 0)


def test_the_shape_not_asked_for_longest_is_forgotten() -> None:
    replays = gpu_graph.Replays()
    for k in range(1, 10):
        ask(replays, (2, k), 0)
        ask(replays, (2, k), 1)
    assert PlayedGraph.recorded == 9
    ask(replays, (2, 9), 2)
    assert PlayedGraph.recorded == 9
    ask(replays, (2, 1), 3)
    assert PlayedGraph.recorded == 10
