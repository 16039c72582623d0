"""Codes without any training: on which side of random hyperplanes a vector lies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinhash.codes import Codes
from kinhash.errors import InputError


def random_hyperplanes(vectors: ArrayLike, bits: int, seed: int = 0) -> Codes:
    """Codes of vectors (n, d): bit j is [w_j . v >= 0] for Gaussian w_j, the same for the same d, bits and seed.

    Two vectors at angle a differ in each bit with chance a / pi (Charikar, STOC 2002), so Hamming distance follows
    the cosine; its deviation falls with the root of `bits`.
    """
    array = np.asarray(vectors)
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "fiu":
        raise InputError(f"vectors must be a real (n, d) array, got shape {array.shape} of {array.dtype}")
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(wrong):
        raise InputError(
            f"vectors hold NaN or infinity, first in row {wrong[0]}: they lie on no side of a plane"
        )
    if isinstance(bits, bool) or not isinstance(bits, int | np.integer) or bits < 1:
        raise InputError(f"a code length is a positive whole number of bits, got {bits!r}")
    normals = np.random.default_rng(seed).normal(size=(array.shape[1], bits))
    return Codes.from_logits(array.astype(np.float64) @ normals)
