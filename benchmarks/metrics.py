"""Metrics: whole evaluations and rank correlation, against NumPy, scikit-learn and scipy in the same process.

`python benchmarks/metrics.py --check` (under a minute): mAHP@250 under two similarities + mAP of 10,000 x 10,000 64-bit
codes, tie-aware, in time and memory, and against a NumPy evaluator that sorts; Kendall's tau-b of a million pairs against
scipy. Without --check also 50,000 x 50,000 codes, float vectors and captions, written to results/metrics/speed.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import Check, interleaved, verdict, write_result

import kinhash as kh
from kinhash.metrics.correlation import kendall_tau
from kinhash.metrics.item_targets import score_item_targets
from kinhash.metrics.ranking import score_ranking

K = 250
QUERIES = 500  # of 10,000 that the sorting rivals rank
PROTOCOL = {"database": "queries", "exclude_query": True, "ties": "expected", "k": K, "formula": "corrected"}
Floats = NDArray[np.float64]


def problem(n: int, bits: int = 64) -> tuple[kh.Codes, NDArray[np.int64], dict[str, Floats]]:
    """Codes around 100 centres that overlap, labels, and the two similarities of CIFAR-100."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 100, n)
    codes = kh.Codes.from_logits(rng.normal(size=(100, bits))[labels] + 0.8 * rng.normal(size=(n, bits)))
    similarities = {
        "wup": kh.semantics("wordnet", classes="cifar100").similarity,
        "lcs": kh.semantics("tree:cifar100").similarity,
    }
    return codes, labels, similarities


def warm_up(kind: str) -> None:
    """Compile, or load what was compiled."""
    codes, labels, similarities = problem(600)
    things = codes if kind == "codes" else codes.to_signs()
    score_ranking(things, labels, similarities=similarities, k=K)


def one(kind: str, n: int) -> dict[str, float]:
    """A whole evaluation in this process: seconds after compilation, and the peak of its memory."""
    warm_up(kind)
    codes, labels, similarities = problem(n)
    things = codes if kind == "codes" else codes.to_signs()
    start = time.perf_counter()
    scores = score_ranking(things, labels, similarities=similarities, k=K)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": seconds, "peak_gib": peak, **scores.metrics}


def in_fresh_process(kind: str, n: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", kind, str(n)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def by_sorting(
    queries: Floats,
    items: Floats,
    own: NDArray[np.int64],
    labels: NDArray[np.int64],
    tables: dict[str, Floats],
) -> dict[str, Floats]:
    """The same metrics as NumPy writes them: distances by a matrix product, a stable sort, running sums.

    Query q is item q; ties stay in the order of the database.
    """
    found: dict[str, list[Floats]] = {key: [] for key in ("map_full", *(f"mahp_{name}" for name in tables))}
    for start in range(0, len(queries), 250):
        block = slice(start, start + 250)
        rows = np.arange(start, min(start + 250, len(queries)))
        hamming = ((items.shape[1] - queries[block] @ items.T) / 2).astype(np.uint8)
        hamming[np.arange(len(rows)), rows] = 255  # itself: last, and cut off
        order = np.argsort(hamming, axis=1, kind="stable")[:, :-1]
        relevant = labels[order] == own[block, None]
        precision = np.cumsum(relevant, axis=1) / np.arange(1, order.shape[1] + 1)
        found["map_full"].append((precision * relevant).sum(axis=1) / relevant.sum(axis=1))
        for name, table in tables.items():
            every = table[own[block]][:, labels]
            every[np.arange(len(rows)), rows] = -1
            best = np.cumsum(-np.sort(-every, axis=1)[:, :K], axis=1)
            got = np.cumsum(np.take_along_axis(every, order[:, :K], axis=1), axis=1)
            hp = got / best
            found[f"mahp_{name}"].append((hp.sum(axis=1) - (hp[:, 0] + hp[:, -1]) / 2) / K)
    return {key: np.concatenate(parts) for key, parts in found.items()}


def by_scikit_learn(
    queries: Floats, items: Floats, own: NDArray[np.int64], labels: NDArray[np.int64]
) -> Floats:
    """mAP alone, query by query; scikit-learn treats a group of ties as one threshold."""
    from sklearn.metrics import average_precision_score

    scores = queries @ items.T
    values = []
    for q in range(len(queries)):
        others = np.arange(len(items)) != q
        values.append(average_precision_score(labels[others] == own[q], scores[q, others]))
    return np.array(values)


def against_sorting(repeats: int) -> dict[str, float]:
    """Seconds per query of 10,000 items, ours and the rivals'; the values must agree where ties keep their order."""
    codes, labels, similarities = problem(10_000)
    signs = codes.to_signs()
    some = slice(0, QUERIES)
    stable = score_ranking(codes, labels, similarities=similarities, k=K, ties="stable").per_query
    for key, values in by_sorting(signs[some], signs, labels[some], labels, similarities).items():
        np.testing.assert_allclose(stable[key][some], values, atol=1e-9, err_msg=key)
    seconds = interleaved(
        {
            "kinhash": lambda: score_ranking(codes, labels, similarities=similarities, k=K),
            "numpy": lambda: by_sorting(signs[some], signs, labels[some], labels, similarities),
            "scikit-learn": lambda: by_scikit_learn(signs[:100], signs, labels[:100], labels),
        },
        repeats=repeats,
    )
    counts = {"kinhash": 10_000, "numpy": QUERIES, "scikit-learn": 100}
    return {name: value / counts[name] for name, value in seconds.items()}


def against_scipy(repeats: int, levels: int | None) -> dict[str, float]:
    """Seconds of tau-b of a million pairs; `levels`: how many values x takes (None: all differ)."""
    from scipy.stats import kendalltau

    rng = np.random.default_rng(0)
    x = rng.normal(size=1_000_000)
    y = x + rng.normal(size=1_000_000)
    if levels is not None:
        x = np.round((x - x.min()) / (x.max() - x.min()) * (levels - 1))
    assert abs(kendall_tau(x, y) - kendalltau(x, y).statistic) < 1e-12
    return interleaved(
        {"kinhash": lambda: kendall_tau(x, y), "scipy": lambda: kendalltau(x, y)}, repeats=repeats, warm=0
    )


def captions(n: int) -> dict[str, float]:
    """mAHP and tau against targets of 384 dimensions, n x n, 64-bit codes."""
    rng = np.random.default_rng(0)
    targets = rng.normal(size=(n, 384))
    codes = kh.random_hyperplanes(targets, 64)
    score_item_targets(codes[:300], targets[:300], distance="cosine", k=K)
    start = time.perf_counter()
    scores = score_item_targets(codes, targets, distance="cosine", k=K)
    return {"seconds": time.perf_counter() - start, **scores.metrics}


def check() -> int:
    whole = in_fresh_process("codes", 10_000)
    tau, tied = against_scipy(5, None), against_scipy(5, 65)
    per_query = against_sorting(3)
    for name, seconds in per_query.items():
        print(f"{name}: {seconds * 1e6:.1f} us per query of 10,000 codes")
    return verdict(
        [
            Check("mAHP@250 x 2 + mAP of 10,000 x 10,000 codes, s", whole["seconds"], 2, at_least=False),
            Check("the same, peak memory in GiB", whole["peak_gib"], 1, at_least=False),
            Check("tau-b of 1,000,000 distinct pairs, scipy / kinhash", tau["scipy"] / tau["kinhash"], 1),
            Check(
                "tau-b of 1,000,000 pairs, x in 65 levels, scipy / kinhash",
                tied["scipy"] / tied["kinhash"],
                1,
            ),
            Check("mAP alone, scikit-learn / kinhash", per_query["scikit-learn"] / per_query["kinhash"], 10),
            Check("all metrics, NumPy / kinhash", per_query["numpy"] / per_query["kinhash"], 10),
        ]
    )


def full() -> int:
    rows: list[dict[str, Any]] = []
    for kind, n in (("codes", 10_000), ("codes", 50_000), ("signs as floats", 10_000)):
        rows.append(
            {"what": f"mAHP@250 x 2 + mAP, {kind}", "n": n, "dimensions": 64, **in_fresh_process(kind, n)}
        )
        print(rows[-1])
    rows.append({"what": "mAHP@250 + tau, captions of 384 dimensions", "n": 5000, **captions(5000)})
    print(rows[-1])
    for name, seconds in against_sorting(5).items():
        rows.append({"what": "per query of 10,000 codes", "engine": name, "seconds": seconds})
        print(rows[-1])
    for levels in (None, 65):
        for name, seconds in against_scipy(7, levels).items():
            rows.append(
                {"what": "tau-b", "n": 1_000_000, "levels": levels, "engine": name, "seconds": seconds}
            )
            print(rows[-1])
    print(write_result("metrics", "speed", packages=("scipy", "scikit-learn"), protocol=PROTOCOL, rows=rows))
    large = next(row for row in rows if row["n"] == 50_000)
    return verdict(
        [Check("mAHP@250 x 2 + mAP of 50,000 x 50,000 codes, s", large["seconds"], 90, at_least=False)]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only the figures that have a bar, exit 1 if one is short"
    )
    parser.add_argument("--one", nargs=2, metavar=("KIND", "N"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one(arguments.one[0], int(arguments.one[1]))))
        return 0
    return check() if arguments.check else full()


if __name__ == "__main__":
    sys.exit(main())
