"""Random hyperplanes: the expected distance, repeatable, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinhash import random_hyperplanes
from kinhash.errors import InputError


def test_bits_differ_with_chance_angle_over_pi(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(2, 6))
    codes = random_hyperplanes(np.stack([a, b]), 200_000)
    angle = np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    share = np.mean(codes[0].to_bits() != codes[1].to_bits())
    assert share == pytest.approx(angle / np.pi, abs=0.005)


def test_the_seed_decides(rng: np.random.Generator) -> None:
    z = rng.normal(size=(5, 6)).astype(np.float32)
    assert random_hyperplanes(z, 70) == random_hyperplanes(z, 70, seed=0)
    assert random_hyperplanes(z, 70) != random_hyperplanes(z, 70, seed=1)
    assert len(random_hyperplanes(z[:0], 70)) == 0


def test_vectors_near_the_largest_float_do_not_overflow(rng: np.random.Generator) -> None:
    z = rng.normal(size=(6, 4000))
    scale = 2.0 ** np.array([[1020], [0], [-1000], [1015], [900], [1]])
    assert random_hyperplanes(z * scale, 70) == random_hyperplanes(z, 70)


@pytest.mark.parametrize("seed", [-1, "a", 1.5, None, True])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(InputError, match="seed is a whole number from 0 on, got"):
        random_hyperplanes([[1.0, 2.0]], 8, seed)


@pytest.mark.parametrize(
    ("vectors", "bits", "says"),
    [
        ([1.0, 2.0], 8, "shape"),
        (np.zeros((2, 0)), 8, "shape"),
        ([["a"]], 8, "real"),
        ([[1.0], [np.inf]], 8, "row 1"),
        ([[1.0]], 0, "positive"),
        ([[1.0]], 2.5, "positive"),
    ],
)
def test_bad_input(vectors: Any, bits: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        random_hyperplanes(vectors, bits)
