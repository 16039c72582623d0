"""Altered copies are found and strangers are not; candidates equal a comparison of everything with everything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from duplicates.scenes import scene
from PIL import Image, ImageOps

from kinhash.duplicates.alike import likeness
from kinhash.duplicates.pairs import candidates, picture_pairs
from kinhash.duplicates.perceptual import SIDE, looks, oriented_codes
from kinhash.errors import InputError

COPIES = {
    "half": lambda image: image.resize((image.width // 2, image.height // 2)),
    "grey": lambda image: image.convert("L").convert("RGB"),
    "lighter": lambda image: image.point(lambda v: min(255, int(v * 1.2))),
    "cropped": lambda image: image.crop((8, 6, image.width - 10, image.height - 7)),
    "framed": lambda image: ImageOps.expand(image, 8, "white"),
    "turned": lambda image: image.rotate(90, expand=True),
    "mirrored": ImageOps.mirror,
}


def squares_of(images: list[Image.Image]) -> np.ndarray:
    return looks(images, [str(i) for i in range(len(images))])[1]


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_is_found_among_strangers(kind: str) -> None:
    images = [scene(i) for i in range(25)]
    found = picture_pairs(squares_of([*images, COPIES[kind](images[7])]))
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(7, 25)]
    assert found.likeness[0] >= 0.84


def test_candidates_are_all_pairs_within_the_radius_in_any_part_and_orientation(
    rng: np.random.Generator,
) -> None:
    squares = squares_of([scene(i) for i in range(40)])
    parts = ((1.0, 1), (0.8, 2))
    queries = oriented_codes(squares, parts)
    bits = queries[0].to_bits()
    far = np.min([(codes.to_bits()[:, None] != bits).sum(axis=2) for codes in queries], axis=0)
    far = np.minimum(far, far.T)
    for radius in (0, 16, 20):
        left, right, distances = candidates(squares, radius, parts)
        expected = [(i, j, far[i, j]) for i in range(40) for j in range(i + 1, 40) if far[i, j] <= radius]
        assert list(zip(left.tolist(), right.tolist(), distances.tolist(), strict=True)) == expected
    assert expected, "the radius is wide enough for strangers"


def test_likeness_is_a_correlation_of_the_best_part() -> None:
    squares = squares_of(
        [scene(0), scene(0).resize((50, 40)), scene(0).transpose(Image.Transpose.ROTATE_270), scene(1)]
    )
    found = likeness(squares, np.array([0, 0, 0, 2]), np.array([1, 2, 3, 1]))
    assert found[[0, 1, 3]].min() > 0.99
    assert found[2] < 0.84
    assert np.allclose(found, likeness(squares, np.array([1, 2, 3, 1]), np.array([0, 0, 0, 2])), atol=1e-5)


def test_flat_pictures_are_like_nothing() -> None:
    flat = np.full((3, SIDE, SIDE), 128, np.uint8)
    assert likeness(flat, np.array([0]), np.array([1])).tolist() == [0.0]
    assert len(picture_pairs(flat)) == 0


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_pictures_for_a_pair(n: int) -> None:
    assert len(picture_pairs(squares_of([scene(0)])[:n])) == 0


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"radius": 32}, "from 0 to 31"), ({"radius": 1.5}, "whole"), ({"least": 2}, "-1 to 1")],
)
def test_limits_that_mean_nothing(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        picture_pairs(squares_of([scene(0)]), **changes)


def test_progress_counts_the_searches() -> None:
    told: list[tuple[int, int]] = []
    picture_pairs(squares_of([scene(0), scene(1)]), progress=lambda *step: told.append(step))
    assert told == [(i, 280) for i in range(1, 281)]
