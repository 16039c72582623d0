"""How well a set of codes uses its bits, without any labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from kinhash.arrays import is_whole
from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.kernels.bits import nearest_in_batches

_BLOCK = 65536  # codes that are unpacked to signs at a time


@dataclass(frozen=True)
class BitStatistics:
    """Statistics of one set of n codes; `as_dict` is what goes into a report."""

    n: int
    bits: int
    mean_nn_hamming_512: float | None  # None: fewer than 512 codes
    bucket_entropy: float
    unique_codes: int
    largest_bucket: int
    bit_balance: float
    bit_correlation: float | None  # None: fewer than two bits vary
    constant_bits: int
    multi_index_candidates: float

    def as_dict(self) -> dict[str, float | int | None]:
        """Plain numbers by name."""
        return asdict(self)


def bit_statistics(codes: Codes, *, seed: int | None = 0) -> BitStatistics:
    """All statistics of this module; `seed` is that of `mean_nn_hamming`."""
    _refuse_empty(codes)
    buckets = bucket_sizes(codes)
    correlation = bit_correlation(codes)
    upper = np.abs(correlation[np.triu_indices(codes.bits, 1)])
    defined = upper[~np.isnan(upper)]
    return BitStatistics(
        n=len(codes),
        bits=codes.bits,
        mean_nn_hamming_512=mean_nn_hamming(codes, seed=seed) if len(codes) >= 512 else None,
        bucket_entropy=_entropy(buckets),
        unique_codes=len(buckets),
        largest_bucket=int(buckets.max()),
        bit_balance=bit_balance(codes),
        bit_correlation=float(defined.mean()) if len(defined) else None,
        constant_bits=int(np.isnan(np.diagonal(correlation)).sum()),
        multi_index_candidates=multi_index_candidates(codes),
    )


def mean_nn_hamming(codes: Codes, batch: int = 512, *, seed: int | None = 0) -> float:
    """Mean Hamming distance to the nearest other code of the same batch (`mean_nn_hamming@512`).

    The set is cut into whole batches of `batch` codes; codes that do not fill one are left out, because the
    nearest of fewer is farther. `seed` shuffles first, so that a set sorted by class does not look collapsed;
    None keeps the order. Uniform 64-bit codes give 19.967 at 512.
    """
    _refuse_empty(codes)
    if not is_whole(batch) or batch < 2:
        raise InputError(f"a batch is a whole number of at least 2 codes, got {batch!r}")
    if seed is not None and (not is_whole(seed) or seed < 0):
        raise InputError(f"a seed is a whole number from 0 on, or None for no shuffle; got {seed!r}")
    if len(codes) < batch:
        raise InputError(
            f"{len(codes)} codes do not fill one batch of {batch}; pass more codes or a smaller batch"
        )
    order = np.arange(len(codes)) if seed is None else np.random.default_rng(seed).permutation(len(codes))
    words = codes.words[order[: len(codes) - len(codes) % batch]]
    nearest = np.empty(len(words), np.int64)
    nearest_in_batches(words, int(batch), nearest)
    return float(nearest.mean())


def bucket_sizes(codes: Codes) -> NDArray[np.int64]:
    """How often each distinct code occurs, in no particular order."""
    _refuse_empty(codes)
    return _group_sizes(codes.words)


def bucket_entropy(codes: Codes) -> float:
    """Shannon entropy in bits of the distribution of codes: log2(n) if all differ, 0 if all are one."""
    return _entropy(bucket_sizes(codes))


def bit_balance(codes: Codes) -> float:
    """1 - mean_j |2 p_j - 1|, p_j the share of ones in bit j: 1 = every bit splits the set evenly."""
    return float(1 - np.abs(2 * bit_shares(codes) - 1).mean())


def bit_shares(codes: Codes) -> NDArray[np.float64]:
    """(bits,) share of ones of every bit."""
    _refuse_empty(codes)
    ones = np.zeros(codes.bits, np.int64)
    for start in range(0, len(codes), _BLOCK):
        ones += np.count_nonzero(codes[start : start + _BLOCK].to_bits(), axis=0)
    return ones / len(codes)


def bit_correlation(codes: Codes) -> NDArray[np.float64]:
    """(bits, bits) Pearson correlations between bits; NaN where a bit is constant. 0 off the diagonal is best."""
    _refuse_empty(codes)
    together = np.zeros((codes.bits, codes.bits))
    for start in range(0, len(codes), _BLOCK):
        signs = codes[start : start + _BLOCK].to_signs()
        together += (signs.T @ signs).astype(np.float64)  # sums of up to 65,536 signs are exact in float32
    mean = 2 * bit_shares(codes) - 1
    deviation = np.sqrt(1 - mean**2)
    deviation[deviation == 0] = np.nan
    return (together / len(codes) - np.outer(mean, mean)) / np.outer(deviation, deviation)


def multi_index_candidates(codes: Codes, chunk: int = 16) -> float:
    """Mean number of entries that multi-index hashing reads for a query of the set itself, at chunk radius 0.

    Every code is cut into pieces of `chunk` bits, one table each; a query reads its bucket in every table (itself
    not counted). Uniform codes read (n - 1) * pieces / 2^chunk; a collapsed set reads all of them.
    """
    _refuse_empty(codes)
    if chunk not in (8, 16, 32, 64):
        raise InputError(f"chunk is 8, 16, 32 or 64 bits, got {chunk!r}")
    kind = np.dtype(f"<u{chunk // 8}")
    pieces = np.ascontiguousarray(codes.words.astype("<u8", copy=False)).view(kind)
    read = 0
    for j in range(-(-codes.bits // chunk)):
        sizes = np.unique(pieces[:, j], return_counts=True)[1]
        read += int((sizes * (sizes - 1)).sum())
    return read / len(codes)


def _group_sizes(rows: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Sizes of the groups of equal rows, by one sort."""
    order = np.lexsort(rows.T)
    changes = np.flatnonzero((rows[order[1:]] != rows[order[:-1]]).any(axis=1)) + 1
    return np.diff(np.concatenate([[0], changes, [len(rows)]])).astype(np.int64)


def _entropy(sizes: NDArray[np.int64]) -> float:
    shares = sizes / sizes.sum()
    return float(abs(np.sum(shares * np.log2(shares))))


def _refuse_empty(codes: Codes) -> None:
    if not isinstance(codes, Codes):
        raise InputError(f"bit statistics need Codes, got {type(codes).__name__}; see Codes.from_logits")
    if len(codes) == 0:
        raise InputError("there are no codes: the set is empty")
