"""What a report of a run counts besides the metrics: mistakes by likeness, distances by kind of pair, cost of searching."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.multi_index import candidates_per_query

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SAME, NEAREST, OTHERS = "same class", "nearest classes", "other classes"
_QUERIES, _SEARCHES = 1000, 300  # drawn where there are more
_KEYS = (8, 10, 12, 14, 16, 18, 20)


@dataclass(frozen=True)
class Confused:
    """Pictures of class `true` that were taken for `predicted`; `share` is of all pictures of `true`."""

    true: str
    predicted: str
    times: int
    share: float
    similarity: float | None


def most_confused(
    labels: Ints, predictions: Ints, classes: tuple[str, ...], similarity: Floats | None, count: int = 15
) -> list[Confused]:
    """The pairs of classes with the most mistakes; among equals in the order of the classes."""
    wrong = Counter((int(a), int(b)) for a, b in zip(labels, predictions, strict=True) if a != b)
    present = np.bincount(labels, minlength=len(classes))
    first = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))[:count]
    return [
        Confused(
            classes[a],
            classes[b],
            n,
            n / int(present[a]),
            None if similarity is None else float(similarity[a, b]),
        )
        for (a, b), n in first
    ]


def mistakes_by_likeness(
    labels: Ints, predictions: Ints, similarity: Floats
) -> tuple[Floats, Floats, Floats]:
    """Similarities of true and predicted class of every mistake, and what guessing any other class would give.

    The second comes as values with weights: for each mistake all other classes, equally likely.
    """
    wrong = labels != predictions
    times = np.bincount(labels[wrong], minlength=len(similarity)).astype(np.float64)
    others = ~np.eye(len(similarity), dtype=bool)
    weights = np.broadcast_to((times / max(1, len(similarity) - 1))[:, None], others.shape)[others]
    return similarity[labels[wrong], predictions[wrong]], similarity[others], weights


def nearest_classes(similarity: Floats) -> NDArray[np.bool_]:
    """(C, C): the classes most like each class, itself left out. In a tree, by LCS height, those of the same parent."""
    others = similarity.astype(np.float64, copy=True)
    np.fill_diagonal(others, -np.inf)
    found: NDArray[np.bool_] = others >= others.max(axis=1, keepdims=True) - 1e-9
    np.fill_diagonal(found, False)
    return found


def distance_counts(codes: Codes, labels: Ints, similarity: Floats | None, seed: int = 0) -> dict[str, Ints]:
    """How many pairs lie at each Hamming distance, by kind of pair; of many queries some are drawn."""
    queries = np.random.default_rng(seed).permutation(len(codes))[:_QUERIES]
    near = None if similarity is None else nearest_classes(similarity)
    kinds = (SAME, OTHERS) if near is None else (SAME, NEAREST, OTHERS)
    counts = {kind: np.zeros(codes.bits + 1, np.int64) for kind in kinds}
    for query in queries:
        far = np.bitwise_count(codes.words ^ codes.words[query]).sum(axis=1)
        same = labels == labels[query]
        close = np.zeros_like(same) if near is None else near[labels[query]][labels]
        masks = {SAME: same & (np.arange(len(codes)) != query), NEAREST: close, OTHERS: ~same & ~close}
        for kind in kinds:
            counts[kind] += np.bincount(far[masks[kind]], minlength=codes.bits + 1)
    return counts


@dataclass(frozen=True)
class SearchCost:
    """Multi-index hashing with keys of `key_bits` bits: means per query of an exact search for the 10 nearest."""

    tables: int
    key_bits: float
    candidates: float  # entries of buckets that are read
    compared: float  # different codes among them


def search_costs(codes: Codes, k: int = 10, seed: int = 0) -> list[SearchCost]:
    """For keys of several lengths; a scan compares all codes."""
    queries = codes[np.random.default_rng(seed).permutation(len(codes))[:_SEARCHES]]
    fewest = -(-codes.bits // 26)
    tables = sorted(
        {max(fewest, round(codes.bits / key)) for key in _KEYS if key <= codes.bits}, reverse=True
    )
    found = []
    for number in tables:
        costs = candidates_per_query(codes, queries, min(k, len(codes)), tables=number)
        mean = float(costs.candidates.mean()), float(costs.compared.mean())
        found.append(SearchCost(number, codes.bits / number, *mean))
    return found
