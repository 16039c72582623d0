"""How many different codes some rounds of multi-index hashing meet, by looking at every code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.bits import popcount64


@njit(cache=True, nogil=True)
def count_met(t: Any, queries: NDArray[np.uint64], rounds: NDArray[np.int64], met: NDArray[np.int64]) -> None:
    """met[q]: codes whose key in some table was probed in the first rounds[q] rounds of query q."""
    tables, width = t.masks.shape
    for q in range(queries.shape[0]):
        number = np.int64(0)
        for i in range(t.words.shape[0]):
            for j in range(tables):
                distance = np.int64(0)
                for w in range(width):
                    distance += popcount64((queries[q, w] ^ t.words[i, w]) & t.masks[j, w])
                if distance * tables + j < rounds[q]:
                    number += 1
                    break
        met[q] = number
