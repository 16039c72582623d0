"""One code per class, so that Hamming distances follow the distances between classes and none is too small."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array
from kinhash.errors import InputError
from kinhash.kernels.annealing import anneal

Floats = NDArray[np.float64]
_BALANCE = 0.02  # of bits over classes, against the fit: a flip that balances a bit may cost little
_SWEEPS = 400  # proposals for every bit of every class
_ROUNDS = 6  # of growing penalties
_STARTS = 4
_PAIRS = 2_000_000_000  # of classes that all proposals together may look at: many classes get fewer sweeps


@dataclass(frozen=True)
class ClassCodes:
    """(C, bits) of +-1 as int8, and how well they do what was asked."""

    signs: NDArray[np.int8]
    least: int  # the smallest Hamming distance
    correlation: float  # of Hamming with semantic distances, over pairs of classes


def class_codes(
    distance: ArrayLike, bits: int, *, least: int | None = None, sharpness: float = 0.5, seed: int = 0
) -> ClassCodes:
    """Codes whose Hamming distances are `a d_ij` as nearly as possible and at least `least`.

    `min sum_{i<j} w_ij (h_ij - a d_ij)^2`, `w = (d + .1)^-sharpness / its mean`: near classes decide what is found first. a
    makes the mean distance that of balanced bits, `bits/2 C/(C-1)`. Starts at random hyperplanes of a spectral
    embedding of the similarities and anneals over single bits; near pairs below `least` pay a penalty
    that grows until there are none. `least`: by default a quarter of what Gilbert and Varshamov guarantee.
    """
    D = _checked(distance)
    classes, bound = len(D), separation(len(D), bits)
    wished = max(1, round(bound / 4)) if least is None else least
    off, draw, best = ~np.eye(classes, dtype=bool), np.random.default_rng(seed), 0
    for _ in range(_STARTS):
        signs = _start(D, bits, draw)
        penalty, hot = 4.0, 4.0 * bits
        for _ in range(_ROUNDS):
            hamming = _annealed(signs, D, sharpness, wished, penalty, hot, draw)[off]
            best = max(best, int(hamming.min()))
            if hamming.min() >= wished:
                return ClassCodes(signs, int(hamming.min()), _correlation(hamming, D[off]))
            penalty, hot = 3 * penalty, 0.7 * hot
    raise InputError(
        f"no {classes} codes of {bits} bits were found that lie at least {wished} apart, only {best}; "
        f"ask for {best} or less, or for longer codes"
    )


def _annealed(
    signs: NDArray[np.int8],
    D: Floats,
    sharpness: float,
    least: int,
    penalty: float,
    hot: float,
    draw: np.random.Generator,
) -> NDArray[np.int64]:
    """Improves the codes in place; (C, C) Hamming distances."""
    classes, bits = signs.shape
    off = ~np.eye(classes, dtype=bool)
    mean = float(D[off].mean())
    scale = bits / 2 * classes / (classes - 1) / mean if mean > 0 else 0.0
    wanted = bits - 2 * np.minimum(scale * D, bits)
    weights = (D + 0.1) ** -sharpness
    weights = np.where(off, weights / weights[off].mean(), 0.0)
    steps = min(_SWEEPS * classes * bits, _PAIRS // classes)
    products, columns = signs.astype(np.int64) @ signs.T, signs.sum(0, dtype=np.int64)
    sites, chances = draw.integers(0, classes * bits, steps), draw.random(steps)
    most, cold = bits - 2 * least, 0.02 * bits
    anneal(
        signs, products, wanted, weights, most, penalty, columns, _BALANCE * bits, sites, chances, hot, cold
    )
    return (bits - products) // 2


def separation(classes: int, bits: int) -> int:
    """The largest d for which there surely are so many codes d apart: `sum_{i<d} C(bits, i) <= 2^bits / classes`."""
    if bits < 1 or 2**bits < classes:
        raise InputError(
            f"{bits} bits make fewer codes than there are classes; {classes} classes need at least "
            f"{max(1, (classes - 1).bit_length())} bits"
        )
    room, d = 2**bits // classes, 0
    while d < bits and room >= comb(bits, d):
        room -= comb(bits, d)
        d += 1
    return d


def _start(D: Floats, bits: int, draw: np.random.Generator) -> NDArray[np.int8]:
    values, vectors = np.linalg.eigh(1 - D)
    spectral = vectors * np.sqrt(np.maximum(values, 0))
    sides = (spectral - spectral.mean(0)) @ draw.normal(size=(len(D), bits))
    return np.where(sides >= 0, 1, -1).astype(np.int8)


def _correlation(hamming: NDArray[np.int64], D: Floats) -> float:
    if hamming.std() == 0 or D.std() == 0:
        return 0.0
    return float(np.corrcoef(hamming, D)[0, 1])


def _checked(distance: ArrayLike) -> Floats:
    D = as_array(distance, "the distances")
    if D.ndim != 2 or D.shape[0] != D.shape[1] or len(D) < 2 or D.dtype.kind not in "fiub":
        raise InputError(
            f"class codes need a (C, C) matrix of distances, C >= 2; got shape {D.shape} of {D.dtype}"
        )
    D = D.astype(np.float64)
    if not (D.min() >= 0 and D.max() <= 1):  # NaN fails too
        raise InputError("distances between classes lie in [0, 1]; scale them first")
    symmetric: Floats = (D + D.T) / 2
    np.fill_diagonal(symmetric, 0.0)
    return symmetric
