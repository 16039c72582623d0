"""The scan on tensor cores against counting bits, list by list."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from kinhash import Codes
from kinhash.kernels import gpu_launch, gpu_shard
from kinhash.kernels.gpu_lists import new_lists


def test_the_bit_product_counts_what_the_kernel_believes(rng: np.random.Generator) -> None:
    """popcount of (q, ~q) & (x, ~x) is bits - distance, and the accumulator's sign is the limit's verdict."""
    q, x = rng.integers(0, 1 << 63, 200, dtype=np.uint64), rng.integers(0, 1 << 63, 200, dtype=np.uint64)
    equal = np.bitwise_count(q & x).astype(int) + np.bitwise_count(~q & ~x)
    distance = np.bitwise_count(q ^ x).astype(int)
    assert np.array_equal(equal, 64 - distance)
    for limit in (-1, 0, 30, 64):
        assert np.array_equal((limit - 64) + equal >= 0, distance <= limit)


@pytest.mark.gpu
@pytest.mark.parametrize("bits", [64, 128, 192, 320, 512])
@pytest.mark.parametrize("m", [2, 40, 130])
def test_both_kernels_append_the_same(rng: np.random.Generator, bits: int, m: int) -> None:
    """The tensor cores against counting, list by list."""
    if os.environ.get("TRITON_INTERPRET") == "1":
        pytest.skip("the interpreter knows no tensor cores")
    database, queries = (Codes.from_bits(rng.integers(0, 2, (n, bits))) for n in (50_000, m))
    shard = gpu_shard.upload([database.words], torch.device("cuda:0"))
    found = []
    for scan in (gpu_launch.append_by_tensor_cores, gpu_launch.append_by_counting):
        lists = new_lists(shard, queries.words, 50_000, histogram=True)
        lists.limits[:m] = int(bits * 0.4)
        end = scan(shard, lists, 2048, 2048 + 5 * 8192 + (0 if scan is gpu_launch.append_by_counting else 77))
        assert end in (None, 2048 + 5 * 8192)
        rows = [
            np.sort(lists.keys.view(-1, 50_000)[q, : lists.counts[q]].cpu().numpy())
            for q in range(len(lists.counts))
        ]
        found.append(rows)
        assert torch.equal(lists.histogram.sum(1), lists.counts)
    assert [row.tolist() for row in found[0]] == [row.tolist() for row in found[1]]
    near = np.bitwise_count(database.words[None] ^ queries.words[:, None]).sum(2)[:, 2048 : 2048 + 5 * 8192]
    assert [len(row) for row in found[0][:m]] == (near <= int(bits * 0.4)).sum(1).tolist()
