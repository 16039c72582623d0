"""Captions as vectors: means, draws and subsets agree with loops; the loader hands out one of each row's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from fake_text import Words

from kinhash.data.augment import Augmentation
from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.feeding.loader import DeviceLoader
from kinhash.feeding.sentences import Sentences
from kinhash.feeding.targets import Targets

CAPTIONS = [["a dog"], ["a cat", "two cats", "cats"], ["a bird", "a dog"], ["nothing"]]


@pytest.fixture
def sentences() -> Sentences:
    return Sentences.of(CAPTIONS, Words())


def test_means_and_rows(sentences: Sentences) -> None:
    vectors = [Words().encode(texts) for texts in CAPTIONS]
    np.testing.assert_allclose(sentences.means(), [part.mean(0) for part in vectors], rtol=1e-5)
    np.testing.assert_array_equal(sentences.vectors, np.concatenate(vectors))
    assert sentences.rows().tolist() == [0, 1, 1, 1, 2, 2, 3]
    assert (len(sentences), sentences.encoder) == (4, "words")


def test_a_subset_may_repeat_rows(sentences: Sentences) -> None:
    part = sentences.take([2, 1, 2])
    assert part.rows().tolist() == [0, 0, 1, 1, 1, 2, 2]
    np.testing.assert_array_equal(part.means(), sentences.means()[[2, 1, 2]])
    assert len(sentences.take([])) == 0


def test_draws_are_of_the_own_row_and_reach_all(sentences: Sentences) -> None:
    rng = np.random.default_rng(0)
    drawn = np.array([sentences.draw(rng) for _ in range(60)])
    assert (sentences.rows()[drawn] == np.arange(4)).all()
    assert set(drawn.ravel()) == set(range(7))


def test_what_has_no_captions() -> None:
    with pytest.raises(InputError, match="the split has no captions"):
        Sentences.of(None, Words())
    with pytest.raises(InputError, match="row 1 has no caption"):
        Sentences.of([["x"], []], Words())


def split_of(n: int) -> Split:
    return Split(vectors=np.arange(2 * n, dtype=np.float32).reshape(n, 2))


def test_the_loader_hands_out_one_caption_of_each_row(sentences: Sentences) -> None:
    loader = DeviceLoader(split_of(4), 2, sentences=sentences, seed=3)
    seen = set()
    for epoch in range(20):
        for _, targets in loader.epoch(epoch):
            assert targets.captions is not None
            for row, vector in zip(targets.labels.tolist(), targets.captions.numpy(), strict=True):
                own = np.flatnonzero((sentences.vectors == vector).all(1) & (sentences.rows() == row))
                assert len(own)
                seen |= set(own.tolist())
    assert seen == set(range(7))
    (_, first), (_, again) = (next(loader.epoch(5)) for _ in range(2))
    assert torch.equal(first.captions, again.captions)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="5 rows, but sentences of 4"):
        DeviceLoader(split_of(5), 2, sentences=sentences)


def test_mixed_samples_have_mixed_captions(sentences: Sentences) -> None:
    mixing = Augmentation(crop=0, flip=False, cutout=0, cutmix=0.0, mixup=1.0)
    _, plain = next(DeviceLoader(split_of(4), 4, sentences=sentences, seed=1).epoch(0))
    _, mixed = next(DeviceLoader(split_of(4), 4, sentences=sentences, seed=1, augment=mixing).epoch(0))
    assert mixed.captions is not None
    assert mixed.weight is not None
    assert plain.captions is not None
    share = mixed.weight[:, None]
    rows = {int(row): i for i, row in enumerate(plain.labels)}
    assert len(rows) == 4
    assert mixed.captions.shape == plain.captions.shape
    assert bool(((share == 1) | (mixed.captions != plain.captions)).any())


def test_sentences_are_samples_of_their_own() -> None:
    targets = Targets(
        torch.tensor([3, 4]), vectors=torch.tensor([[1.0], [2.0]]), captions=torch.tensor([[5.0], [6.0]])
    )
    both = targets.with_sentences()
    assert both.labels.tolist() == [3, 4, 3, 4]
    assert both.vectors is not None
    assert both.vectors.ravel().tolist() == [1, 2, 5, 6]
    assert Targets(torch.tensor([3, 4])).with_sentences().vectors is None
