"""Exact search on one GPU: against reading the codes once, bare bit counting, and torch's matrix product.

python benchmarks/gpu_search.py            # everything, writes results/search/gpu.json
python benchmarks/gpu_search.py --check    # the three bars only
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / part) for part in ("tools", "src", "benchmarks")]

import numpy as np
from measure import RESULTS, Check, interleaved, verdict, write_result

from kinhash import Codes
from kinhash.index.gpu import GpuIndex

BILLION = 10**9


def random_words(n: int, width: int, seed: int) -> Any:
    """Uniform codes, made on the GPU."""
    import torch

    generator = torch.Generator("cuda").manual_seed(seed)
    words = torch.empty((n, width), dtype=torch.int64, device="cuda")
    return words.random_(torch.iinfo(torch.int64).min, None, generator=generator)


def clustered_words(n: int, seed: int) -> Any:
    """Codes around n / 1000 centres, each bit flipped with probability 1/8."""
    import torch

    generator = torch.Generator("cuda").manual_seed(seed)
    centres = random_words(max(1, n // 1000), 1, seed)
    chosen = torch.randint(len(centres), (n,), generator=generator, device="cuda")
    flips = random_words(n, 1, seed + 1) & random_words(n, 1, seed + 2) & random_words(n, 1, seed + 3)
    return centres[chosen] ^ flips


def queries_of(words: Any, m: int, fresh: bool) -> Codes:
    """Uniform codes, or codes of the database."""
    width = words.shape[1]
    if fresh:
        return Codes(np.random.default_rng(7).integers(0, 1 << 64, (m, width), dtype=np.uint64), 64 * width)
    return Codes(words[:: len(words) // m][:m].cpu().numpy().view(np.uint64), 64 * width)


def against_the_billion(
    words: Any, repeats: int, batches: tuple[int, ...]
) -> tuple[list[dict[str, Any]], list[Check]]:
    """64-bit codes: a bare scan of one query, one of 64, and our batches, taking turns."""
    import torch
    from gpu_bare import Bare, exact

    n = len(words)
    index = GpuIndex([(words, 0)], ["cuda:0"])
    bare = Bare(words[:, 0])
    fresh = {m: queries_of(words, m, True) for m in (1, *batches)}
    on_device = torch.from_numpy(fresh[64].words.view(np.int64)[:, 0].copy()).cuda()
    keys = exact(words[:, 0], int(on_device[0]), 100).cpu().numpy()
    for m, queries in fresh.items():
        hits = index.search(queries, 100)
        if m == 64 and not np.array_equal(hits.distances[0].astype(np.int64) << 40 | hits.positions[0], keys):
            raise SystemExit("the answer is not that of a sort by (distance, position)")
    runs = {f"ours {m}": lambda m=m: index.search(fresh[m], 100) for m in fresh}
    runs |= {"bare 1": lambda: bare.run(on_device[:1]), "bare 64": lambda: bare.run(on_device)}
    runs["read"] = lambda: (words.sum(), torch.cuda.synchronize())
    seconds = interleaved(runs, repeats)
    rows = []
    for name, value in seconds.items():
        engine, m = (*name.split(), "1")[:2]
        rows.append(
            {"engine": {"ours": "kinhash", "bare": "bare scan, no answer", "read": "torch.sum"}[engine], "N": n,
             "bits": 64, "batch": int(m), "k": 100 if engine == "ours" else None, "codes": "uniform",
             "seconds": value, "comparisons_per_second": n * int(m) / value}
        )  # fmt: skip
    checks = [
        Check(f"batch {m}: comparisons/s", n * m / seconds[f"ours {m}"], 1.5e12) for m in batches if m >= 64
    ]
    checks.append(
        Check(
            "one query against a bare scan of the same codes",
            seconds["ours 1"] / seconds["bare 1"],
            1.25,
            at_least=False,
        )
    )
    return rows, checks


def other_cases(repeats: int) -> list[dict[str, Any]]:
    """Longer codes, other k, clustered codes, a radius; and torch's matrix product where its signs fit in memory."""
    import torch
    from gpu_bare import matrix_product, signs

    rows = []
    tenth = BILLION // 10
    for name, width in (("uniform", 1), ("clustered", 1), ("uniform", 2), ("uniform", 4), ("uniform", 8)):
        words = clustered_words(tenth, 5) if name == "clustered" else random_words(tenth, width, 5)
        index = GpuIndex([(words, 0)], ["cuda:0"])
        runs = {}
        for m in (1, 64):
            queries = queries_of(words, m, name == "uniform")
            for k in (10, 100, 1000) if width == 1 else (100,):
                runs["kinhash", m, k, None] = lambda q=queries, k=k, i=index: i.search(q, k)
            if width == 1:
                runs["kinhash", m, None, 8] = lambda q=queries, i=index: i.within(q, 8)
            if name == "uniform" and width == 1:
                product, halves = (
                    signs(words[:, 0]),
                    signs(torch.from_numpy(queries.words.view(np.int64)[:, 0].copy()).cuda()),
                )
                runs["torch, half-precision product and topk", m, 100, None] = lambda h=halves, p=product: (
                    matrix_product(p, h, 100)
                )
        for (engine, m, k, radius), seconds in interleaved(runs, repeats).items():
            rows.append(
                {"engine": engine, "N": tenth, "bits": 64 * width, "batch": m, "k": k, "radius": radius, "codes": name,
                 "seconds": seconds, "comparisons_per_second": tenth * m / seconds}
            )  # fmt: skip
        del index, words, runs
        product = halves = None
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only the bars, no result file")
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
    rows, checks = against_the_billion(
        random_words(args.rows, 1, 3), 7 if args.check else 21, (64,) if args.check else (8, 32, 64, 256)
    )
    if not args.check:
        rows += other_cases(7)
        write_result("search", "gpu", packages=("torch", "triton"), folder=args.folder, rows=rows)
        for row in rows:
            print(
                "  ".join(
                    f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()
                )
            )
    return verdict(checks)


if __name__ == "__main__":
    raise SystemExit(main())
