"""Shared fixtures: random codes, and the real data where a copy can be found."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

_PLACES = [Path(os.environ["KINHASH_DATA"])] if "KINHASH_DATA" in os.environ else []
_PLACES.append(Path(__file__).parents[2] / "shared" / "data")


def find_data(name: str) -> Path:
    """The folder or file `name` of the real data; skips the test, saying why, where there is none."""
    for place in _PLACES:
        if (place / name).exists():
            return place / name
    pytest.skip(f"{name} not found in ../shared/data or $KINHASH_DATA")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
