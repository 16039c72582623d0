"""Searches find what brute force finds, in pictures that are not the queries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinhash as kh
from kinhash.data.splits import Split
from kinhash.demo.searches import ASKED, SHOWN, picture_of, search_examples, sentences
from kinhash.errors import InputError
from kinhash.pages.montage import colour_of

CLASSES = (*ASKED, "rose")


def split_of(classes: tuple[str, ...], rng: np.random.Generator, n: int = 40) -> Split:
    images = rng.integers(0, 256, (n, 32, 32, 3), dtype=np.uint8)
    return Split(images=images, labels=np.arange(n) % len(classes), classes=classes)


def test_the_hits_are_the_nearest_others(tmp_path: Path, rng: np.random.Generator) -> None:
    split = split_of(CLASSES, rng)
    codes = kh.Codes.from_logits(rng.normal(size=(len(split), 16)))
    found = search_examples(tmp_path / "index", split, codes)
    assert [split.classes[split.targets()[one.row]] for one in found] == list(ASKED)
    queries = {one.row for one in found}
    bits = codes.to_bits()
    for one in found:
        others = [row for row in range(len(split)) if row not in queries]
        exact = sorted((int((bits[one.row] != bits[row]).sum()), split.ids[row]) for row in others)
        assert [(far, split.ids[row]) for row, far in one.hits] == exact[:SHOWN]
    with kh.Index.open(tmp_path / "index") as index:
        assert len(index) == len(split) - len(ASKED)
        assert index.count('class = "rose"') == 10


def test_the_picture_frames_hits_by_meaning(tmp_path: Path, rng: np.random.Generator) -> None:
    split = split_of(CLASSES, rng)
    found = search_examples(tmp_path / "index", split, kh.Codes.from_logits(rng.normal(size=(40, 16))))
    sheet = np.asarray(picture_of(found, split, kh.semantics("labels", CLASSES)))
    assert len(sentences(found, split)) == len(ASKED)
    labels = split.targets()
    same = sum(labels[row] == labels[one.row] for one in found for row, _ in one.hits)
    area = 104 * 104 - 96 * 96
    assert (sheet == colour_of(1.0)).all(axis=2).sum() == pytest.approx(same * area, rel=0.01)


def test_a_class_that_is_not_there_is_named(tmp_path: Path, rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="'leopard'"):
        search_examples(
            tmp_path / "index", split_of(("rose", "bed"), rng), kh.Codes.from_logits(rng.normal(size=(40, 8)))
        )
