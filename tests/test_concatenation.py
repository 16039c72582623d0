"""Codes side by side: distances add up, weighted by repetition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinhash as kh
from kinhash.errors import InputError


def random_codes(rng: np.random.Generator, n: int, bits: int) -> kh.Codes:
    return kh.Codes.from_bits(rng.random((n, bits)) < 0.5)


def hamming(codes: kh.Codes) -> np.ndarray:
    bits = codes.to_bits()
    return (bits[:, None] != bits[None]).sum(2)


@pytest.mark.parametrize("weights", [None, [1, 1], [2, 1], [1, 3], np.array([2, 2])])
def test_distances_add_up(rng: np.random.Generator, weights: Any) -> None:
    a, b = random_codes(rng, 9, 60), random_codes(rng, 9, 33)
    both = kh.concat([a, b], weights)
    first, second = (1, 1) if weights is None else weights
    assert both.bits == first * 60 + second * 33
    assert np.array_equal(hamming(both), first * hamming(a) + second * hamming(b))


def test_one_part_alone_and_none_at_all(rng: np.random.Generator) -> None:
    a = random_codes(rng, 4, 10)
    assert kh.concat([a]) == a
    assert len(kh.concat([a[:0], a[:0]])) == 0


def test_what_cannot_be_joined(rng: np.random.Generator) -> None:
    a = random_codes(rng, 4, 10)
    cases: list[tuple[Any, Any, str]] = [
        ([], None, "takes a list of Codes"),
        (a, None, "takes a list of Codes"),
        ([a, a[:2]], None, "part 0 has 4 codes and part 1 has 2"),
        ([a, "x"], None, "part 1 is str"),
        ([a, a], [1], "2 parts need as many weights"),
        ([a, a], "12", "2 parts need as many weights"),
        ([a, a], [1, 0], "1 to 16 times, got 0"),
        ([a, a], [1, 1.5], "got 1.5"),
        ([a, a], [True, 1], "got True"),
        ([a, a], [1, 17], "got 17"),
    ]
    for parts, weights, message in cases:
        with pytest.raises(InputError, match=message):
            kh.concat(parts, weights)
