"""Rank correlation: does one distance order things as another does?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array
from kinhash.errors import InputError
from kinhash.kernels.kendall import kendall_tau_b

_EXACT = 2**53  # float64 holds every whole number up to here


def kendall_tau(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-b of two rows of paired values: 1 = same order, 0 = unrelated, -1 = reversed.

    (concordant - discordant pairs) / sqrt(pairs not tied in x * pairs not tied in y), in O(n log n). NaN where one of
    the rows is constant, since it then orders nothing.
    """
    left, right = _checked_pairs(x, y)
    return float(kendall_tau_b(left, right, np.argsort(left), np.argsort(right)))


def spearman_rho(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rho of two rows of paired values: the correlation of their ranks, equal values sharing the mean rank.

    1 = same order, 0 = unrelated, -1 = reversed; NaN where one of the rows is constant.
    """
    left, right = (_levels(row) for row in _checked_pairs(x, y))
    return _rho(left, right)


def spearman_interval(
    x: ArrayLike, y: ArrayLike, draws: int = 1000, share: float = 0.95
) -> tuple[float, float]:
    """Between which values `share` of Spearman's rhos of bootstrap samples lie; the same pairs give the same samples.

    A sample is as many pairs, drawn with replacement (Efron 1979).
    """
    left, right = (_levels(row) for row in _checked_pairs(x, y))
    rng = np.random.default_rng(0)
    samples = (rng.integers(len(left), size=len(left)) for _ in range(draws))
    low, high = np.nanquantile(
        [_rho(left[rows], right[rows]) for rows in samples], [(1 - share) / 2, (1 + share) / 2]
    )
    return float(low), float(high)


def _rho(left: NDArray[np.intp], right: NDArray[np.intp]) -> float:
    a, b = _centred_ranks(left), _centred_ranks(right)
    spread = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / spread) if spread > 0 else float("nan")


def _levels(row: NDArray[np.float64]) -> NDArray[np.intp]:
    """Every value as its number among the different values, ascending."""
    return np.unique(row, return_inverse=True)[1]


def _centred_ranks(levels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Ranks minus their mean; n values have the mean rank (n - 1) / 2. No sorting: levels are in order already."""
    sizes = np.bincount(levels)
    ranks = np.cumsum(sizes) - (sizes + 1) / 2
    centred: NDArray[np.float64] = ranks[levels] - (len(levels) - 1) / 2
    return centred


def _checked_pairs(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    left, right = _checked_row(x, "x"), _checked_row(y, "y")
    if len(left) != len(right):
        raise InputError(f"x has {len(left)} values and y {len(right)}; they must be pairs")
    return left, right


def _checked_row(values: ArrayLike, name: str) -> NDArray[np.float64]:
    array = as_array(values, name)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise InputError(f"{name} must be a row of numbers, got shape {array.shape} of {array.dtype}")
    if len(array) < 2:
        raise InputError(f"{name} holds {len(array)} values; an order needs at least two")
    if array.dtype.kind in "iu" and (array.max() > _EXACT or array.min() < -_EXACT):
        array = np.unique(array, return_inverse=True)[1]  # only the order counts, and float64 would lose it
    row = np.ascontiguousarray(array, dtype=np.float64)
    wrong = np.flatnonzero(np.isnan(row))
    if len(wrong):
        raise InputError(f"{name}[{wrong[0]}] is NaN, which has no place in an order; leave this pair out")
    return row
