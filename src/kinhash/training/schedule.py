"""The learning rate of every step, as a pure function, so that a resumed run needs no state for it."""

from __future__ import annotations

import math
from typing import Literal

Schedule = Literal["constant", "one-cycle", "cosine", "steps"]


def learning_rate(
    kind: Schedule, step: int, total: int, peak: float, *, warm: float = 0.2, decay_every: float = 1.0
) -> float:
    """The rate of `step` (0-based) out of `total`.

    one-cycle: a line from peak / 25 up to `peak` during the share `warm` of the steps, then half a cosine down to
    zero (Smith & Topin 2017). cosine: the falling half alone. steps: times 0.1 after every share `decay_every`.
    """
    share = step / max(1, total)
    if kind == "constant":
        return peak
    if kind == "steps":
        return peak * 0.1 ** math.floor(share / decay_every + 1e-9)
    if kind == "cosine":
        return peak * (1 + math.cos(math.pi * share)) / 2
    if share < warm:
        return peak * (1 / 25 + (1 - 1 / 25) * share / warm)
    return peak * (1 + math.cos(math.pi * (share - warm) / (1 - warm))) / 2
