"""Altered copies are what they are called, and scores of pairs count what they should."""

from __future__ import annotations

import numpy as np
import pytest
from dedup import Found
from dedup_copies import KINDS, copies
from duplicates.scenes import scene

SIZES = {
    "half the size": (100, 75),
    "white frame": (218, 168),
    "cropped to 90 %": (180, 135),
    "cropped to 80 %": (160, 120),
    "tilted by 5 degrees": (176, 132),
    "turned by 90 degrees": (150, 200),
}


@pytest.mark.parametrize("kind", KINDS)
def test_copies_depend_on_nothing_but_seed_kind_and_place(kind: str) -> None:
    sources = [scene(0), scene(1)]
    one, two = copies(sources, kind, 0)  # type: ignore[arg-type]
    assert one.shape[1::-1] == SIZES.get(kind, (200, 150))
    again = list(copies(sources, kind, 0))  # type: ignore[arg-type]
    assert (again[0] == one).all()
    assert (again[1] == two).all()
    same = one.shape == (150, 200, 3) and (one == np.asarray(sources[0])).all()
    assert not same


def test_scores_and_the_choice() -> None:
    found = Found(
        distances=np.array([0, 2, 4, 5, 3]),
        likeness=np.array([0.9, 0.8, 0.95, 0.9, 0.5]),
        kinds=np.array([0, 1, 1, -1, -1]),
        photos=np.array([1, 2, 3, 7, 7]),
        copied=2,
        seconds=0.0,
    )
    scores = found.scores(5, -1.0)
    assert (scores["false_pairs"], scores["photos_confused"], scores["precision"]) == (2, 1, 3 / 5)
    assert list(scores["recall_by_kind"].values())[:3] == [0.5, 1.0, 0.0]
    assert scores["recall"] == pytest.approx(1.5 / len(KINDS))
    assert found.chosen(range(6), (-1.0,)) == (4, -1.0)
    assert found.chosen(range(6), (-1.0, 0.7, 0.8)) == (4, 0.8)
