"""The tables of CIFAR-100, trained and scored.

    python experiments/cifar100.py --table ablations --root DIR             # one run after the other
    python experiments/cifar100.py --table all --root DIR --processes 3     # side by side on one GPU
    python experiments/cifar100.py --table best --root DIR --minutes 9      # starts nothing that would not finish

DIR holds the data in any layout that `kh.dataset("cifar100")` reads. Every run writes `results/cifar100/<name>.json`;
a run whose result is there already is skipped, one that was trained but not scored is only scored.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import driver
import pictures
from run import Run, with_seeds

import kinhash as kh
from kinhash.data.splits import Dataset

ABLATIONS = ("sim", "class", "kl-class", "sim-kl", "sim-kl-class")
LENGTHS = (16, 32, 64, 128)
KL_WEIGHTS = (0.0, 0.001, 0.01)
BEST = "sim-kl-class"


def ablations(seeds: Sequence[int] = (0,)) -> list[Run]:
    """Table 2 of the paper: the five sums of losses, 64 bits, ResNet-110w, one schedule for all."""
    return with_seeds([Run(method, "resnet110w", seconds_per_epoch=2.5) for method in ABLATIONS], seeds)


def lengths(seeds: Sequence[int] = (0,)) -> list[Run]:
    """Table 1 of the paper: 16 to 128 bits, here with the best sum of losses."""
    return with_seeds([Run(BEST, "resnet110w", bits=bits, seconds_per_epoch=2.5) for bits in LENGTHS], seeds)


def best(seeds: Sequence[int] = (0,)) -> list[Run]:
    """A wide ResNet: what 64 bits can hold when accuracy is not the limit."""
    return with_seeds([Run(BEST, "wrn28-10", epochs=100, seconds_per_epoch=4.1)], seeds)


def fast(seeds: Sequence[int] = (0,)) -> list[Run]:
    """Past the paper's binary mAHP in less than a minute of training."""
    return with_seeds([_minute("fast", lr=0.2)], seeds)


def kl_weight(seeds: Sequence[int] = (0,)) -> list[Run]:
    """What the entropy term does for searching: none of it, the default, the paper's weight."""
    return with_seeds([_minute(f"kl{w:g}", lr=0.1, kl_weight=w) for w in KL_WEIGHTS], seeds)


def _minute(variant: str, **options: float) -> Run:
    # compiling takes longer than it saves in a minute
    plain: dict[str, Any] = {"cutmix": 0.0, "cutout": 8, "accelerate": "graph"}
    return Run(BEST, "wrn16-8", epochs=36, variant=variant, options=plain | options, seconds_per_epoch=1.65)


def load(options: argparse.Namespace) -> Dataset:
    return pictures.load(options.data, options.root, options.work)


def semantics(options: argparse.Namespace, data: Dataset) -> Mapping[str, Any]:
    """The two readings of likeness: Wu-Palmer in WordNet (checked synsets), LCS height in Barz & Denzler's tree."""
    return {
        "wup": kh.semantics("wordnet", classes="cifar100"),
        "lcs": kh.semantics("tree:cifar100", classes="cifar100", measure="lcs"),
    }


EXPERIMENT = driver.Experiment(
    script="experiments/cifar100.py",
    about=__doc__ or "",
    datasets=("cifar100", "cifar100-sample", "cifar100-validation", "cifar100-sample-validation"),
    tables={"fast": fast, "ablations": ablations, "lengths": lengths, "best": best, "kl-weight": kl_weight},
    load=load,
    semantics=semantics,
)

if __name__ == "__main__":
    sys.exit(driver.main(EXPERIMENT))
