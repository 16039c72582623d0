"""A checksum over the answers of many searches: equal wherever they are equal. Also run alone, without the compiler."""

from __future__ import annotations

import hashlib

import numpy as np

from kinhash import Codes
from kinhash.index.scan import distance_histogram, k_nearest, pairs_within, within


def digest() -> str:
    """Of searches over codes of many lengths, batches and filters."""
    rng = np.random.default_rng(5)
    total = hashlib.sha256()
    for bits in (16, 32, 64, 100, 128, 192, 256, 512):
        codes = Codes.from_bits(rng.random((1300, bits)) < 0.3)
        allowed = rng.random(1300) < 0.4
        for batch in (1, 6, 60, 170):
            for some in (None, allowed, np.flatnonzero(allowed)[:40]):
                hits = k_nearest(codes[:batch], codes, 30, allowed=some)
                total.update(hits.positions.tobytes() + hits.distances.tobytes())
            found = within(codes[:batch], codes, bits // 5)
            total.update(found.offsets.tobytes() + found.positions.tobytes() + found.distances.tobytes())
        pairs = pairs_within(codes[:400], bits // 6)
        total.update(pairs.left.tobytes() + pairs.right.tobytes() + pairs.distances.tobytes())
        total.update(distance_histogram(codes[:3], codes).tobytes())
    return total.hexdigest()


if __name__ == "__main__":
    print(digest())  # noqa: T201  # read by the test
