"""Codes without any training: on which side of random hyperplanes a vector lies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import finite_rows, is_whole
from kinhash.codes import Codes
from kinhash.errors import InputError

_LARGE = 1e290  # products with Gaussian numbers, and sums of many of them, stay finite below


def random_hyperplanes(vectors: ArrayLike, bits: int, seed: int = 0) -> Codes:
    """Codes of vectors (n, d): bit j is [w_j . v >= 0] for Gaussian w_j, the same for the same d, bits and seed.

    Two vectors at angle a differ in each bit with chance a / pi (Charikar, STOC 2002), so Hamming distance follows
    the cosine; its deviation falls with the root of `bits`.
    """
    rows = _kept_small(finite_rows(vectors, "vectors"))
    if not is_whole(bits) or bits < 1:
        raise InputError(f"a code length is a positive whole number of bits, got {bits!r}")
    if not is_whole(seed) or seed < 0:
        raise InputError(f"a seed is a whole number from 0 on, got {seed!r}")
    normals = np.random.default_rng(seed).normal(size=(rows.shape[1], bits))
    return Codes.from_logits(rows @ normals)


def _kept_small(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows that no product carries out of float64: where some are large, each is divided by a power of two.

    That rounds nothing and turns no sign.
    """
    if max(rows.max(initial=0.0), -rows.min(initial=0.0)) < _LARGE:
        return rows
    exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1]
    scaled: NDArray[np.float64] = np.ldexp(rows, -exponents)
    return scaled
