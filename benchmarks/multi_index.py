"""Multi-index hashing against the scan and FAISS's flat index, all exact, in one process.

python benchmarks/multi_index.py --check   # 50 million uniform codes, and the worst data at a million: under a minute
python benchmarks/multi_index.py           # every size and kind of data; writes results/search/multi-index.json
python benchmarks/multi_index.py --codes FOLDER   # codes that `Codes.save` wrote, a trained encoder's for example
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / part) for part in ("tools", "src")]

import faiss
import numpy as np
from measure import Check, interleaved, verdict, write_result
from numpy.typing import NDArray

from kinhash import Codes, MultiIndex
from kinhash.index.scan import k_nearest

MILLION = 10**6
NOROUZI = (
    12.178e-3  # seconds a query, norouzi/mih: 50M uniform codes, random queries, k = 10, ties not finished
)
KINDS = ("uniform", "clustered", "correlated", "duplicated", "constant")
Rows = list[dict[str, Any]]


def make(kind: str, n: int, bits: int = 64) -> Codes:
    """Codes of one kind; `clustered`: n / 1000 centres, an eighth of the bits flipped; `correlated`: the signs of
    projections of 16-dimensional vectors around 1,000 centres; `duplicated`: n / 1000 different codes."""
    rng = np.random.default_rng(0)
    width = bits // 64
    if kind == "uniform":
        return Codes(rng.integers(0, 2**64, (n, width), dtype=np.uint64), bits)
    if kind == "correlated":
        planes, centres = rng.normal(size=(16, bits)), rng.normal(size=(1000, 16))
        parts = []
        for start in range(0, n, 100_000):
            size = min(100_000, n - start)
            vectors = centres[rng.integers(0, 1000, size)] + 0.3 * rng.normal(size=(size, 16))
            parts.append(Codes.from_logits(vectors @ planes))
        return Codes.concat(parts)
    centres = rng.integers(0, 2**64, (1 if kind == "constant" else max(1, n // 1000), width), dtype=np.uint64)
    words = centres[rng.integers(0, len(centres), n)]
    if kind == "clustered":
        flips = rng.integers(0, 2**64, words.shape, dtype=np.uint64)
        for _ in range(2):
            flips &= rng.integers(0, 2**64, words.shape, dtype=np.uint64)
        words ^= flips
    return Codes(words, bits)


def asked(codes: Codes, kind: str, m: int) -> Codes:
    """`random`: uniform codes; `near`: stored codes with two bits flipped."""
    rng = np.random.default_rng(1)
    width = codes.words.shape[1]
    if kind == "random":
        return Codes.from_bits(rng.integers(0, 2, (m, codes.bits)))
    words = codes.words[rng.integers(0, len(codes), m)].copy()
    words[:, rng.integers(0, width)] ^= np.uint64(1) << rng.integers(0, codes.bits % 64 or 64, m).astype(
        np.uint64
    )
    words[:, 0] ^= np.uint64(1) << rng.integers(0, min(codes.bits, 64), m).astype(np.uint64)
    return Codes(words, codes.bits)


def built(codes: Codes, **options: Any) -> tuple[MultiIndex, float]:
    """A multi-index and the seconds it took on one thread."""
    start = time.perf_counter()
    index = MultiIndex(codes, threads=1, **options)
    return index, time.perf_counter() - start


def flat(codes: Codes) -> Any:
    """FAISS's exhaustive index of the same codes."""
    rival = faiss.IndexBinaryFlat(64 * codes.words.shape[1])
    rival.add(codes.words.view(np.uint8))
    return rival


def compare(
    codes: Codes, index: MultiIndex, queries: Codes, k: int, rival: Any, repeats: int, singles: int = 4
) -> dict[str, float]:
    """Seconds per query of each engine on one thread; the answers must be equal."""
    few = min(8, len(queries))
    as_bytes: NDArray[np.uint8] = queries.words[:few].view(np.uint8)
    counts = {"multi-index": len(queries), "scan": len(queries), "scan, one query": singles, "faiss": few}
    runs: dict[str, Any] = {
        "multi-index": lambda: index.search(queries, k, threads=1),
        "scan": lambda: k_nearest(queries, codes, k, threads=1),
        "scan, one query": lambda: [k_nearest(queries[i], codes, k, threads=1) for i in range(singles)],
        "faiss": lambda: rival.search(as_bytes, k),
    }
    if rival is None:
        del runs["faiss"]
    else:
        np.testing.assert_array_equal(rival.search(as_bytes, k)[0], runs["multi-index"]().distances[:few])
    start = time.perf_counter()
    ours, exact = runs["multi-index"](), runs["scan"]()
    if time.perf_counter() - start < 0.05:
        repeats *= 5  # short runs: a neighbour's time slice would be half of them
    np.testing.assert_array_equal(ours.positions, exact.positions)
    np.testing.assert_array_equal(ours.distances, exact.distances)
    seconds = interleaved(runs, repeats=repeats, warm=0)
    return {name: value / counts[name] for name, value in seconds.items()}


def rows_of(
    name: str, codes: Codes, rival: Any, repeats: int, m: int, ks: tuple[int, ...] = (1, 10, 100)
) -> Rows:
    """Every kind of query on one set of codes."""
    index, seconds = built(codes)
    base = {"data": name, "n": len(codes), "bits": codes.bits, "threads": 1, "tables": index.tables}
    rows = [{**base, "what": "build", "seconds": seconds, "bytes_per_code": index.nbytes / len(codes)}]
    for kind in ("random", "near"):
        queries = asked(codes, kind, m)
        for k in ks:
            times = compare(codes, index, queries, k, rival, repeats)
            _, costs = index.search_counted(queries, k, threads=1)
            read = {
                "candidates": float(costs.candidates.mean()),
                "probes": float(costs.probes.mean()),
                "fell_back": float(costs.fell_back.mean()),
            }
            for engine, value in times.items():
                row = {
                    **base,
                    "what": f"{kind} queries",
                    "k": k,
                    "batch": m,
                    "engine": engine,
                    "seconds": value,
                }
                rows.append({**row, **read} if engine == "multi-index" else row)
                rows[-1]["ratio"] = value / times["multi-index"]
            shown = ", ".join(f"{engine} {value * 1e6:.1f}" for engine, value in times.items())
            print(f"{name} {len(codes)} {kind} k={k}: {shown} us; {read}", flush=True)
    return rows


def slower(rows: Rows) -> tuple[float, str]:
    """The worst of multi-index / scan, and where."""
    return max(
        (1 / row["ratio"], f"{row['data']} {row['n']}, {row['what']}, k = {row['k']}")
        for row in rows
        if row.get("engine") == "scan"
    )


def big_checks(n: int, repeats: int, rows: Rows) -> list[Check]:
    """The figures that have a bar at 50 million uniform codes."""
    codes = make("uniform", n)
    rival = flat(codes)
    MultiIndex(codes[:1000], threads=1).search(codes[:2], 1)  # compiled before it is timed
    index, seconds = built(codes)
    queries = asked(codes, "random", 200)
    times = compare(codes, index, queries, 10, rival, repeats)
    ours = times["multi-index"]
    for engine, value in times.items():
        rows.append(
            {
                "data": "uniform", "n": n, "bits": 64, "threads": 1, "tables": index.tables,
                "what": "random queries, headline", "k": 10, "batch": 200, "engine": engine,
                "seconds": value, "ratio": value / ours,
            }
        )  # fmt: skip
        print(f"{engine}: {value * 1e6:.0f} us a query", flush=True)
    per_code = index.nbytes / n
    del index
    lean, lean_seconds = built(codes, lean=True)
    searching = interleaved({"lean": lambda: lean.search(queries, 10, threads=1)}, repeats=3)["lean"] / len(
        queries
    )
    print(f"numbers only: {searching * 1e6:.0f} us a query", flush=True)
    base = {"data": "uniform", "n": n, "bits": 64, "threads": 1, "k": 10, "batch": 200}
    rows += [
        {**base, "what": "build", "seconds": seconds, "bytes_per_code": per_code},
        {**base, "what": "lean build", "seconds": lean_seconds, "bytes_per_code": lean.nbytes / n},
        {**base, "what": "random queries, lean", "engine": "multi-index", "seconds": searching},
    ]
    return [
        Check(f"build of {n} codes on one core, s", seconds, 10, at_least=False),
        Check("bytes a code, codes included", per_code, 40, at_least=False),
        Check("bytes a code, numbers only", lean.nbytes / n, 24, at_least=False),
        Check("norouzi/mih / multi-index", NOROUZI / ours, 7),
        Check("single-query scan / multi-index", times["scan, one query"] / ours, 12),
        Check("batched scan / multi-index", times["scan"] / ours, 1.4),
        Check(
            "FAISS flat / multi-index, 50M uniform codes, k = 10, ties finished", times["faiss"] / ours, 22
        ),
    ]


def small_rows(n: int, repeats: int, kinds: tuple[str, ...] = KINDS) -> Rows:
    """Every kind of data at one size, without FAISS."""
    rows: Rows = []
    for kind in kinds:
        rows += rows_of(kind, make(kind, n), None, repeats, 200, (1, 10))
    return rows


def check() -> int:
    rows: Rows = []
    worst, where = slower(small_rows(MILLION, 3))
    checks = big_checks(50 * MILLION, 3, rows)
    return verdict([Check(f"multi-index / scan at its worst ({where})", worst, 1.3, at_least=False), *checks])


def trained(folders: list[str]) -> int:
    """Codes of trained encoders, which are neither uniform nor independent, beside the scan and FAISS."""
    rows: Rows = []
    for folder in folders:
        codes = Codes.load(folder)
        rows += rows_of(Path(folder).name, codes, flat(codes), 5, 200)
    print(write_result("search", "trained", packages=("faiss-cpu",), rows=rows))
    worst, where = slower(rows)
    return verdict([Check(f"multi-index / scan at its worst ({where})", worst, 1.3, at_least=False)])


def full() -> int:
    rows: Rows = []
    checks = big_checks(50 * MILLION, 5, rows)
    for n in (10_000, 100_000, MILLION, 10 * MILLION, 100 * MILLION):
        codes = make("uniform", n)
        rows += rows_of("uniform", codes, flat(codes) if n <= 10 * MILLION else None, 3, 100)
    rows += rows_of("clustered", make("clustered", 50 * MILLION), None, 3, 100)
    for n in (MILLION, 10 * MILLION):
        rows += small_rows(n, 3, KINDS[1:])
    for bits in (128, 256):
        for kind in ("uniform", "clustered", "correlated"):
            rows += rows_of(kind, make(kind, MILLION, bits), None, 3, 100)
    print(write_result("search", "multi-index", packages=("faiss-cpu",), rows=rows))
    worst, where = slower(rows)
    return verdict([Check(f"multi-index / scan at its worst ({where})", worst, 1.3, at_least=False), *checks])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--check", action="store_true", help="only the figures that have a bar")
    kinds.add_argument("--codes", nargs="+", metavar="FOLDER", help="only the codes that were saved there")
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(1)
    return check() if arguments.check else trained(arguments.codes) if arguments.codes else full()


if __name__ == "__main__":
    sys.exit(main())
