"""Frozen arrays: copied where somebody can write, free where nobody can."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kinhash.frozen import frozen, handed_over


def read_only_view(array: NDArray[np.int64]) -> NDArray[np.int64]:
    view = array.view()
    view.flags.writeable = False
    return view


def test_what_somebody_can_write_to_is_copied() -> None:
    own = np.arange(6)
    for given in (own, own[1:], read_only_view(own), read_only_view(own)[::2]):
        kept, before = frozen(given), given.copy()
        own += 1
        assert np.array_equal(kept, before)
    assert own.flags.writeable
    buffer = bytearray(16)
    kept = frozen(read_only_view(np.frombuffer(buffer, np.int64)))
    buffer[0] = 1
    assert kept.tolist() == [0, 0]


def test_what_nobody_can_write_to_is_kept(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(6))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    given = handed_over(np.arange(6).reshape(2, 3))
    for free in (mapped, mapped[1:], np.frombuffer(bytes(16), np.int64), given, frozen(np.arange(6))[2:]):
        assert np.shares_memory(frozen(free), free)


def test_what_is_frozen_cannot_be_thawed() -> None:
    for kept in (frozen(np.arange(6)), frozen(handed_over(np.arange(6))), frozen(frozen(np.arange(6)))):
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            kept.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 1


def test_what_is_handed_over_freezes_its_bases() -> None:
    base = np.zeros((2, 3))
    handed_over(base[:1])
    assert not base.flags.writeable
