"""How fast distances between classes are made, beside NLTK on the same WordNet files in the same run.

    python benchmarks/semantics.py --check     # seconds; exit 1 when a bar is missed, or without NLTK
    python benchmarks/semantics.py             # everything, written to results/semantics/

Cold means a fresh Python process that loads the taxonomy and computes the Wu-Palmer matrix of the 1,000 classes of
ILSVRC, both directions of every pair; the compiled kernels lie in Numba's cache on disk by then, as they do after the
first run on a machine. The least of the rounds is what is judged: whatever else runs only adds.
NLTK gets its synsets loaded and its depths cached before it is timed.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / part) for part in ("tools", "src")]

import numpy as np
from measure import Check, interleaved, verdict, write_result
from nltk_wordnet import AbsentError, nltk_wordnet

from kinhash.meaning.hierarchy import VARIANTS, lcs_height, wu_palmer
from kinhash.meaning.tables import class_table
from kinhash.meaning.wordnet import load_wordnet

COLD_SECONDS = 0.5
TIMES_NLTK = 1000.0
COLD = """
import time
start = time.perf_counter()
from kinhash.meaning.hierarchy import wu_palmer
from kinhash.meaning.tables import class_table
from kinhash.meaning.wordnet import load_wordnet
imported = time.perf_counter()
wordnet = load_wordnet()
nodes = wordnet.positions(class_table("ilsvrc2012").names)
loaded = time.perf_counter()
matrix = wu_palmer(wordnet.graph, nodes, "{variant}")
done = time.perf_counter()
assert matrix.shape == (1000, 1000)
print(imported - start, loaded - imported, done - loaded)
"""


def cold(variants: Sequence[str], repeats: int) -> dict[str, list[dict[str, float]]]:
    """Seconds of the parts of fresh processes, variants in turn; the first round may fill Numba's cache."""
    rows: dict[str, list[dict[str, float]]] = {variant: [] for variant in variants}
    for turn in range(repeats + 1):
        for variant in variants:
            row = one_cold(variant)
            if turn:
                rows[variant].append(row)
    return rows


def one_cold(variant: str) -> dict[str, float]:
    """Seconds of one fresh process, and of its parts."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", COLD.format(variant=variant)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    whole = time.perf_counter() - start
    imported, load, matrix = map(float, done.stdout.split())
    return {
        "import": imported,
        "load": load,
        "matrix": matrix,
        "load_and_matrix": load + matrix,
        "process": whole,
    }


def against_nltk(reader: Any, classes: int, repeats: int) -> dict[str, float]:
    """Seconds per pair of both, taking turns, on a subset of the classes and, for kinhash, on all 1,000."""
    wordnet = load_wordnet()
    wnids = class_table("ilsvrc2012").names
    subset = wnids[:: len(wnids) // classes][:classes]
    nodes, every = wordnet.positions(subset), wordnet.positions(wnids)
    synsets = [reader.synset_from_pos_and_offset("n", int(wnid[1:])) for wnid in subset]

    def nltk() -> list[list[float]]:
        return [[a.wup_similarity(b) for b in synsets] for a in synsets]

    assert np.array_equal(wu_palmer(wordnet.graph, nodes, "nltk"), nltk()), "both must give the same numbers"
    seconds = interleaved(
        {
            "nltk": nltk,
            "subset": lambda: wu_palmer(wordnet.graph, nodes, "nltk"),
            "all": lambda: wu_palmer(wordnet.graph, every, "nltk"),
            "one_thread": lambda: wu_palmer(wordnet.graph, every, "nltk", threads=1),
        },
        repeats,
    )
    pairs = {"nltk": classes**2, "subset": classes**2, "all": len(wnids) ** 2, "one_thread": len(wnids) ** 2}
    return {name: seconds[name] / pairs[name] for name in pairs}


def rows_of_sizes(repeats: int) -> list[dict[str, Any]]:
    """Seconds of every measure on the bundled tables, warm."""
    wordnet = load_wordnet()
    rows = []
    for table, turns, variants in (
        ("cifar100", repeats, VARIANTS),
        ("ilsvrc2012", repeats, VARIANTS),
        ("imagenet21k", 1, VARIANTS[:1]),
    ):
        classes = class_table(table)
        nodes = wordnet.positions([classes.synsets[name] for name in classes.names])
        runs = {
            f"wup {variant}": lambda v=variant, n=nodes: wu_palmer(wordnet.graph, n, v)
            for variant in variants
        }
        runs["lcs symmetric"] = lambda n=nodes: lcs_height(wordnet.graph, n)
        for name, seconds in interleaved(runs, turns, warm=int(turns > 1)).items():
            rows.append({"classes": table, "n": len(nodes), "measure": name, "seconds": seconds})
            print(
                f"{table:12} {name:15} {seconds:9.4f} s, {1e9 * seconds / len(nodes) ** 2:7.1f} ns per pair"
            )
    return rows


def main() -> int:
    """Measure, print, compare with the bars, and write the result of a full run."""
    parser = argparse.ArgumentParser(description="Speed of distances between classes, beside NLTK.")
    parser.add_argument("--check", action="store_true", help="a short run that exits 1 when a bar is missed")
    short = parser.parse_args().check
    try:
        reader = nltk_wordnet()
    except AbsentError as reason:
        raise SystemExit(f"no verdict without the rival: {reason}") from None
    rounds = cold(("symmetric",) if short else VARIANTS, 5 if short else 9)
    seconds = {
        variant: {part: statistics.median(row[part] for row in rows) for part in rows[0]}
        for variant, rows in rounds.items()
    }
    for variant, parts in seconds.items():
        print(f"cold, {variant}: " + ", ".join(f"{part} {value:.3f} s" for part, value in parts.items()))
    checks = [
        Check(
            "cold load of WordNet + matrix of 1,000 classes, seconds, least of the rounds",
            min(row["load_and_matrix"] for row in rounds["symmetric"]),
            COLD_SECONDS,
            False,
        )
    ]
    per_pair = against_nltk(reader, 100, 3 if short else 5)
    for name, value in per_pair.items():
        print(f"{name}: {1e9 * value:.1f} ns per pair")
    for name, what in (("all", "1,000 classes"), ("subset", "the same 100 classes, both directions")):
        ratio = per_pair["nltk"] / per_pair[name]
        checks.append(Check(f"NLTK's seconds per pair over ours, {what}", ratio, TIMES_NLTK))
    if not short:
        rows = rows_of_sizes(5)
        config = {
            "cold": "fresh process, kernels in Numba's cache",
            "classes": "ilsvrc2012",
            "directions": "both",
        }
        ratios = {
            f"nltk_over_{name}": per_pair["nltk"] / per_pair[name] for name in per_pair if name != "nltk"
        }
        path = write_result(
            "semantics",
            "speed",
            packages=["nltk"],
            config=config,
            seconds={"cold": seconds, "per_pair": per_pair},
            metrics=ratios,
            rows=rows,
        )
        print(path)
    return verdict(checks)


if __name__ == "__main__":
    sys.exit(main())
