"""The metrics written down from their definitions: one query, one order, plain loops; and the mean over all orders."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np


def orders_of(distances: Sequence[float]) -> Iterator[list[int]]:
    """Every order that sorts the distances: all permutations inside groups of ties."""
    levels = sorted(set(distances))
    groups = [[i for i, d in enumerate(distances) if d == level] for level in levels]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [i for group in choice for i in group]


def mean_over_orders(distances: Sequence[float], score: Callable[[list[int]], float]) -> float:
    """The tie-aware value, by brute force."""
    return float(np.mean([score(order) for order in orders_of(distances)]))


def hierarchical_precisions(order: Sequence[int], similarity: Sequence[float], k: int) -> list[float]:
    """HP@1..k = collected similarity / the best that any order collects."""
    best = sorted(similarity, reverse=True)
    return [sum(similarity[i] for i in order[:r]) / sum(best[:r]) for r in range(1, k + 1)]


def ahp(order: Sequence[int], similarity: Sequence[float], k: int, formula: str = "corrected") -> float:
    """Corrected: trapezoids of width 1/k. Legacy: their right end is s_k / S*_k."""
    hp = hierarchical_precisions(order, similarity, k)
    if formula == "corrected":
        return sum(hp[i] + hp[i + 1] for i in range(k - 1)) / (2 * k)
    best = sum(sorted(similarity, reverse=True)[:k])
    return sum(hp) / k - (hp[0] + similarity[order[k - 1]] / best) / (2 * k)


def precisions_at_hits(order: Sequence[int], relevant: Sequence[bool], depth: int) -> list[float]:
    found, values = 0, []
    for rank, i in enumerate(order[:depth], 1):
        if relevant[i]:
            found += 1
            values.append(found / rank)
    return values


def ap_full(order: Sequence[int], relevant: Sequence[bool]) -> float:
    return sum(precisions_at_hits(order, relevant, len(order))) / sum(relevant)


def ap_at_k_found(order: Sequence[int], relevant: Sequence[bool], k: int) -> float:
    values = precisions_at_hits(order, relevant, k)
    return sum(values) / len(values) if values else 0.0


def ap_at_k_relevant(order: Sequence[int], relevant: Sequence[bool], k: int) -> float:
    return sum(precisions_at_hits(order, relevant, k)) / min(k, sum(relevant))


def found_at(order: Sequence[int], relevant: Sequence[bool], k: int) -> int:
    return sum(relevant[i] for i in order[:k])


def precision_within(distances: Sequence[float], relevant: Sequence[bool], radius: float) -> float:
    inside = [r for d, r in zip(distances, relevant, strict=True) if d <= radius]
    return sum(inside) / len(inside) if inside else 0.0


def kendall_tau_b(x: Sequence[float], y: Sequence[float]) -> float:
    """(concordant - discordant) / sqrt(pairs untied in x * pairs untied in y), pair by pair; NaN where one is constant."""
    total, untied_x, untied_y = 0, 0, 0
    for i, j in itertools.combinations(range(len(x)), 2):
        a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
        total += int(a * b)
        untied_x += a != 0
        untied_y += b != 0
    return float(total / np.sqrt(untied_x * untied_y)) if untied_x and untied_y else float("nan")
