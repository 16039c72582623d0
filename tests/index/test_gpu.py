"""The scan on GPUs equals a stable NumPy sort by (distance, position), with torch alone and with kernels.

Where Triton is installed but no GPU, the kernels can run in its interpreter, in minutes:
TRITON_INTERPRET=1 pytest tests/index/test_gpu.py
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from kinhash import Codes
from kinhash.errors import InputError
from kinhash.index import gpu
from kinhash.index.gpu import GpuIndex
from kinhash.kernels import gpu_nearest, gpu_plain, scan_plain
from kinhash.kernels.gpu_shard import ROW_BITS

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@pytest.fixture(params=["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The CPU searches with torch alone, here in short chunks; in the interpreter with the kernels."""
    monkeypatch.setattr(gpu_plain, "_FIRST", 512)
    return str(request.param)


@pytest.fixture(autouse=True)
def _one_thread_for_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    if INTERPRETED:
        monkeypatch.setattr(
            gpu, "map_blocks", lambda run, total, block, threads: [run(i, i + 1) for i in range(total)]
        )


def codes(rng: np.random.Generator, n: int, bits: int, distinct: int | None = None) -> Codes:
    made = Codes.from_bits(rng.integers(0, 2, (distinct or n, bits)))
    return made if distinct is None else made[rng.integers(0, distinct, n)]


def assert_same(index: GpuIndex, queries: Codes, words: np.ndarray, positions: np.ndarray, k: int) -> None:
    hits = index.search(queries, k)
    expected, distances = scan_plain.k_nearest(queries.words, words, positions, k)
    assert np.array_equal(hits.distances, distances)
    assert np.array_equal(hits.positions, expected)
    assert hits.positions.dtype == np.int64
    assert hits.distances.dtype == np.int32


# ---- without a GPU -------------------------------------------------------------------------------------


def test_shards_merge_by_distance_then_position(rng: np.random.Generator) -> None:
    keys = np.sort(rng.choice(1000, (4, 90), replace=True) << ROW_BITS | np.arange(4 * 90).reshape(4, 90))
    owner = rng.integers(0, 3, (4, 90))
    k = 20
    parts = [np.full((4, k), np.iinfo(np.int64).max) for _ in range(3)]
    for query in range(4):
        for shard in range(3):
            own = keys[query][owner[query] == shard][:k]
            parts[shard][query, : len(own)] = own
    assert np.array_equal(gpu.merged(parts, k), keys[:, :k])


def test_ragged_shards_merge_by_query_then_key(rng: np.random.Generator) -> None:
    counts = rng.integers(0, 5, (3, 6))
    counts[:, 2] = 0
    parts, by_query = [], [[] for _ in range(6)]
    for shard in range(3):
        lists = [np.sort(rng.integers(0, 1 << 45, count)) for count in counts[shard]]
        for query, found in enumerate(lists):
            by_query[query] += found.tolist()
        parts.append((counts[shard], np.concatenate(lists)))
    offsets, keys = gpu.merged_ragged(parts)
    assert offsets.tolist() == [0, *np.cumsum(counts.sum(0))]
    assert keys.tolist() == [key for found in by_query for key in sorted(found)]


@pytest.mark.parametrize(
    ("chunks", "sentence"),
    [
        ([], "is empty"),
        ([(np.empty((0, 1), np.uint64), 0)], "is empty"),
        ([(np.zeros((2, 1), np.int64), 0)], "uint64"),
        ([(torch.zeros((2, 1), dtype=torch.int32), 0)], r"torch\.int64"),
        ([(np.zeros((2, 9), np.uint64), 0)], "at most 512 bits"),
        ([(np.zeros((2, 1), np.uint64), 0), (np.zeros((2, 2), np.uint64), 2)], "shape"),
        ([(np.zeros((2, 1), np.uint64), 0), (np.zeros((2, 1), np.uint64), 1)], "begins before 2"),
    ],
)
def test_refuses_chunks_that_do_not_fit(chunks: list, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        GpuIndex(chunks)


# ---- the kernels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [7, 64, 100, 128, 192, 256, 512])
@pytest.mark.parametrize("m", [1, 5, 70])
def test_equals_a_stable_sort(device: str, rng: np.random.Generator, bits: int, m: int) -> None:
    n = 3000 if device == "cpu" else 40_000
    database, queries = codes(rng, n, bits), codes(rng, m, bits)
    for k in (1, 10, 1500):
        assert_same(GpuIndex(database, [device]), queries, database.words, np.arange(n), k)


@pytest.mark.parametrize("n", [1, 2, 1023, 1024, 1025, 2049])
def test_any_number_of_rows(device: str, rng: np.random.Generator, n: int) -> None:
    database = codes(rng, n, 20)
    for m in (1, 3):
        queries = codes(rng, m, 20)
        for k in {1, n}:
            assert_same(GpuIndex(database, [device]), queries, database.words, np.arange(n), k)


@pytest.mark.parametrize("m", [1, 9])
def test_duplicates_and_sorted_rows(
    device: str, rng: np.random.Generator, m: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists that run over: rows sorted from far to near, and thousands of ties."""
    careful, again = gpu_nearest.nearest_carefully, []
    monkeypatch.setattr(
        gpu_nearest, "nearest_carefully", lambda *given: again.append(given) or careful(*given)
    )
    n = 9000 if device == "cpu" else 600_000
    queries = codes(rng, m, 64)
    few = codes(rng, n, 64, distinct=3)
    same = codes(rng, n, 64, distinct=1)
    order = np.argsort(-np.bitwise_count(few.words ^ queries.words[0])[:, 0].astype(int), kind="stable")
    falling = Codes.from_bits((np.arange(n)[:, None] * 64 // n > np.arange(64)) ^ queries[0].to_bits() ^ True)
    for database in (few, same, few[order], falling):
        index = GpuIndex(database, [device])
        for k in (1, 50):
            assert_same(index, queries, database.words, np.arange(n), k)
    assert bool(again) == (device != "cpu" or INTERPRETED)


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_shards_and_gaps_do_not_change_the_answer(device: str, rng: np.random.Generator, shards: int) -> None:
    parts = [(codes(rng, n, 64, distinct=40).words, base) for n, base in [(700, 5), (1, 800), (1400, 10_000)]]
    words = np.concatenate([part for part, _ in parts])
    positions = np.concatenate([np.arange(base, base + len(part)) for part, base in parts])
    parts[1] = torch.from_numpy(parts[1][0].view(np.int64).copy()), parts[1][1]
    index = GpuIndex(parts, [device] * shards)
    assert len(index) == 2101
    assert len(index.devices) == shards
    queries = Codes(words[rng.integers(0, 2101, 6)], 64)
    for k in (1, 100, 2101):
        assert_same(index, queries, words, positions, k)
    for radius in (0, 25, 64):
        hits = index.within(queries, radius)
        q, p, d = scan_plain.within(queries.words, words, positions, radius)
        assert hits.offsets.tolist() == np.searchsorted(q, np.arange(7)).tolist()
        assert np.array_equal(hits.positions, p)
        assert np.array_equal(hits.distances, d)


def test_more_shards_than_rows(device: str) -> None:
    index = GpuIndex(Codes.from_bits([[0, 1], [1, 1]]), [device] * 3)
    hits = index.search(Codes.from_bits([[1, 1]]), 2)
    assert hits.positions.tolist() == [[1, 0]]


@pytest.mark.parametrize("m", [1, 30, 300])
def test_a_longer_database(device: str, rng: np.random.Generator, m: int) -> None:
    """Long enough for the tensor cores; compared with distances that torch computes."""
    n = 3000 if device == "cpu" else 3_000_000
    bytes_ = rng.integers(0, 256, (n, 8), dtype=np.uint8)
    database = Codes.from_bytes(bytes_, 64)
    queries = database[rng.integers(0, n, m)]
    hits = GpuIndex(database, [device]).search(queries, 100)
    for query in range(0, m, 29):
        keys = np.bitwise_count(database.words[:, 0] ^ queries.words[query, 0]).astype(
            np.int64
        ) << 40 | np.arange(n)
        best = np.sort(np.partition(keys, 99)[:100])
        assert np.array_equal(hits.positions[query], best & (1 << 40) - 1)
        assert np.array_equal(hits.distances[query], best >> 40)


def test_says_what_it_holds(device: str, rng: np.random.Generator) -> None:
    index = GpuIndex(codes(rng, 10, 48), [device])
    assert repr(index) == f"GpuIndex(n=10, bits=48, devices=['{device}'])"


def test_arguments_are_checked(device: str, rng: np.random.Generator) -> None:
    index = GpuIndex(codes(rng, 10, 48), [device])
    with pytest.raises(InputError, match="48"):
        index.search(codes(rng, 1, 64), 1)
    chunks = [(codes(rng, 10, 48).words, 0)]
    with pytest.raises(InputError, match="48 bits and the database 64"):
        GpuIndex(chunks, [device]).search(codes(rng, 1, 48), 1)
    assert len(GpuIndex(chunks, [device], bits=48).search(codes(rng, 1, 48), 1)) == 1
    for bits in (0, True, 48.0, 65):
        with pytest.raises(InputError):
            GpuIndex(chunks, [device], bits=bits)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="48 bits, and bits is 64"):
        GpuIndex(codes(rng, 10, 48), [device], bits=64)
    for k in (0, 11, True):
        with pytest.raises(InputError):
            index.search(codes(rng, 1, 48), k)
    with pytest.raises(InputError, match="radius"):
        index.within(codes(rng, 1, 48), 49)
    empty = codes(rng, 1, 48)[:0]
    assert index.search(empty, 3).positions.shape == (0, 3)
    assert len(index.within(empty, 3)) == 0
