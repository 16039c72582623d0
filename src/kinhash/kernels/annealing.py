"""Codes of classes whose inner products follow a table, by flipping bits at a falling temperature."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Signs = NDArray[np.int8]
Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@njit(cache=True, nogil=True)
def anneal(
    codes: Signs,
    products: Whole,
    wanted: Floats,
    weights: Floats,
    most: int,
    penalty: float,
    columns: Whole,
    balance: float,
    sites: Whole,
    chances: Floats,
    hot: float,
    cold: float,
) -> None:
    """Flips bits of `codes` (C, bits) of +-1 in place, as simulated annealing does; keeps `products` and `columns`.

    Cost: `sum_{i<j} weights (products - wanted)^2 + penalty max(0, products - most)^2 + balance sum_k columns_k^2`, columns
    the sum of every bit over the classes. Step t proposes the site `sites[t]` = class * bits + bit and accepts a
    rise r in cost if `chances[t] < exp(-r / T)`; T falls geometrically from `hot` to `cold`.
    """
    classes, bits = codes.shape
    steps = len(sites)
    fall = (cold / hot) ** (1.0 / steps)
    temperature = hot
    for t in range(steps):
        i, k = sites[t] // bits, sites[t] % bits
        own = codes[i, k]
        rise = 4.0 * balance * (1 - own * columns[k])
        for j in range(classes):
            if j != i:
                step = -2 * own * codes[j, k]
                now = products[i, j]
                off = now - wanted[i, j]
                rise += weights[i, j] * step * (2 * off + step)
                if now > most or now + step > most:
                    before, after = max(0, now - most), max(0, now + step - most)
                    rise += penalty * (after * after - before * before)
        temperature *= fall
        if rise <= 0 or chances[t] < np.exp(-rise / temperature):
            for j in range(classes):
                if j != i:
                    step = -2 * own * codes[j, k]
                    products[i, j] += step
                    products[j, i] += step
            columns[k] -= 2 * own
            codes[i, k] = -own
