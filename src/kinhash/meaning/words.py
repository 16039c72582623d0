"""How alike two sentences are by the words they share: what an encoder has to beat."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_WORD = re.compile(r"\w+")


def word_overlap(left: Sequence[str], right: Sequence[str]) -> Floats:
    """Of each pair, the words that both have over the words that one of them has (Jaccard)."""
    pairs = [(set(words(a)), set(words(b))) for a, b in zip(left, right, strict=True)]
    return np.array([len(a & b) / len(a | b) if a | b else 0.0 for a, b in pairs])


def bag_of_words(left: Sequence[str], right: Sequence[str]) -> Floats:
    """Of each pair, the cosine of the counts of words."""
    return _cosines([Counter(words(text)) for text in left], [Counter(words(text)) for text in right])


def tf_idf(left: Sequence[str], right: Sequence[str]) -> Floats:
    """The cosine of counts, each times log((n + 1) / (df + 1)) + 1, of n texts of which df have the word.

    The texts are those given; nothing else is known of how frequent words are.
    """
    counts = [Counter(words(text)) for text in (*left, *right)]
    having = Counter(word for count in counts for word in count)
    weight = {word: math.log((len(counts) + 1) / (df + 1)) + 1 for word, df in having.items()}
    weighted = [{word: n * weight[word] for word, n in count.items()} for count in counts]
    return _cosines(weighted[: len(left)], weighted[len(left) :])


def words(text: str) -> list[str]:
    """Runs of letters and digits, in lower case."""
    return _WORD.findall(text.lower())


def _cosines(left: Sequence[Mapping[str, float]], right: Sequence[Mapping[str, float]]) -> Floats:
    return np.array([_cosine(a, b) for a, b in zip(left, right, strict=True)])


def _cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """0 where one of the two has no word."""
    product = sum(value * b.get(word, 0.0) for word, value in a.items())
    return product / (math.hypot(*a.values()) * math.hypot(*b.values())) if product else 0.0
