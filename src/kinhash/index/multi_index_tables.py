"""The tables of multi-index hashing in memory, built from a plan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.multi_index_plan import Plan, signature_bits
from kinhash.kernels.multi_build import byte_lookup, count_keys, fill_buckets
from kinhash.kernels.multi_search import Tables
from kinhash.kernels.multi_vector import SIGNATURES
from kinhash.kernels.threads import map_blocks


def build_tables(codes: Codes, plan: Plan, *, lean: bool, threads: int | None) -> Tables:
    """One counting sort per table; several run at once where there are threads."""
    number, n, width = len(plan.keys), len(codes), codes.words.shape[1]
    lengths = np.array([len(key) for key in plan.keys], dtype=np.int64)
    sizes = (1 << lengths) + 2
    tables = Tables(
        words=codes.words,
        lookups=np.stack(
            [
                byte_lookup(codes.bits, key, signature_bits(codes.bits, plan.keys, j))
                for j, key in enumerate(plan.keys)
            ]
        ),
        masks=np.stack([_mask(key, width) for key in plan.keys]),
        lengths=lengths,
        starts=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        ends=np.zeros(sizes.sum(), dtype=np.uint32),
        ids=np.empty((number, n), dtype=np.uint32),
        signatures=np.empty((number, 0 if lean else n + SIGNATURES), dtype=np.uint32),
    )

    def build(first: int, stop: int) -> None:
        for j in range(first, stop):
            ends = tables.ends[tables.starts[j] :][: sizes[j]]
            address = codes.words.ctypes.data
            count_keys(address, n, tables.lookups[j], ends)
            fill_buckets(address, n, tables.lookups[j], ends, tables.ids[j], tables.signatures[j])
            tables.signatures[j, n:] = 0

    map_blocks(build, number, 1, threads)
    return tables


def _mask(key: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
    """The bits of a key, as a code."""
    mask = np.zeros(width, dtype=np.uint64)
    for bit in key:
        mask[bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    return mask
