"""Every metric once on small input, printed as json. Imported by a test, and run by it in a process without a compiler."""

from __future__ import annotations

import json
import sys

import numpy as np

from kinhash.codes import Codes
from kinhash.metrics.bit_statistics import bit_statistics, mean_nn_hamming
from kinhash.metrics.correlation import kendall_tau
from kinhash.metrics.item_targets import score_item_targets
from kinhash.metrics.neighbours import neighbour_recall
from kinhash.metrics.ranking import score_ranking


def everything() -> dict[str, float]:
    rng = np.random.default_rng(5)
    found: dict[str, float] = {}
    S = np.array([[1, 0.5, 0.1], [0.5, 1, 0.3], [0.1, 0.3, 1]])
    for bits in (10, 70):
        z, labels, targets = rng.normal(size=(12, bits)), rng.integers(0, 3, 12), rng.normal(size=(12, 2))
        codes = Codes.from_logits(z)
        for ties in ("expected", "stable"):
            for metric in ("hamming", "l1", "l2", "dot"):
                items = codes if metric == "hamming" else np.round(z)
                options = {"metric": "l1" if metric == "hamming" else metric, "ties": ties, "threads": 1}
                scores = score_ranking(
                    items, labels, similarities=S, k=4, hits=(1, 2), full=ties == "stable", **options
                )
                found |= {f"{bits} {ties} {metric} {key}": value for key, value in scores.metrics.items()}
            scores = score_item_targets(codes, targets, k=4, ties=ties, threads=1)
            found |= {f"{bits} {ties} target {key}": value for key, value in scores.metrics.items()}
        found[f"{bits} neighbours"] = float(neighbour_recall(z, codes, k=3, threads=1).mean())
        found |= {
            f"{bits} {k}": float(v) for k, v in bit_statistics(codes).as_dict().items() if v is not None
        }
        found[f"{bits} nearest"] = mean_nn_hamming(codes, 6)
    found["tau"] = kendall_tau(rng.integers(0, 5, 40), rng.normal(size=40))
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(everything()))
