"""`concat`: codes of several encoders side by side, as one longer code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinhash.arrays import is_whole
from kinhash.codes import Codes
from kinhash.errors import InputError

_MOST = 16  # a weight is that many copies of a code in every item of an index


def concat(parts: Sequence[Codes], weights: Sequence[int] | None = None) -> Codes:
    """Codes of the same items by several encoders as one: its Hamming distance is `sum_p weight_p * distance_p`.

    `weights` are small whole numbers (default: 1 each); a code counts so often by being repeated, so the index, the
    engines and the file format need to know nothing of it. Length: `sum_p weight_p * bits_p`.
    """
    if isinstance(parts, Codes) or not isinstance(parts, Sequence) or not parts:
        raise InputError(
            "concat takes a list of Codes, one per encoder; rows of one encoder are stacked by Codes.concat"
        )
    for place, part in enumerate(parts):
        if not isinstance(part, Codes):
            raise InputError(f"part {place} is {type(part).__name__}, not Codes; see Codes.from_logits")
        if len(part) != len(parts[0]):
            raise InputError(
                f"part 0 has {len(parts[0])} codes and part {place} has {len(part)}: every item needs a code in each"
            )
    repeats = checked_weights(weights, len(parts))
    bits = [part.to_bits() for part, repeat in zip(parts, repeats, strict=True) for _ in range(repeat)]
    return Codes.from_bits(np.concatenate(bits, axis=1))


def checked_weights(weights: Sequence[int] | None, parts: int) -> list[int]:
    """One whole number from 1 to 16 for every part."""
    if weights is None:
        return [1] * parts
    if isinstance(weights, str) or not isinstance(weights, Sequence | np.ndarray) or len(weights) != parts:
        raise InputError(f"{parts} parts need as many weights, got {weights!r}")
    for weight in weights:
        if not is_whole(weight) or not 1 <= weight <= _MOST:
            raise InputError(
                f"a weight says how often a code is repeated, 1 to {_MOST} times, got {weight!r}"
            )
    return [int(weight) for weight in weights]
