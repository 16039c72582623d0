"""Exact search in memory: the scan against FAISS IndexBinaryFlat in the same process, and against reading the codes.

python benchmarks/search.py --check      # under a minute: the figures that have a bar, the ratio to FAISS last
python benchmarks/search.py              # 10M and 50M codes, 64 to 256 bits: results/search/flat.json
python benchmarks/search.py --scaling    # 10k to 100M codes: results/search/scaling.json and scaling.png

Codes and queries are uniform, the worst case: no query has a near neighbour. FAISS gets at most 50 queries at a time,
since its time per query does not depend on the batch.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # FAISS's threads would spin into the next engine's turn
sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import RESULTS, Check, interleaved, verdict, write_result

from kinhash import Codes
from kinhash.index.scan import k_nearest

MOST_FOR_FAISS = 50
PROTOCOL = {"codes": "uniform", "queries": "uniform", "ties": "position", "seconds": "median, per query"}
Rows = list[dict[str, Any]]


def uniform(n: int, bits: int, seed: int = 0) -> Codes:
    generator = np.random.default_rng(seed)
    return Codes(generator.integers(0, 1 << 64, (n, bits // 64), dtype=np.uint64), bits)


class Rivals:
    """The same codes in both engines."""

    def __init__(self, n: int, bits: int) -> None:
        import faiss

        self.codes, self.faiss = uniform(n, bits), faiss
        self.flat = faiss.IndexBinaryFlat(bits)
        self.flat.add(self.codes.words.view(np.uint8))
        self._agree(uniform(8, bits, 1), 20)

    def ours(self, queries: Codes, k: int, threads: int) -> Callable[[], object]:
        return lambda: k_nearest(queries, self.codes, k, threads=threads)

    def theirs(self, queries: Codes, k: int, threads: int) -> Callable[[], object]:
        data = queries.words[:MOST_FOR_FAISS].view(np.uint8)

        def run() -> None:
            self.faiss.omp_set_num_threads(threads)
            self.flat.search(data, k)

        return run

    def read(self) -> None:
        """Every byte once."""
        np.add.reduce(self.codes.words.ravel())

    def _agree(self, queries: Codes, k: int) -> None:
        theirs = self.flat.search(queries.words.view(np.uint8), k)[0]
        np.testing.assert_array_equal(k_nearest(queries, self.codes, k).distances, theirs)


def compared(rivals: Rivals, batch: int, k: int, repeats: int, threads: tuple[int, ...] = (1, 2)) -> Rows:
    """Both engines taking turns, per query; for a single query also the time to read the codes."""
    n, bits = len(rivals.codes), rivals.codes.bits
    queries = uniform(batch, bits, 7)
    runs = {f"kinhash {t}": rivals.ours(queries, k, t) for t in threads}
    runs |= {f"faiss {t}": rivals.theirs(queries, k, t) for t in threads}
    if batch == 1:
        runs["read 1"] = rivals.read
    seconds = {}
    for name, value in interleaved(runs, repeats).items():
        seconds[name] = value / (min(batch, MOST_FOR_FAISS) if name.startswith("faiss") else batch)
    rows: Rows = []
    for name, value in seconds.items():
        engine, count = name.split()
        row = {"engine": engine, "N": n, "bits": bits, "batch": batch, "k": k, "threads": int(count),
               "seconds": value, "g_codes_per_s": n / value / 1e9}  # fmt: skip
        if engine == "kinhash":
            row["times_faiss"] = seconds[f"faiss {count}"] / value
            if batch == 1:
                best = min(seconds[f"faiss {t}"] for t in threads)
                row |= {"times_best_faiss": best / value, "of_reading": seconds["read 1"] / value}
            if count != "1":
                row["times_one_thread"] = seconds["kinhash 1"] / value
        rows.append(row)
        print(json.dumps(row), flush=True)
    return rows


def latency(repeats: int = 200) -> float:
    """Median seconds of one query over a million codes."""
    codes, queries = uniform(1_000_000, 64), uniform(repeats, 64, 3)
    taken = []
    for i in range(repeats):
        query = queries[i]
        start = time.perf_counter()
        k_nearest(query, codes, 100, threads=1)
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def filtered(rivals: Rivals, batch: int, repeats: int) -> Rows:
    """A filter that 1 % pass, as a mask and as positions, against no filter."""
    queries, n = uniform(batch, rivals.codes.bits, 5), len(rivals.codes)
    mask = np.random.default_rng(6).random(n) < 0.01
    kinds = {"no filter": None, "1 % as a mask": mask, "1 % as positions": np.flatnonzero(mask)}
    runs = {
        name: (lambda allowed=allowed: k_nearest(queries, rivals.codes, 10, allowed=allowed, threads=1))
        for name, allowed in kinds.items()
    }
    seconds = interleaved(runs, repeats)
    rows: Rows = []
    for name, value in seconds.items():
        rows.append(
            {"engine": "kinhash", "N": n, "bits": rivals.codes.bits, "batch": batch, "k": 10, "threads": 1,
             "filter": name, "seconds": value / batch, "times_unfiltered": value / seconds["no filter"]}
        )  # fmt: skip
        print(json.dumps(rows[-1]), flush=True)
    return rows


def pick(rows: Rows, figure: str, worst: Callable[[list[float]], float] = min, **values: Any) -> float:
    """The worst of a figure over the rows of ours that fit."""
    found = [
        row[figure]
        for row in rows
        if row["engine"] == "kinhash" and figure in row and all(row[key] == value for key, value in values.items())
    ]  # fmt: skip
    return worst(found)


def checks(rows: Rows, p50: float) -> list[Check]:
    """The bars; each is the worst over all N and k measured."""
    one = {"threads": 1}
    masks = [row["times_unfiltered"] for row in rows if row.get("filter", "no filter") != "no filter"]
    return [
        Check("one query over 1M codes, p50 in ms", p50 * 1e3, 0.25, at_least=False),
        Check("a filter that 1 % pass, of the time without", max(masks), 1.0, at_least=False),
        Check(
            "batch 1, share of the speed of reading", pick(rows, "of_reading", batch=1, bits=64, **one), 0.9
        ),
        Check(
            "batch 1, FAISS at its best / kinhash", pick(rows, "times_best_faiss", batch=1, bits=64, **one), 2
        ),
        Check(
            "batch 1000, two threads / one",
            pick(rows, "times_one_thread", batch=1000, bits=64, threads=2),
            1.8,
        ),
        Check("256 bits, batch 32, FAISS / kinhash", pick(rows, "times_faiss", batch=32, bits=256, **one), 7),
        Check(
            "128 bits, batch 32, FAISS / kinhash", pick(rows, "times_faiss", batch=32, bits=128, **one), 10
        ),
        Check("batch 32, G codes/s", pick(rows, "g_codes_per_s", batch=32, bits=64, **one), 30),
        Check("batch 32, FAISS / kinhash", pick(rows, "times_faiss", batch=32, bits=64, **one), 15),
        Check("batch 1000, FAISS / kinhash", pick(rows, "times_faiss", batch=1000, bits=64, **one), 18),
    ]


def check() -> int:
    rows: Rows = []
    p50 = latency()
    rivals = Rivals(10_000_000, 64)
    rows += filtered(rivals, 1, 9)
    rows += compared(rivals, 1, 10, 9) + compared(rivals, 32, 10, 5) + compared(rivals, 1000, 10, 3)
    for bits in (128, 256):
        rows += compared(Rivals(4_000_000, bits), 32, 10, 5, threads=(1,))
    return verdict(checks(rows, p50))


def full() -> int:
    rows: Rows = []
    p50 = latency()
    for bits, sizes in ((64, (10_000_000, 50_000_000)), (128, (10_000_000,)), (256, (10_000_000,))):
        for n in sizes:
            rivals = Rivals(n, bits)
            if bits == 64:
                rows += filtered(rivals, 1, 9) + filtered(rivals, 32, 5)
            for k in (10, 100):
                rows += compared(rivals, 1, k, 9)
                rows += compared(rivals, 32, k, 5) + compared(rivals, 1000, k, 3)
            del rivals
    found = checks(rows, p50)
    load = {"load_average": os.getloadavg()[0]}
    metrics = {check.what: check.value for check in found} | load
    print(
        write_result("search", "flat", packages=("faiss-cpu",), protocol=PROTOCOL, metrics=metrics, rows=rows)
    )
    return verdict(found)


def scaling() -> int:
    """Seconds per query against N, 64 bits, k = 10, one thread."""
    rows: Rows = []
    for exponent in range(4, 9):
        rivals = Rivals(10**exponent, 64)
        for batch in (1, 32, 1000):
            rows += compared(rivals, batch, 10, 9 if exponent < 8 else 3, threads=(1,))
        del rivals
    print(write_result("search", "scaling", packages=("faiss-cpu",), protocol=PROTOCOL, rows=rows))
    print(draw(rows, RESULTS / "search" / "scaling.png"))
    return 0


def draw(rows: Rows, path: Path) -> Path:
    """Microseconds per query against N, both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for engine, style in (("faiss", "--"), ("kinhash", "-")):
        for colour, batch in enumerate((1, 32, 1000)):
            mine = [row for row in rows if row["engine"] == engine and row["batch"] == batch]
            points = [(row["N"], row["seconds"] * 1e6) for row in mine]
            axes.loglog(
                *zip(*points, strict=True), style, color=f"C{colour}", label=f"{engine}, batch {batch}"
            )
    axes.set(xlabel="codes of 64 bits", ylabel="microseconds per query, one thread, k = 10")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--check", action="store_true", help="only figures with a bar, exit 1 if one is short")
    kinds.add_argument("--scaling", action="store_true", help="cost against the number of codes")
    arguments = parser.parse_args()
    return check() if arguments.check else scaling() if arguments.scaling else full()


if __name__ == "__main__":
    sys.exit(main())
