"""How well outputs of photos and sentences find each other, as floats and as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from caption_data import Captioned, Floats

import kinhash as kh
from kinhash.metrics.matching import own_recall
from kinhash.metrics.neighbours import neighbour_recall

KS = (1, 5, 10)


def retrieval(photos: Floats, sentences: Floats, data: Captioned, *, codes: bool) -> dict[str, float]:
    """recall@1, 5, 10 of text -> image, image -> text and image -> image.

    Image -> image: the photo whose captions mean most nearly the same (mean vectors, Manhattan) is wanted.
    """
    sides = (photos, sentences)
    shown = [kh.Codes.from_logits(side) if codes else _unit(side) for side in sides]
    of = data.sentences.rows()
    own = np.arange(len(data.ids))
    found = {
        "text to image": own_recall(shown[1], shown[0], of, own, ks=KS),
        "image to text": own_recall(shown[0], shown[1], own, of, ks=KS),
        "image to image": _nearest_found(shown[0], data.sentences.means()),
    }
    return {f"{way} R@{k}": round(float(values[k].mean()), 4) for way, values in found.items() for k in KS}


def hashing(z: Floats, data: Captioned) -> tuple[dict[str, Any], dict[str, Any]]:
    """Protocol and metrics of one kind of photos against the meaning of their captions: the paper's Table 4."""
    means, found, protocol = data.sentences.means(), {}, {}
    for kind, shown in (("float", z), ("bin", kh.Codes.from_logits(z))):
        report = kh.evaluate(shown, means, semantics={"sentences": "manhattan"}, k=min(250, len(z) - 1))
        protocol = report.protocol
        for key, value in report.metrics.items():
            own = key.startswith(("mahp", "kendall"))
            found[f"{key}_{kind}" if own else key] = None if np.isnan(value) else round(float(value), 4)
    codes = kh.Codes.from_logits(z)
    for depth in (10, 100):
        share = neighbour_recall(means, codes, k=10, depth=depth, metric="l1").mean()
        found[f"caption_neighbours_10_at_{depth}"] = round(float(share), 4)
    return protocol, found


def _nearest_found(shown: Any, means: Floats) -> dict[int, Any]:
    """recall@k of the nearest photo by captions; nobody finds himself, so the own place is struck out."""
    n = len(means)
    nearest = np.abs(means[:, None] - means[None]).sum(2) if n <= 200 else _manhattan(means)
    np.fill_diagonal(nearest, np.inf)
    wanted = nearest.argmin(1)
    found: dict[int, list[float]] = {k: [] for k in KS}
    for i in range(n):
        others = np.delete(np.arange(n), i)
        one = own_recall(shown[i : i + 1], shown[others], [wanted[i]], others, ks=KS)
        for k in KS:
            found[k].append(float(one[k][0]))
    return {k: np.array(values) for k, values in found.items()}


def _manhattan(rows: Floats) -> Floats:
    return np.stack([np.abs(rows - row).sum(1) for row in rows])


def _unit(rows: Floats) -> Floats:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
