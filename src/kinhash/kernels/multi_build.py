"""Building the tables of multi-index hashing: a counting sort of all codes by their key, twice over the codes.

A table picks some bits of a code as its key and up to 32 others as a signature. Both come out of one lookup table
per byte of the code: (8 * width, 256) words whose lower half adds to the key and whose upper half to the signature,
so that any choice of bits costs the same.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.codes import width_of
from kinhash.kernels.multi_vector import signed
from kinhash.kernels.vector import prefetch, word_at

_KEY = np.uint64(0xFFFFFFFF)
_BLOCK = 128  # codes
_BYTE = np.uint64(0xFF)


def byte_lookup(bits: int, key: NDArray[np.int64], signature: NDArray[np.int64]) -> NDArray[np.uint64]:
    """What every byte of a code adds to (signature << 32) + key, whose bits are those numbered by the arguments."""
    lookup = np.zeros((8 * width_of(bits), 256), dtype=np.uint64)
    values = np.arange(256, dtype=np.uint64)
    for start, chosen in ((0, key), (32, signature)):
        for place, bit in enumerate(chosen):
            taken = (values >> np.uint64(bit % 8)) & np.uint64(1)
            lookup[bit // 8] |= taken << np.uint64(start + place)
    return lookup


@njit(cache=True, nogil=True, forceinline=True)
def packed(address: int, width: int, lookup: NDArray[np.uint64]) -> np.uint64:
    """(signature << 32) + key of the code at an address."""
    found = np.uint64(0)
    for w in range(width):
        word = word_at(address + 8 * w)
        for b in range(8):
            found |= lookup[8 * w + b, word & _BYTE]
            word >>= np.uint64(8)
    return found


@njit(cache=True, nogil=True)
def count_keys(address: int, count: int, lookup: NDArray[np.uint64], ends: NDArray[np.uint32]) -> None:
    """ends[key + 1] becomes where the bucket of a key begins; `ends` holds zeros, two more than there are keys."""
    width = lookup.shape[0] // 8
    base = signed(ends.ctypes.data)
    keys = np.empty(_BLOCK, dtype=np.int64)
    for start in range(0, count, _BLOCK):
        size = min(_BLOCK, count - start)
        for i in range(size):
            key = signed(packed(address + 8 * width * (start + i), width, lookup) & _KEY)
            keys[i] = key
            prefetch(base + 4 * (key + 2))
        for i in range(size):
            ends[keys[i] + 2] += np.uint32(1)
    for key in range(2, ends.shape[0]):
        ends[key] += ends[key - 1]


@njit(cache=True, nogil=True)
def fill_buckets(
    address: int,
    count: int,
    lookup: NDArray[np.uint64],
    ends: NDArray[np.uint32],
    ids: NDArray[np.uint32],
    signatures: NDArray[np.uint32],
) -> None:
    """Put every code into its bucket, numbers ascending; afterwards bucket `key` is ends[key] to ends[key + 1].

    `signatures` is empty where none are kept. Codes go in blocks, so that places can be asked for before they
    are written: otherwise every code would wait for memory three times.
    """
    width = lookup.shape[0] // 8
    keep = signatures.shape[0] > 0
    base, id_base, signature_base = (
        signed(ends.ctypes.data),
        signed(ids.ctypes.data),
        signed(signatures.ctypes.data),
    )
    both = np.empty(_BLOCK, dtype=np.uint64)
    places = np.empty(_BLOCK, dtype=np.int64)
    for start in range(0, count, _BLOCK):
        size = min(_BLOCK, count - start)
        for i in range(size):
            both[i] = packed(address + 8 * width * (start + i), width, lookup)
            prefetch(base + 4 * (signed(both[i] & _KEY) + 1))
        for i in range(size):
            key = signed(both[i] & _KEY)
            place = ends[key + 1]
            ends[key + 1] = place + np.uint32(1)
            places[i] = place
            prefetch(id_base + 4 * signed(place))
            if keep:
                prefetch(signature_base + 4 * signed(place))
        for i in range(size):
            ids[places[i]] = start + i
            if keep:
                signatures[places[i]] = both[i] >> np.uint64(32)
