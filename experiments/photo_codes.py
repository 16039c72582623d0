"""How good are codes of photos that nobody trained for?

`python experiments/photo_codes.py --flickr8k FOLDER [--cifar100 ROOT]`. All rivals start from the same features of
efficientnet-lite0. Judged by 3,000 photos of Flickr8k: how alike the captions of the ten nearest are (cosine of tf-idf over
all five captions of a photo, as a share of the ten most alike), and how often an altered copy finds its original first among
them; and by 3,000 test pictures of CIFAR-100 (WordNet, mAHP@250). What is learned from photos is learned from 2,000 others
of Flickr8k.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from dedup_features import all_features, features, halves
from measure import write_result

import kinhash as kh
from kinhash.models.efficientnet_lite import class_weights
from kinhash.models.pretrained import projection
from kinhash.quantisation import turned_to_signs

Floats = NDArray[np.float64]
Coder = Callable[[Floats], Floats]
NEAREST = 10


def coders(learned_from: Floats, own: Floats, bits: int) -> dict[str, Coder]:
    """Every rival as a function from features to numbers whose signs are bits."""
    mean = learned_from.mean(0)
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(learned_from.shape[1], bits))
    classifier = projection(class_weights(), bits)
    elsewhere, here = itq(learned_from, bits), itq(own, bits)
    return {
        "hyperplanes": lambda x: x @ normals,
        "hyperplanes, centred": lambda x: (x - mean) @ normals,
        "classifier's components, rotated (the default)": lambda x: (x - mean) @ classifier,
        "PCA and ITQ of other photos": lambda x: (x - mean) @ elsewhere,
        "PCA and ITQ of the folder itself": lambda x: (x - own.mean(0)) @ here,
    }


def itq(rows: Floats, bits: int, rounds: int = 30) -> Floats:
    """Principal components and the rotation that brings them nearest to their signs (Gong & Lazebnik, CVPR 2011)."""
    centred = rows - rows.mean(0)
    components = np.linalg.svd(centred, full_matrices=False)[2][:bits].T
    projected = centred @ components
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(bits, bits)))[0]
    product: Floats = components @ turned_to_signs(projected, rotation, rounds)
    return product


def caption_likeness(table: Path, names: list[str]) -> Floats:
    """(n, n) cosine of tf-idf (1 + log count, times log inverse share) of all captions of each photo; -1 with itself."""
    texts: dict[str, list[str]] = {Path(name).stem: [] for name in names}
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["image_id"] in texts:
                texts[row["image_id"]] += re.findall(r"[a-z]{3,}", row["caption"].lower())
    counts = [Counter(texts[Path(name).stem]) for name in names]
    seen = Counter(word for count in counts for word in count)
    words = {
        word: i for i, word in enumerate(word for word, times in seen.items() if 1 < times < len(names) / 10)
    }
    matrix = np.zeros((len(names), len(words)), dtype=np.float32)
    for row, count in enumerate(counts):
        for word in count.keys() & words.keys():
            matrix[row, words[word]] = (1 + np.log(count[word])) * np.log(len(names) / seen[word])
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
    likeness: Floats = (matrix @ matrix.T).astype(np.float64)
    np.fill_diagonal(likeness, -1)
    return likeness


def nearest(queries: Floats, items: Floats, k: int, skip_own: bool) -> NDArray[np.int64]:
    """Positions by Hamming distance between signs, ties in the order of the items."""
    found = kh.Codes.from_logits(items)
    with_own = int(skip_own)
    positions = np.stack(
        [
            np.argsort(_distances(query, found), kind="stable")[: k + with_own]
            for query in kh.Codes.from_logits(queries).words
        ]
    )
    if not skip_own:
        return positions
    own = np.arange(len(queries))[:, None]
    return np.stack([row[row != i][:k] for i, row in zip(own[:, 0], positions, strict=True)])


def _distances(query: NDArray[np.uint64], codes: kh.Codes) -> NDArray[np.int64]:
    distances: NDArray[np.int64] = np.bitwise_count(codes.words ^ query).sum(1, dtype=np.int64)
    return distances


def scores(coder: Coder, photos: Mapping[str, Floats], likeness: Floats) -> dict[str, float]:
    own = coder(photos["originals"])
    best = np.sort(likeness, axis=1)[:, -NEAREST:].mean()
    hits = nearest(own, own, NEAREST, skip_own=True)
    copies = [
        float((nearest(coder(altered), own, 1, skip_own=False)[:, 0] == np.arange(len(altered))).mean())
        for kind, altered in photos.items()
        if kind != "originals"
    ]
    return {
        "caption_likeness_at_10": float(np.take_along_axis(likeness, hits, 1).mean() / best),
        "copy_finds_original": float(np.mean(copies)),
    }


def cifar_features(root: Path, cache: Path) -> tuple[Floats, NDArray[np.int64]]:
    test = kh.dataset("cifar100", root).test.take(np.arange(3000))
    sources: list[Any] = list(test.images)  # type: ignore[arg-type]
    assert test.labels is not None
    return features(sources, cache / "cifar100.npy").astype(np.float64), test.labels


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flickr8k", type=Path, required=True, help="folder of the tars and captions.csv")
    parser.add_argument("--cifar100", type=Path, help="root of CIFAR-100")
    parser.add_argument("--cache", type=Path, default=ROOT / "runs" / "dedup", help="folder for features")
    parser.add_argument("--bits", type=int, nargs="+", default=[64, 128, 256])
    arguments = parser.parse_args()
    found = halves(arguments.flickr8k)
    learned_from = features(found["validation"].sources, arguments.cache / "validation" / "originals.npy")
    photos = {
        kind: rows.astype(np.float64)
        for kind, rows in all_features(found["test"], arguments.cache / "test").items()
    }
    likeness = caption_likeness(arguments.flickr8k / "captions.csv", found["test"].names)
    pictures = None if arguments.cifar100 is None else cifar_features(arguments.cifar100, arguments.cache)
    rows = []
    for bits in arguments.bits:
        for name, coder in coders(learned_from.astype(np.float64), photos["originals"], bits).items():
            row: dict[str, Any] = {"codes": name, "bits": bits, **scores(coder, photos, likeness)}
            if pictures is not None:
                codes = kh.Codes.from_logits(coder(pictures[0]))
                kin = {"wup": kh.semantics("wordnet", "cifar100")}
                report = kh.evaluate(codes, pictures[1], semantics=kin, k=250)
                row |= {"cifar100_mahp_wup": report["mahp_wup"], "cifar100_map": report["map_full"]}
            rows.append(row)
            print(row, flush=True)
    protocol = {
        "photos": len(found["test"].names),
        "learned_from": len(found["validation"].names),
        "copies": sorted(set(photos) - {"originals"}),
        "cifar100": "first 3,000 test pictures, each against the others",
        "captions": "tf-idf cosine of the ten nearest, as a share of that of the ten most alike",
    }
    print(write_result("photos", "codes", packages=("torch",), protocol=protocol, rows=rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
