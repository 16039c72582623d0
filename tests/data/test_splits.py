"""Splits and data sets: rows stay together, halves stay balanced, and what does not fit is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kinhash.data.images import BrokenPictureWarning
from kinhash.data.splits import Dataset, Split
from kinhash.errors import InputError

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (12, 4, 4, 3), dtype=np.uint8)
LABELS = np.arange(12) % 3
CLASSES = ("a", "b", "c")


def full() -> Split:
    return Split(
        images=IMAGES,
        labels=LABELS,
        classes=CLASSES,
        ids=[f"i{i}" for i in range(12)],
        captions=[[f"caption {i}"] for i in range(12)],
    )


def test_rows_stay_together() -> None:
    some = full().take([7, 0])
    assert some.ids == ["i7", "i0"]
    assert some.captions == [["caption 7"], ["caption 0"]]
    assert some.labels is not None
    assert some.labels.tolist() == [1, 0]
    np.testing.assert_array_equal(some.images, IMAGES[[7, 0]])  # type: ignore[arg-type]
    assert full().take(np.arange(12) < 3).ids == ["i0", "i1", "i2"]
    assert len(full().take([])) == 0
    with pytest.raises(InputError, match="12 rows"):
        full().take([12])


def test_division_keeps_every_class_and_follows_the_seed() -> None:
    first, second = full().divide(0.25, seed=1)
    assert (len(first), len(second)) == (9, 3)
    assert second.labels is not None
    assert sorted(second.labels) == [0, 1, 2]
    assert sorted(first.ids + second.ids) == sorted(full().ids)
    assert full().divide(0.25, seed=1)[1].ids == second.ids
    bare = Split(vectors=np.ones((10, 2), np.float32))
    assert [len(part) for part in bare.divide(0.3)] == [7, 3]
    for share in (0, 1, -0.5):
        with pytest.raises(InputError, match="between 0 and 1"):
            full().divide(share)


def test_both_parts_as_one() -> None:
    rows = full()
    data = Dataset("x", rows.take(range(8)), rows.take(range(8, 12)), CLASSES)
    whole = data.whole()
    assert whole.ids == rows.ids
    assert whole.captions == rows.captions
    np.testing.assert_array_equal(whole.labels, LABELS)  # type: ignore[arg-type]
    np.testing.assert_array_equal(whole.images, IMAGES)  # type: ignore[arg-type]
    files = Dataset("x", Split(images=[b"1"]), Split(images=[b"2"]), ())
    assert files.whole().images == [b"1", b"2"]
    assert files.whole().ids == ["train/0", "test/0"]
    other = Split(images=np.zeros((1, 5, 5, 3), np.uint8), labels=[0], classes=CLASSES, ids=["z"])
    assert isinstance(Dataset("x", rows, other, CLASSES).whole().images, list)


def test_files_of_one_size_are_held_in_memory(tmp_path: Path) -> None:
    paths: list[Any] = [tmp_path / f"{i}.png" for i in range(4)]
    for path, image in zip(paths[:3], IMAGES, strict=False):
        Image.fromarray(image).save(path)
    with pytest.warns(BrokenPictureWarning, match="1 picture was left out because it cannot be read: 3"):
        held = Split(images=paths, labels=[0, 1, 2, 0], classes=CLASSES).in_memory()
    assert [broken.id for broken in held.broken] == ["3"]
    assert held.labels is not None
    assert held.labels.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(held.images, IMAGES[:3])  # type: ignore[arg-type]
    assert "1 broken left out" in repr(held)
    Image.new("RGB", (9, 9)).save(paths[3])
    assert isinstance(Split(images=paths).in_memory().images, list)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "images or vectors"),
        ({"images": IMAGES.astype(float)}, "uint8"),
        ({"images": IMAGES, "labels": LABELS[:3], "classes": CLASSES}, "12 rows, but 3 labels"),
        ({"images": IMAGES, "labels": LABELS, "classes": CLASSES[:2]}, "row 2 has label 2"),
        ({"images": IMAGES, "labels": LABELS.astype(float), "classes": CLASSES}, "whole numbers"),
        ({"images": IMAGES, "labels": LABELS, "classes": ("a", "a", "b")}, "'a' repeats"),
        ({"images": IMAGES, "ids": ["x"] * 12}, "'x' occurs 12 times"),
        ({"vectors": np.array([[1.0, np.nan]])}, "NaN or infinity in 1 rows, first in row 0"),
        ({"vectors": np.ones(3)}, r"\(n, d\) array"),
    ],
)
def test_what_does_not_fit_is_said(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Split(**parts)


def test_targets_need_two_classes() -> None:
    np.testing.assert_array_equal(full().targets(), LABELS)
    with pytest.raises(InputError, match=r"no labels\. Sort the pictures into one folder per class"):
        Split(images=IMAGES).targets()
    with pytest.raises(InputError, match=r"all 4 rows are of one class \('b'\)"):
        full().take(LABELS == 1).targets()
    with pytest.raises(InputError, match="empty"):
        full().take([]).targets()
    with pytest.raises(InputError, match="must list the dataset's 3 classes"):
        Dataset("x", full(), Split(images=IMAGES), CLASSES)
