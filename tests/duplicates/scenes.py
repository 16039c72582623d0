"""Pictures with some structure: smooth random fields, unlike each other."""

from __future__ import annotations

import numpy as np
from PIL import Image


def scene(seed: int, width: int = 200, height: int = 150) -> Image.Image:
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (9, 12, 3), dtype=np.uint8))
    return coarse.resize((width, height), Image.Resampling.BICUBIC)
