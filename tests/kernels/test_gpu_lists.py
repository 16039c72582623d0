"""Lists of keys, without a GPU."""

from __future__ import annotations

import numpy as np
import torch

from kinhash.kernels.gpu_lists import new_lists, padded_to
from kinhash.kernels.gpu_shard import NOTHING, Shard


def test_padding_of_queries() -> None:
    assert [padded_to(n) for n in (1, 2, 8, 9, 17, 32, 33, 64, 65, 256)] == [
        1, 8, 8, 16, 32, 32, 64, 64, 128, 256,
    ]  # fmt: skip


def test_lists_begin_empty_and_give_the_least_keys_in_order() -> None:
    shard = Shard(torch.zeros((2, 16), dtype=torch.int64), 16)
    asked = np.array([[1, 2], [1 << 63, 3]], np.uint64)
    lists = new_lists(shard, asked, room=5, histogram=True)
    assert (lists.padded, lists.real, lists.bins) == (8, 2, 256)
    assert lists.queries[:2].tolist() == asked.view(np.int64).tolist()
    assert lists.limits.tolist() == [-1] * 8
    assert lists.best(2).tolist() == [[NOTHING] * 2] * 8
    lists.keys[5:8] = torch.tensor([30, 10, 20])
    assert lists.best(2)[1].tolist() == [10, 20]
    lists.counts += 1
    lists.clear()
    assert lists.counts.sum() == 0
    assert lists.best(1)[1].item() == NOTHING
