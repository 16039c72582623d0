"""Targets taken apart and put together again; the shares of mixed samples."""

from __future__ import annotations

import pytest
import torch

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets

LABELS, OTHER, WEIGHT = torch.tensor([0, 2]), torch.tensor([1, 2]), torch.tensor([0.25, 0.5])
VECTORS = torch.ones(2, 3)


def test_every_part_that_is_there_is_mapped_in_order() -> None:
    plain = Targets(LABELS).map(lambda part: part + 1)
    assert (plain.labels.tolist(), plain.other, plain.weight, plain.vectors) == ([1, 3], None, None, None)
    all_of_it = Targets(LABELS, OTHER, WEIGHT, VECTORS)
    doubled = all_of_it.map(lambda part: torch.cat([part, part]))
    assert len(doubled) == 4
    for part, before in zip(doubled.parts(), (LABELS, OTHER, WEIGHT, VECTORS), strict=True):
        assert torch.equal(part[:2], before)
        assert torch.equal(part[2:], before)
    assert [part is VECTORS for part in Targets(LABELS, vectors=VECTORS).parts()] == [False, True]


def test_shares_of_classes() -> None:
    assert Targets(LABELS).soft(3).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert Targets(LABELS, OTHER, WEIGHT).soft(3).tolist() == [[0.25, 0.75, 0], [0, 0, 1]]


def test_half_a_mixture_is_refused() -> None:
    with pytest.raises(InputError, match="both `other` and `weight`"):
        Targets(LABELS, OTHER)
