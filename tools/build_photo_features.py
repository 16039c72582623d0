"""Mean and deviation of efficientnet-lite0's features over photos -> src/kinhash/models/resources/photo-features.npy.

The photos are 2,000 of Flickr8k, none of which `experiments/photo_codes.py` judges by. The file holds 2 x 1280 numbers and
nothing of any photo: `python tools/build_photo_features.py /data/flickr8k [CACHE]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "experiments"))
from dedup_features import features, halves

OUT = ROOT / "src/kinhash/models/resources/photo-features.npy"


def main() -> None:
    half = halves(Path(sys.argv[1]))["validation"]
    cache = Path(sys.argv[2]) / "validation" / "originals.npy" if len(sys.argv) > 2 else None
    found = features(half.sources, cache).astype(np.float64)
    OUT.parent.mkdir(exist_ok=True)
    np.save(OUT, np.stack([found.mean(0), found.std(0)]).astype(np.float32))
    print(f"{OUT}: from {len(found)} photos")


if __name__ == "__main__":
    main()
