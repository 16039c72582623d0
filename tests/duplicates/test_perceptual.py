"""Perceptual hashes against a cosine transform written out, and all orientations against turned pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from duplicates.scenes import scene

from kinhash.duplicates.perceptual import (
    BITS,
    ORIENTATIONS,
    SIDE,
    looks,
    oriented_codes,
    perceptual_codes,
)


@pytest.fixture
def squares() -> np.ndarray:
    found = looks([scene(i) for i in range(5)], list("abcde"))[1]
    assert found.shape == (5, SIDE, SIDE)
    return found


def test_bits_are_signs_of_waves(squares: np.ndarray) -> None:
    bits = perceptual_codes(squares).to_bits()
    small = squares.reshape(5, 32, 2, 32, 2).mean(axis=(2, 4))
    x = (np.arange(32) + 0.5) / 32
    expected = {}
    for u in range(11):
        for v in range(11):
            wave = np.cos(np.pi * u * x)[:, None] * np.cos(np.pi * v * x)
            expected[u, v] = (small * wave).sum(axis=(1, 2)) >= 0
    waves = sorted(expected, key=lambda w: (sum(w), -max(w), w))[1 : BITS + 1]
    assert {(v, u) for u, v in waves} == set(waves)
    for j, wave in enumerate(waves):
        assert (bits[:, j] == expected[wave]).all(), wave


def test_the_eight_orientations_are_those_of_turned_pictures(squares: np.ndarray) -> None:
    oriented = [codes.hex() for codes in oriented_codes(squares)]
    assert len(oriented) == ORIENTATIONS
    turned = []
    for turn in range(4):
        for mirrored in (False, True):
            other = np.rot90(squares, turn, (1, 2))
            turned.append(
                perceptual_codes(np.ascontiguousarray(other[:, :, ::-1] if mirrored else other)).hex()
            )
    assert sorted(map(tuple, oriented)) == sorted(map(tuple, turned))
    assert oriented[0] == turned[0]


def test_parts_are_the_hashes_of_crops(squares: np.ndarray) -> None:
    codes = oriented_codes(squares, ((1.0, 1), (0.75, 2)))
    assert len(codes) == ORIENTATIONS * 5
    assert codes[0].hex() == perceptual_codes(squares).hex()
    corner = np.repeat(np.repeat(squares[:, 16:, :48], 4, axis=1), 4, axis=2)  # bottom left
    crop = corner.reshape(5, SIDE, 3, SIDE, 3).mean(axis=(2, 4))
    exact = perceptual_codes(np.round(crop).astype(np.uint8)).to_bits()
    part = codes[ORIENTATIONS * 3].to_bits()
    assert (exact != part).sum(axis=1).max() <= 3  # rounding turns a few signs of weak waves


def test_nothing_and_broken_pictures(tmp_path: Path) -> None:
    assert [len(codes) for codes in oriented_codes(np.empty((0, SIDE, SIDE), np.uint8))] == [0] * ORIENTATIONS
    (tmp_path / "a.jpg").write_text("no picture")
    told: list[int] = []
    positions, squares, broken = looks([tmp_path / "a.jpg", scene(0)], ["a", "b"], told.append)
    assert (positions.tolist(), len(squares), told) == ([1], 1, [1, 1])
    assert [one.id for one in broken] == ["a"]
    assert looks([], [])[1].shape == (0, SIDE, SIDE)
