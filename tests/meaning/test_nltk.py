"""Wu-Palmer against NLTK itself, to the bit, on the same WordNet files."""

from __future__ import annotations

import random

import numpy as np
import pytest
from meaning.oracle import nltk_reader

from kinhash.meaning.hierarchy import wu_palmer
from kinhash.meaning.tables import class_table
from kinhash.meaning.wordnet import load_wordnet

WORDNET = load_wordnet()


def matrix_of(keys: list[str], variant: str = "nltk") -> np.ndarray:
    return wu_palmer(WORDNET.graph, WORDNET.positions(keys), variant)


@pytest.fixture(scope="module")
def cifar() -> tuple[list[str], np.ndarray]:
    """The 100 synsets, and NLTK's similarity of all pairs in both directions."""
    reader = nltk_reader()
    keys = list(class_table("cifar100").synsets.values())
    synsets = [reader.synset(key) for key in keys]
    return keys, np.array([[a.wup_similarity(b) for b in synsets] for a in synsets])


def test_all_pairs_of_cifar100_in_both_directions(cifar: tuple[list[str], np.ndarray]) -> None:
    keys, expected = cifar
    assert np.array_equal(matrix_of(keys), expected)
    assert (expected != expected.T).any(), "the quirk is there to be reproduced"


def test_the_default_is_the_mean_of_both_directions(cifar: tuple[list[str], np.ndarray]) -> None:
    keys, expected = cifar
    mean = (expected + expected.T) / 2
    np.fill_diagonal(mean, 1.0)
    assert np.array_equal(matrix_of(keys, "symmetric"), mean)


def test_random_pairs_of_nouns_in_both_directions() -> None:
    reader = nltk_reader()
    draw = random.Random(0)
    places = [(draw.randrange(len(WORDNET)), draw.randrange(len(WORDNET))) for _ in range(2000)]
    for start in range(0, len(places), 500):
        some = np.array(places[start : start + 500])
        values = wu_palmer(WORDNET.graph, some.ravel(), "nltk")
        for i, (a, b) in enumerate(some.tolist()):
            left, right = (reader.synset_from_pos_and_offset("n", int(WORDNET.offsets[p])) for p in (a, b))
            assert values[2 * i, 2 * i + 1] == left.wup_similarity(right), (left, right)
            assert values[2 * i + 1, 2 * i] == right.wup_similarity(left), (left, right)


def test_pairs_with_several_parents_where_the_quirks_live() -> None:
    reader = nltk_reader()
    several = np.flatnonzero(np.diff(WORDNET.graph.parent_bounds) > 1)
    nodes = np.random.default_rng(1).choice(several, 50, replace=False)
    values = wu_palmer(WORDNET.graph, nodes, "nltk")
    synsets = [reader.synset_from_pos_and_offset("n", int(WORDNET.offsets[p])) for p in nodes]
    assert np.array_equal(values, [[a.wup_similarity(b) for b in synsets] for a in synsets])


def test_nouns_that_are_unlike_themselves() -> None:
    own = np.concatenate(
        [
            np.diagonal(wu_palmer(WORDNET.graph, np.arange(start, min(start + 500, len(WORDNET))), "nltk"))
            for start in range(0, len(WORDNET), 500)
        ]
    )
    unlike = np.flatnonzero(own < 1)
    assert len(unlike) == 1843
    reader = nltk_reader()
    for place in unlike[::10]:
        synset = reader.synset_from_pos_and_offset("n", int(WORDNET.offsets[place]))
        assert synset.wup_similarity(synset) == own[place]


def test_names_senses_and_depths_agree() -> None:
    reader = nltk_reader()
    for place in range(0, len(WORDNET), 97):
        ours = WORDNET.synset(place)
        theirs = reader.synset_from_pos_and_offset("n", int(WORDNET.offsets[place]))
        assert ours.name == theirs.name()
        assert WORDNET.graph.min_depth[place] == theirs.min_depth()
        assert WORDNET.graph.max_depth[place] == theirs.max_depth()
        word = ours.lemmas[-1]
        # NLTK also tries the singular of what it is asked for; the word's own senses come first
        named = [s.name() for s in reader.synsets(word, "n")]
        own = [s.name for s in WORDNET.senses(word)]
        assert named[: len(own)] == own


def test_known_values() -> None:
    cat_dog = matrix_of(["cat.n.01", "dog.n.01"])
    assert round(cat_dog[0, 1], 4) == 0.8571
    girl_woman = matrix_of(["girl.n.01", "woman.n.01"])
    assert round(girl_woman[0, 1], 3) == 0.632
    assert round(girl_woman[1, 0], 3) == 0.947
