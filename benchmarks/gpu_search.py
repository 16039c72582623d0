"""Exact search on one GPU: first that it is exact, then against reading the codes, bare bit counting, and torch.

python benchmarks/gpu_search.py            # everything, writes results/search/gpu.json
python benchmarks/gpu_search.py --check    # exactness and the bars
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / part) for part in ("tools", "src", "benchmarks/parts")]

import numpy as np
from gpu_exactness import clustered_words, exactness, fresh, on_gpu, random_words, stored
from measure import RESULTS, Check, interleaved, verdict, write_result

from kinhash.index.gpu import GpuIndex

BILLION = 10**9
K = 100
BATCHES = (64, 128, 256)


class Report:
    """Prints as it goes; a section that breaks says so and the next one runs."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.rows: list[dict[str, Any]] = []
        self.broken: list[str] = []
        self.checks: list[Check] = []

    def say(self, text: str) -> None:
        print(f"{time.perf_counter() - self.start:6.1f} s  {text}", flush=True)

    def section(self, name: str, run: Callable[..., Any], *given: Any) -> Any:
        self.say(f"-- {name}")
        try:
            return run(*given)
        except Exception:
            self.broken.append(name)
            traceback.print_exc(file=sys.stdout)
            return None

    def add(self, engine: str, n: int, seconds: float, **more: Any) -> None:
        """One row of the result."""
        more = {"bits": 64, "batch": 1, "codes": "uniform", **more}
        rate = n * more["batch"] / seconds
        self.rows.append(
            {"engine": engine, "N": n, **more, "seconds": seconds, "comparisons_per_second": rate}
        )
        said = "  ".join(f"{name} {value}" for name, value in more.items())
        self.say(f"{engine:<42} N {n:.0e}  {said}:  {seconds * 1e3:9.3f} ms  {rate:.3g} comparisons/s")


def yardsticks(report: Report, words: Any) -> None:
    """Reading, and counting bits, without an answer; a sum by torch."""
    import torch
    from gpu_bare import Bare

    bare, queries = Bare(words[:, 0]), on_gpu(fresh(64, 1))[:, 0].contiguous()
    runs = {
        "bare read": bare.read,
        "bare scan 1": lambda: bare.scan(queries[:1]),
        "bare scan 64": lambda: bare.scan(queries),
        "torch.sum": lambda: (words.sum(), torch.cuda.synchronize()),
    }
    for name, value in interleaved(runs, 7).items():
        report.add(name, len(words), value, batch=64 if name.endswith("64") else 1)


def billion(report: Report, words: Any, index: GpuIndex) -> None:
    """Whole searches, wall clock with the answer in host memory; the bars."""
    from gpu_bare import Bare, exact

    n = len(words)
    queries = {m: fresh(m, 1) for m in (1, *BATCHES)}
    for m, asked in queries.items():
        for _ in range(2):
            hits = index.search(asked, K)
        keys = hits.distances.astype(np.int64) << 40 | hits.positions
        if not np.array_equal(keys[m - 1], exact(words, on_gpu(asked)[m - 1], K).numpy()):
            raise AssertionError(f"wrong: a billion codes, batch {m}")
    report.say("exact at a billion")
    bare, one = Bare(words[:, 0]), on_gpu(queries[1])[:, 0].contiguous()
    runs: dict[Any, Callable[[], object]] = {m: lambda q=q: index.search(q, K) for m, q in queries.items()}
    runs["read"], runs["scan"] = bare.read, lambda: bare.scan(one)
    seconds = interleaved(runs, 15)
    report.say(
        f"in turns with these: bare read {seconds['read'] * 1e3:.3f} ms, scan {seconds['scan'] * 1e3:.3f} ms"
    )
    for m in queries:
        report.add("kinhash", n, seconds[m], batch=m, k=K)
    for m in BATCHES:
        report.checks.append(Check(f"batch {m}: comparisons/s", n * m / seconds[m], 1.5e12))
    for name in ("scan", "read"):
        report.checks.append(
            Check(f"one query against a bare {name}", seconds[1] / seconds[name], 1.25, at_least=False)
        )


def kernels(report: Report, index: GpuIndex) -> None:
    """Both kernels alone, at the limit that the last segment of a search would have."""
    import torch

    from kinhash.kernels import gpu_launch
    from kinhash.kernels.gpu_lists import new_lists

    shard = index._shards[0]
    lists = new_lists(shard, fresh(64, 1).words, 4096, histogram=True)
    lists.limits.fill_(9)

    def run(append: Callable[..., object]) -> None:
        lists.clear()
        append(shard, lists, 0, shard.rows)
        torch.cuda.synchronize()

    runs: dict[str, Callable[[], object]] = {
        "kernel: counting": lambda: run(gpu_launch.append_by_counting),
        "kernel: tensor cores": lambda: run(gpu_launch.append_by_tensor_cores),
    }
    for name, seconds in interleaved(runs, 5).items():
        report.add(name, shard.rows, seconds, batch=64)


def other_cases(report: Report, n: int) -> None:
    """Longer codes, other k, clustered codes, a radius."""
    for kind, width in (("uniform", 1), ("clustered", 1), ("uniform", 2), ("uniform", 4)):
        words = clustered_words(n, width, 5) if kind == "clustered" else random_words(n, width, 5)
        index = GpuIndex([(words, 0)], ["cuda:0"])
        runs: dict[tuple[int, int | None, int | None], Callable[[], object]] = {}
        for m in (1, 64):
            queries = fresh(m, width) if kind == "uniform" else stored(words, m)
            for k in (10, 100, 1000) if width == 1 else (100,):
                runs[m, k, None] = lambda i=index, q=queries, k=k: i.search(q, k)
            if width == 1:
                runs[m, None, 8] = lambda i=index, q=queries: i.within(q, 8)
        for (m, k, radius), seconds in interleaved(runs, 5, warm=2).items():
            report.add("kinhash", n, seconds, bits=64 * width, batch=m, k=k, radius=radius, codes=kind)
        del index, words, runs


def rivals(report: Report, n: int) -> None:
    """What one writes with torch, and our own plain path, at a tenth of the size: their temporaries are large."""
    from gpu_bare import matrix_product, signs, xor_and_topk

    from kinhash.kernels import gpu_plain

    words = random_words(n, 1, 5)
    index = GpuIndex([(words, 0)], ["cuda:0"])
    product = signs(words[:, 0])
    for m in (1, 64):
        queries = fresh(m, 1)
        asked = on_gpu(queries)[:, 0].contiguous()
        halves = signs(asked)
        runs: dict[str, Callable[[], Any]] = {
            "kinhash": lambda q=queries: index.search(q, K),
            "kinhash, torch alone": lambda q=queries: gpu_plain.k_nearest(index._shards[0], q.words, K),
            "torch, exclusive or, bit tricks, topk": lambda a=asked: xor_and_topk(words[:, 0], a, K),
            "torch, half-precision product, topk": lambda h=halves: matrix_product(product, h, K),
        }
        hits = index.search(queries, K)
        keys = hits.distances.astype(np.int64) << 40 | hits.positions
        for name in ("kinhash, torch alone", "torch, exclusive or, bit tricks, topk"):
            if not np.array_equal(np.asarray(runs[name]()), keys):
                raise AssertionError(f"{name} differs")
        for name, seconds in interleaved(runs, 3).items():
            report.add(name, n, seconds, batch=m, k=K)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exactness and the bars, no result file")
    parser.add_argument(
        "--rows", type=int, default=BILLION, help="codes of the large case (8 bytes each, twice)"
    )
    parser.add_argument("--folder", type=Path, default=RESULTS, help="where the result goes")
    args = parser.parse_args()
    if find_spec("torch") is None or find_spec("triton") is None:
        print("skipped: needs torch and triton")
        return 0
    import torch

    if not torch.cuda.is_available():
        print("skipped: torch sees no GPU")
        return 0
    report = Report()
    compared = 0  # answers that were right
    for width, shards in ((1, 1), (1, 3)) if args.check else ((1, 1), (2, 1), (4, 1), (1, 3)):
        name = f"exactness, {64 * width} bits, {shards} shards"
        compared += report.section(name, exactness, report.say, width, ["cuda:0"] * shards) or 0
    words = random_words(args.rows, 1, 3)
    index = GpuIndex([(words, 0)], ["cuda:0"])
    report.section("yardsticks", yardsticks, report, words)
    report.section("whole searches", billion, report, words, index)
    if not args.check:
        report.section("both kernels", kernels, report, index)
        del index, words
        report.section("other cases", other_cases, report, args.rows // 10)
        report.section("rivals", rivals, report, args.rows // 10)
        metrics = {"answers_compared": compared, "broken_sections": report.broken}
        path = write_result(
            "search",
            "gpu",
            packages=("torch", "triton"),
            folder=args.folder,
            metrics=metrics,
            rows=report.rows,
        )
        report.say(f"wrote {path}")
    status = verdict(report.checks)
    if report.broken:
        print(f"FAIL sections that broke: {', '.join(report.broken)}")
    return 1 if report.broken or not report.checks else status


if __name__ == "__main__":
    raise SystemExit(main())
