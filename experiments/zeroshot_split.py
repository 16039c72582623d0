"""Which classes are seen and which are not, and the seen ones that stand in for unseen ones while settings are chosen.

python experiments/zeroshot_split.py --root DIR    # how tiny_imagenet_split.json was drawn, before any training
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import kinhash as kh

TINY = Path(__file__).with_name("tiny_imagenet_split.json")
FOLDS = 3
_HELD = 0.2  # share of the seen classes that a fold holds back


@dataclass(frozen=True)
class WnidSplit:
    """WordNet ids, ascending; `folds` are disjoint parts of `seen`."""

    drawn: str  # how
    seen: list[str]
    unseen: list[str]
    folds: list[list[str]]

    def held_back(self, fold: int) -> WnidSplit:
        """The same without the unseen classes: those of a fold take their place."""
        held = self.folds[fold]
        return WnidSplit(self.drawn, sorted(set(self.seen) - set(held)), held, [])


def drawn(wnids: Sequence[str], unseen: int, seed: int = 0) -> WnidSplit:
    """`unseen` of the classes by chance, the others are seen."""
    order = np.random.default_rng(seed).permutation(sorted(wnids)).tolist()
    how = f"numpy.random.default_rng({seed}).permutation(sorted(wnids)); the first {unseen} are unseen"
    return listed(order[unseen:], order[:unseen], seed, how)


def listed(
    seen: Sequence[str], unseen: Sequence[str], seed: int = 0, how: str = "given as lists"
) -> WnidSplit:
    """Lists that are given; the folds are drawn from the seen classes."""
    both = sorted(set(seen) & set(unseen))
    if both:
        raise SystemExit(f"{both[0]} is said to be both seen and unseen ({len(both)} classes are)")
    order = np.random.default_rng(seed).permutation(sorted(seen)).tolist()
    size = round(_HELD * len(order))
    folds = [sorted(order[i * size : (i + 1) * size]) for i in range(FOLDS)]
    told = f"{how}; folds: permutation(sorted(seen)) of the same seed, {size} classes after the other"
    return WnidSplit(told, sorted(seen), sorted(unseen), folds)


def read(path: Path) -> WnidSplit:
    return WnidSplit(**json.loads(path.read_text()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, help="folder of Tiny-ImageNet")
    parser.add_argument("--unseen", type=int, default=40)
    parser.add_argument("--out", type=Path, default=TINY)
    options = parser.parse_args()
    classes = kh.dataset("tiny-imagenet", root=options.root).classes
    options.out.write_text(json.dumps(asdict(drawn(classes, options.unseen)), indent=1) + "\n")
    print(options.out)


if __name__ == "__main__":
    main()
