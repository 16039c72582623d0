"""Codes without any training: on which side of random hyperplanes a vector lies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinhash.arrays import finite_rows, is_whole
from kinhash.codes import Codes
from kinhash.errors import InputError


def random_hyperplanes(vectors: ArrayLike, bits: int, seed: int = 0) -> Codes:
    """Codes of vectors (n, d): bit j is [w_j . v >= 0] for Gaussian w_j, the same for the same d, bits and seed.

    Two vectors at angle a differ in each bit with chance a / pi (Charikar, STOC 2002), so Hamming distance follows
    the cosine; its deviation falls with the root of `bits`.
    """
    rows = finite_rows(vectors, "vectors")
    if not is_whole(bits) or bits < 1:
        raise InputError(f"a code length is a positive whole number of bits, got {bits!r}")
    normals = np.random.default_rng(seed).normal(size=(rows.shape[1], bits))
    return Codes.from_logits(rows @ normals)
