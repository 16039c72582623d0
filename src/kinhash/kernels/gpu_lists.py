"""What a scan on a GPU appends to: one list of keys for every query of a batch, all of one buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import require
from kinhash.kernels.gpu_shard import NOTHING, Shard


@dataclass
class Lists:
    """Query q owns keys[starts[q]:starts[q + 1]]; what is not yet written there is NOTHING."""

    queries: Any  # (padded, width) int64
    limits: Any  # (padded,) int32: the largest distance that still matters
    counts: Any  # (padded,) int64: codes within the limit, those without room included
    histogram: Any  # (padded, bins) int64: how many of them at each distance; no bins where nobody asks
    starts: Any  # (padded + 1,) int64
    keys: Any  # int64
    real: int  # queries that are no padding

    @property
    def padded(self) -> int:
        """Queries with those that fill up the last tile of a kernel."""
        return int(self.counts.shape[0])

    @property
    def bins(self) -> int:
        """Distances that the histogram tells apart."""
        return int(self.histogram.shape[1])

    def ask(self, queries: NDArray[np.uint64]) -> None:
        """Put the words of as many queries as there were before in the place of those."""
        torch = require("torch", "train")
        self.queries[: self.real].copy_(torch.from_numpy(queries.astype(np.uint64).view(np.int64)))

    def clear(self) -> None:
        """Forget everything found."""
        self.counts.zero_()
        self.histogram.zero_()
        self.keys.fill_(NOTHING)

    def best(self, k: int) -> Any:
        """(padded, k) smallest keys of every list in order; all lists have the same room."""
        return self.keys.view(self.padded, -1).topk(k, largest=False).values


def new_lists(shard: Shard, queries: NDArray[np.uint64], room: int, *, histogram: bool) -> Lists:
    """Empty lists with `room` for every query; queries are padded to what a program takes."""
    torch = require("torch", "train")
    device, padded = shard.words.device, padded_to(len(queries))
    bins = 1 << shard.bits.bit_length() if histogram else 0
    lists = Lists(
        queries=torch.zeros((padded, shard.width), dtype=torch.int64, device=device),
        limits=torch.full((padded,), -1, dtype=torch.int32, device=device),
        counts=torch.zeros(padded, dtype=torch.int64, device=device),
        histogram=torch.zeros((padded, bins), dtype=torch.int64, device=device),
        starts=torch.arange(padded + 1, dtype=torch.int64, device=device) * room,
        keys=torch.full((padded * room,), NOTHING, dtype=torch.int64, device=device),
        real=len(queries),
    )
    lists.ask(queries)
    return lists


def padded_to(queries: int) -> int:
    """One, or 8, 16, 32, or a multiple of 64."""
    if queries == 1:
        return 1
    return -(-queries // 64) * 64 if queries > 32 else max(8, 1 << (queries - 1).bit_length())
