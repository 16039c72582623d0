"""Shared by the tests of the index on disk: a dict model, its brute-force answers, and small limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kinhash import Codes
from kinhash.index import writer

Model = dict[Any, tuple[int, dict[str, Any]]]  # id -> (code as a number, metadata)


def codes_of(numbers: list[int], bits: int) -> Codes:
    """Codes from numbers: bit j of the number is bit j of the code."""
    rows = [[number >> j & 1 for j in range(bits)] for number in numbers]
    return Codes.from_bits(np.array(rows, dtype=bool).reshape(len(numbers), bits))


def expected(
    model: Model, query: int, passes: Callable[[dict[str, Any]], bool] = lambda item: True
) -> list[tuple[int, Any]]:
    """(distance, id) of every item that passes, sorted."""
    found = [((query ^ code).bit_count(), name) for name, (code, item) in model.items() if passes(item)]
    return sorted(found)


def small_limits(patch: pytest.MonkeyPatch, large: int = 6, entries: int = 5, fan: int = 3) -> None:
    """Fold, write segments and merge after a handful of items instead of many thousands."""
    patch.setattr(writer, "LARGE", large)
    patch.setattr(writer, "MOST_ENTRIES", entries)
    patch.setattr(writer, "_FAN", fan)
