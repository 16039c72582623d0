"""Support vector regression of many targets on one kernel (Drucker et al. 1996; Platt 1998), in NumPy."""

from __future__ import annotations

import numpy as np

from kinhash.errors import TrainingError
from kinhash.zeroshot.inputs import Floats


def regress(
    kernel: Floats, targets: Floats, cost: float, tube: float, *, precision: float = 1e-3
) -> tuple[Floats, Floats]:
    """Coefficients (n, k) and offsets (k,) of `f(x) = sum_i b_i K(x_i, x) + offset` for each of the k targets.

    `min 1/2 |f|_K^2 + cost sum_i max(0, |y_i - f(x_i)| - tube)`, by its dual `min 1/2 b K b - y b + tube |b|_1` with
    `|b_i| <= cost, sum b = 0`: the pair that violates optimality most moves until it fits, for all targets at once.
    """
    n, k = targets.shape
    b, offsets = np.zeros((n, k)), np.zeros(k)
    slope = -targets.astype(np.float64)  # K b - y
    diagonal, left = np.diagonal(kernel), np.arange(k)
    for _ in range(1000 * n):
        own, g = b[:, left], slope[:, left]
        up = np.where(own < cost, np.where(own >= 0, g + tube, g - tube), np.inf)  # what raising b_i costs
        down = np.where(own > -cost, np.where(own > 0, g + tube, g - tube), -np.inf)  # what lowering it gains
        i, j, at = up.argmin(0), down.argmax(0), np.arange(len(left))
        gain = down[j, at] - up[i, at]
        offsets[left] = -(down[j, at] + up[i, at]) / 2
        going = gain > precision
        left, i, j, gain, at = left[going], i[going], j[going], gain[going], at[going]
        if not len(left):
            return b, offsets
        low, high = own[i, at], own[j, at]
        room = np.minimum(np.where(low < 0, -low, cost - low), np.where(high > 0, high, high + cost))
        bend = np.maximum(diagonal[i] + diagonal[j] - 2 * kernel[i, j], 1e-12)
        step = np.minimum(gain / bend, room)
        b[i, left] += step
        b[j, left] -= step
        slope[:, left] += step * (kernel[:, i] - kernel[:, j])
    raise TrainingError(
        f"support vector regression did not settle (cost {cost:g}, tube {tube:g}); a smaller cost or a wider tube will"
    )
