"""Likeness by shared words, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from kinhash.meaning.words import bag_of_words, tf_idf, word_overlap, words

LEFT = ["The dog runs", "a a b", "same words", "naïve café", "nothing shared", "!?"]
RIGHT = ["the DOG sleeps, the dog", "b a", "words same", "café", "different here", "dog"]


def test_words() -> None:
    assert words("The dog's 2 naïve-ish Cats!") == ["the", "dog", "s", "2", "naïve", "ish", "cats"]


def test_overlap_by_hand() -> None:
    assert word_overlap(LEFT, RIGHT) == pytest.approx([2 / 4, 1, 1, 1 / 2, 0, 0])
    assert word_overlap(["?"], ["!"]) == [0.0]  # no word at all


@pytest.mark.parametrize(("ours", "theirs"), [(bag_of_words, CountVectorizer), (tf_idf, TfidfVectorizer)])
def test_cosines_are_scikit_learns(ours: object, theirs: type) -> None:
    rows = theirs(token_pattern=r"\w+").fit_transform([*LEFT, *RIGHT]).toarray().astype(float)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    expected = (rows[: len(LEFT)] * rows[len(LEFT) :]).sum(1)
    assert ours(LEFT, RIGHT) == pytest.approx(expected, abs=1e-12)  # type: ignore[operator]
