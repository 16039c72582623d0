"""Finds the real data where a copy of it lies: in $KINHASH_DATA, or in `shared/data` beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_PLACES = [Path(os.environ["KINHASH_DATA"])] if "KINHASH_DATA" in os.environ else []
_PLACES.append(Path(__file__).parents[2] / "shared" / "data")


def find_data(name: str) -> Path:
    """The folder or file `name` of the real data; skips the test, saying why, where there is none."""
    for place in _PLACES:
        if (place / name).exists():
            return place / name
    pytest.skip(f"{name} not found in ../shared/data or $KINHASH_DATA")
