"""The methods' terms as loops over float64 numbers, written from the formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def dot(a: Array, b: Array) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def euclid(a: Array, b: Array) -> float:
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def log_softmax(row: Sequence[float], place: int) -> float:
    top = max(row)
    return row[place] - top - math.log(sum(math.exp(x - top) for x in row))


def softmax(row: Sequence[float]) -> list[float]:
    return [math.exp(log_softmax(row, i)) for i in range(len(row))]


def unit(a: Array) -> Array:
    return a / math.sqrt(dot(a, a))


def shares_of(labels: Array, other: Array | None, weight: Array | None, b: int) -> dict[int, float]:
    """Class -> share of sample b."""
    found = {int(labels[b]): 1.0}
    if other is not None and weight is not None:
        found = {int(labels[b]): float(weight[b])}
        found[int(other[b])] = found.get(int(other[b]), 0.0) + 1 - float(weight[b])
    return found


def soft_bin(distance: float, place: int) -> float:
    return max(0.0, 1 - abs(distance - place))


def average_precision(distances: Array, relevant: Array, query: int, bits: int) -> float | None:
    """The tie-aware closed form, bin by bin."""
    others = [i for i in range(len(distances)) if i != query]
    positives = sum(relevant[query, i] for i in others)
    if not positives:
        return None
    total = before = before_hits = 0.0
    for place in range(bits + 1):
        inside = [soft_bin(distances[query, i], place) for i in others]
        c = sum(inside)
        hits = sum(share * relevant[query, i] for share, i in zip(inside, others, strict=True))
        now, now_hits = before + c, before_hits + hits
        total += hits * (before_hits + now_hits + 1) / (before + now + 1)
        before, before_hits = now, now_hits
    return total / positives


def discount_sum(n: float) -> float:
    whole = math.floor(n)
    return sum(1 / math.log2(i + 1) for i in range(1, whole + 1)) + (n - whole) / math.log2(whole + 2)


def ndcg(distances: Array, gains: Array, query: int, bits: int) -> float | None:
    others = [i for i in range(len(distances)) if i != query]
    best = sorted((gains[query, i] for i in others), reverse=True)
    ideal = sum(gain / math.log2(place + 2) for place, gain in enumerate(best))
    if not ideal:
        return None
    total = before = 0.0
    for place in range(bits + 1):
        inside = [soft_bin(distances[query, i], place) for i in others]
        c = sum(inside)
        if c > 0:
            G = sum(share * gains[query, i] for share, i in zip(inside, others, strict=True))
            total += G / c * (discount_sum(before + c) - discount_sum(before))
        before += c
    return total / ideal


def mean_of(values: Sequence[float | None]) -> float:
    some = [value for value in values if value is not None]
    return sum(some) / len(some)
