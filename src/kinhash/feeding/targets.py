"""`Targets`: what a batch of samples is supposed to mean, mixed samples included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from kinhash.errors import InputError


@dataclass(frozen=True)
class Targets:
    """The targets of B samples.

    A sample that CutMix or MixUp made of two is `weight` parts of class `labels` and `1 - weight` parts of
    class `other`; an unmixed batch has neither `other` nor `weight`. `vectors` are target embeddings, `captions`
    those of one caption of each sample; both are already mixed where the samples are.
    """

    labels: Tensor  # (B,) int64
    other: Tensor | None = None  # (B,) int64
    weight: Tensor | None = None  # (B,) in [0, 1], the share of `labels`
    vectors: Tensor | None = None  # (B, D)
    captions: Tensor | None = None  # (B, D)

    def __post_init__(self) -> None:
        if (self.other is None) != (self.weight is None):
            raise InputError("mixed targets need both `other` and `weight`; got only one of the two")

    def __len__(self) -> int:
        return len(self.labels)

    def soft(self, classes: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """(B, classes) shares of the classes in each sample; every row sums to 1."""
        rows = torch.nn.functional.one_hot(self.labels, classes).to(dtype)
        if self.other is None or self.weight is None:
            return rows
        share = self.weight.to(dtype).unsqueeze(1)
        return share * rows + (1 - share) * torch.nn.functional.one_hot(self.other, classes).to(dtype)

    def parts(self) -> list[Tensor]:
        """What is there, in the order of the fields."""
        found = (self.labels, self.other, self.weight, self.vectors, self.captions)
        return [part for part in found if part is not None]

    def map(self, function: Callable[[Tensor], Tensor]) -> Targets:
        """The targets with `function` applied to every part that is there."""

        def of(part: Tensor | None) -> Tensor | None:
            return None if part is None else function(part)

        others = (self.other, self.weight, self.vectors, self.captions)
        return Targets(function(self.labels), *(of(part) for part in others))

    def with_sentences(self) -> Targets:
        """2 B targets: those of the samples, then those of their captions, which mean what they say."""
        both = self.map(lambda part: torch.cat([part, part]))
        if self.vectors is None or self.captions is None:
            return both
        return replace(both, vectors=torch.cat([self.vectors, self.captions]))
