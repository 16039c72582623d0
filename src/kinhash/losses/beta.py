"""The near-binary target distribution: `2 x - 1` with `x ~ Beta(a, a)`, without SciPy and on any device."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from kinhash.errors import InputError

_GRID = 20_001
_DRAWS = 1 << 14


@lru_cache(maxsize=8)
def _half(a: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The distribution function on x <= 1/2, as (F(x), x).

    `F(x) ~ integral_0^x u^(a-1) (1-u)^(a-1) du`; `v = u^a` removes the pole at 0, and what is left,
    `(1 - v^(1/a))^(a-1) / a`, is smooth up to u = 1/2. Symmetry gives F(1/2) = 1/2.
    """
    v = np.linspace(0.0, 0.5**a, _GRID)
    x = v ** (1 / a)
    density = (1 - x) ** (a - 1)
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return mass / mass[-1] / 2, v


def quantiles(p: ArrayLike, a: float) -> NDArray[np.float64]:
    """The values that `2 Beta(a, a) - 1` stays below with probability p; they lie in [-1, 1]."""
    if not 0 < a <= 1:
        raise InputError(f"the target Beta(a, a) is near-binary for 0 < a <= 1 (0.1 is usual), got a = {a}")
    p = np.asarray(p, dtype=np.float64)
    mass, v = _half(float(a))
    x = np.interp(np.minimum(p, 1 - p), mass, v) ** (1 / a)
    return np.where(p < 0.5, 2 * x - 1, 1 - 2 * x)


def quantile_table(n: int, a: float) -> Tensor:
    """(n,) float32, rising: the quantiles in the middles of n equal steps of probability."""
    return torch.from_numpy(quantiles((np.arange(n) + 0.5) / n, a).astype(np.float32))


def draw(shape: tuple[int, ...], table: Tensor) -> Tensor:
    """Random values of the distribution whose quantiles `table` holds (inverse transform sampling)."""
    return table[torch.randint(len(table), shape, device=table.device)]


def draw_table(a: float) -> Tensor:
    """A table fine enough to draw from."""
    return quantile_table(_DRAWS, a)
