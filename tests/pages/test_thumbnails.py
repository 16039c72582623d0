"""Small copies: their size, their bytes, and what cannot be read."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kinhash.errors import InputError
from kinhash.pages.thumbnails import LEAST, SIDE, thumbnail, thumbnails


def noise(rng: np.random.Generator, height: int = 300, width: int = 400) -> np.ndarray:
    return rng.integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_the_longer_side_fits_and_the_shape_stays(rng: np.random.Generator) -> None:
    small = thumbnail(noise(rng))
    assert (small.width, small.height) == (SIDE, SIDE * 3 // 4)
    assert small.data is not None
    assert Image.open(io.BytesIO(small.data)).size == (small.width, small.height)
    tiny = thumbnail(np.zeros((5, 8, 3), np.uint8))
    assert (tiny.width, tiny.height) == (8, 5)


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("no picture")
    for path in (tmp_path / "a.jpg", tmp_path / "absent.jpg"):
        small = thumbnail(path)
        assert small.data is None
        assert str(path) in small.reason
    with pytest.raises(InputError, match="from 1 on"):
        thumbnail(tmp_path / "a.jpg", 0)


def test_all_together_keep_a_limit(rng: np.random.Generator) -> None:
    sources = {i: noise(rng) for i in range(6)}
    free = thumbnails(sources)
    assert free.side == SIDE
    assert "so small" not in free.note()
    tight = thumbnails(sources, megabytes=free.bytes / 2e6)
    assert LEAST <= tight.side < SIDE
    assert tight.bytes <= free.bytes / 2
    assert f"at most {tight.side} pixels, so small that all fit into" in tight.note()
    assert thumbnails(sources, uses=dict.fromkeys(sources, 3)).bytes == 3 * free.bytes
    with pytest.raises(InputError, match="show fewer"):
        thumbnails(sources, megabytes=0.001)
    with pytest.raises(InputError, match="is positive"):
        thumbnails(sources, megabytes=0)
