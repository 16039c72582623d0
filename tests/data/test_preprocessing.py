"""Squares of pictures: the middle of them, or all of them."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import FormatError


def stripes() -> np.ndarray:
    """48 x 16: a red, a green and a blue square side by side."""
    return np.kron(np.eye(3, dtype=np.uint8)[None] * 255, np.ones((16, 16, 1), np.uint8))


def test_the_middle_or_the_whole() -> None:
    middle, whole = Preprocessing(12), Preprocessing(12, whole=True)
    assert middle.picture(stripes())[6, :, 1].min() > 200
    squeezed = whole.picture(stripes())
    assert squeezed.shape == (12, 12, 3)
    assert [int(squeezed[6, x].argmax()) for x in (1, 6, 10)] == [0, 1, 2]
    np.testing.assert_array_equal(whole.pictures(stripes()[None])[0], squeezed)
    wide = Image.fromarray(stripes())
    np.testing.assert_array_equal(whole.fitted(wide), squeezed)


def test_what_fits_already_is_handed_on() -> None:
    images = np.zeros((2, 12, 12, 3), np.uint8)
    assert Preprocessing(12, zoom=2.0, whole=True).pictures(images) is images


def test_cards() -> None:
    for preprocessing in (Preprocessing(12, zoom=1.5), Preprocessing(12, whole=True)):
        assert Preprocessing.from_card(preprocessing.card()) == preprocessing
    older = Preprocessing(12).card()
    older.pop("whole")
    assert Preprocessing.from_card(older) == Preprocessing(12)
    with pytest.raises(FormatError, match="preprocessing of this model is damaged"):
        Preprocessing.from_card({})
