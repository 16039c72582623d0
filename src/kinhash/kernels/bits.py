"""Counting bits: the population count as one machine instruction, and Hamming distances built on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config, njit
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # numba sets it from the environment

    def popcount64(word: np.uint64) -> int:
        """How many bits of a 64-bit word are set."""
        return int(word).bit_count()

else:

    @intrinsic
    def popcount64(typing_context: Any, word: Any) -> Any:
        """How many bits of a uint64 are set, as int64; LLVM's `ctpop`, which becomes POPCNT or VPOPCNTQ."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate


@njit(cache=True, nogil=True)
def hamming(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> int:
    """Hamming distance of two codes, each a row of words."""
    distance = 0
    for w in range(a.shape[0]):
        distance += popcount64(a[w] ^ b[w])
    return distance


@njit(cache=True, nogil=True)
def hamming_row(query: NDArray[np.uint64], database: NDArray[np.uint64], out: NDArray[np.uint16]) -> None:
    """Distances of one code (w,) to every row of (n, w). One word is its own loop: it becomes SIMD."""
    if query.shape[0] == 1:
        word = query[0]
        for i in range(database.shape[0]):
            out[i] = popcount64(word ^ database[i, 0])
        return
    for i in range(database.shape[0]):
        distance = 0
        for w in range(query.shape[0]):
            distance += popcount64(query[w] ^ database[i, w])
        out[i] = distance


@njit(cache=True, nogil=True)
def hamming_tile(queries: NDArray[np.uint64], database: NDArray[np.uint64], out: NDArray[np.uint16]) -> None:
    """All distances of (m, w) codes to (n, w) codes."""
    for q in range(queries.shape[0]):
        hamming_row(queries[q], database, out[q])


@njit(cache=True, nogil=True)
def nearest_in_batches(words: NDArray[np.uint64], batch: int, out: NDArray[np.int64]) -> None:
    """Hamming distance of every code to the nearest other one of its batch of consecutive rows."""
    for start in range(0, words.shape[0], batch):
        for i in range(start, start + batch):
            best = words.shape[1] * 64 + 1
            for j in range(start, start + batch):
                if j != i:
                    distance = hamming(words[i], words[j])
                    if distance < best:
                        best = distance
            out[i] = best
