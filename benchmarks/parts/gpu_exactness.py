"""Codes made on a GPU, and the proof that searching them is exact, for `gpu_search.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinhash import Codes
from kinhash.index.gpu import GpuIndex


def random_words(n: int, width: int, seed: int) -> Any:
    """Uniform codes, made on the GPU."""
    import torch

    generator = torch.Generator("cuda").manual_seed(seed)
    words = torch.empty((n, width), dtype=torch.int64, device="cuda")
    return words.random_(torch.iinfo(torch.int64).min, None, generator=generator)


def clustered_words(n: int, width: int, seed: int) -> Any:
    """Codes around n / 1000 centres, each bit flipped with probability 1/8."""
    import torch

    generator = torch.Generator("cuda").manual_seed(seed)
    centres = random_words(max(1, n // 1000), width, seed)
    chosen = torch.randint(len(centres), (n,), generator=generator, device="cuda")
    words = centres[chosen]
    words ^= (
        random_words(n, width, seed + 1) & random_words(n, width, seed + 2) & random_words(n, width, seed + 3)
    )
    return words


def repeated_words(n: int, width: int, seed: int) -> Any:
    """Three codes in random order: nearly all distances are ties."""
    import torch

    generator = torch.Generator("cuda").manual_seed(seed)
    return random_words(3, width, seed)[torch.randint(3, (n,), generator=generator, device="cuda")]


def fresh(m: int, width: int) -> Codes:
    """Queries that are uniform codes."""
    return Codes(np.random.default_rng(7).integers(0, 1 << 64, (m, width), dtype=np.uint64), 64 * width)


def stored(words: Any, m: int) -> Codes:
    """Queries that are codes of the database."""
    return Codes(words[:: len(words) // m][:m].cpu().numpy().view(np.uint64), 64 * words.shape[1])


def on_gpu(queries: Codes) -> Any:
    import torch

    return torch.from_numpy(queries.words.view(np.int64).copy()).cuda()


def compare(index: GpuIndex, queries: Codes, answers: dict[int, Any], ks: tuple[int, ...], said: str) -> int:
    """Every k against the right answers of some queries, each twice: the second time it is a recorded graph."""
    compared = 0
    for k in ks:
        for turn in range(3):
            hits = index.search(queries, k)
            keys = hits.distances.astype(np.int64) << 40 | hits.positions
            for q, answer in answers.items():
                compared += 1
                if not np.array_equal(keys[q], answer[:k]):
                    raise AssertionError(
                        f"wrong: {said}, {len(queries)} queries, k {k}, query {q}, turn {turn}"
                    )
    return compared


def exactness(say: Callable[[str], object], width: int, devices: list[str], n: int = 10**7) -> int:
    """Answers against torch's sort of all distances; how many were compared."""
    from gpu_bare import exact

    compared = 0
    kinds = {"uniform": random_words, "clustered": clustered_words, "repeated": repeated_words}
    for kind, make in kinds.items():
        words = make(n, width, 11)
        index = GpuIndex([(words, 0)], devices)
        thorough = width == 1 and kind == "uniform" and len(devices) == 1
        for m in (1, 9, 64, 130) if thorough else (1, 64):
            queries = fresh(m, width) if kind == "uniform" else stored(words, m)
            asked = on_gpu(queries)
            answers = {q: exact(words, asked[q], 5000).numpy() for q in range(0, m, max(1, m // 16))}
            ks = (1, 10, 100, 1000, 5000) if thorough else (1, 100, 5000)
            compared += compare(index, queries, answers, ks, f"{64 * width} bits, {kind}")
        say(f"exact: {64 * width} bits, {kind}, {len(devices)} shards; {compared} answers so far")
        del index, words
    return compared
