"""The losses as loops over float64 numbers, written from the formulas."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def l1(a: Array, b: Array) -> float:
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


def sim(z: Array, Y: Array, gamma: float, rho: float) -> float:
    """The sum form of the paper."""
    n = len(z)
    tau_z = sum(l1(z[b], z[c]) for b in range(n) for c in range(n))
    tau_y = sum(Y[b, c] for b in range(n) for c in range(n))
    total = 0.0
    for b in range(n):
        for c in range(n):
            w = gamma**rho / (gamma + Y[b, c]) ** rho
            total += abs(l1(z[b], z[c]) / tau_z - Y[b, c] / tau_y) * w
    return total


def mixed_distance(D: Array, left: dict[int, float], right: dict[int, float]) -> float:
    return sum(p * q * D[c, e] for c, p in left.items() for e, q in right.items())


def kl(z: Array, t: Array, *, k: int, norm: int, floor: float, banned: list[set[int]]) -> float:
    terms = []
    for b in range(len(z)):

        def distance(other: Array, row: Array = z[b]) -> float:
            return l1(row, other) if norm == 1 else math.dist(row, other)

        to_t = sorted(distance(x) for x in t)
        to_z = sorted(distance(z[c]) for c in range(len(z)) if c not in banned[b])
        if len(to_z) >= k:
            terms.append(math.log(to_t[k - 1] + floor) - math.log(to_z[k - 1] + floor))
    return sum(terms) / max(1, len(terms))


def cross_entropy(logits: Array, shares: Array) -> float:
    total = 0.0
    for row, q in zip(logits, shares, strict=True):
        top = max(row)
        log_sum = top + math.log(sum(math.exp(x - top) for x in row))
        total -= sum(q[c] * (row[c] - log_sum) for c in range(len(row)))
    return total / len(logits)
