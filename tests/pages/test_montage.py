"""Rows of tiles: where pictures land, what frames mean."""

from __future__ import annotations

import numpy as np
import pytest

from kinhash.errors import InputError
from kinhash.pages.montage import Tile, colour_of, montage


def tile(value: int, similarity: float | None = None) -> Tile:
    return Tile(np.full((32, 32, 3), value, np.uint8), "a very long class name indeed", "3 bits", similarity)


def test_every_picture_is_on_the_sheet_inside_its_frame() -> None:
    sheet = np.asarray(montage([[tile(10), tile(200, 1.0)], [tile(60), tile(90, 0.0)]]))
    for value in (10, 200, 60, 90):
        assert (sheet == value).all(axis=2).sum() >= 96 * 96
    for similarity in (1.0, 0.0):
        assert (sheet == colour_of(similarity)).all(axis=2).sum() >= 4 * 4 * 96


def test_colours_run_from_far_to_near_and_are_never_clipped_wrong() -> None:
    assert colour_of(0.0)[0] > colour_of(1.0)[0]
    assert colour_of(0.0)[1] < colour_of(1.0)[1]
    assert colour_of(2.0) == colour_of(1.0)


@pytest.mark.parametrize("rows", [[], [[]]])
def test_nothing_to_show_is_an_error(rows: list[list[Tile]]) -> None:
    with pytest.raises(InputError, match="at least one"):
        montage(rows)
