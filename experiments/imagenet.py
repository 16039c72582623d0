"""Table 3 of the paper: ResNet-50-D on ImageNet, 64 bits, against WordNet and against embeddings of the class glosses.

    torchrun --nproc-per-node 8 experiments/imagenet.py --table imagenet --root ILSVRC --one sim-kl-class-...
    python experiments/imagenet.py --table imagenet --root ILSVRC --list
    python experiments/imagenet.py --table tiny --data tiny-imagenet --root DIR     # the same path, in minutes

ILSVRC holds `train/<wnid>/*.JPEG` and `val/<wnid>/*.JPEG`. `--gloss-embeddings FILE.npy`, one row per class in the order of
the dataset, adds the runs whose likeness is that of sentence embeddings; `kinhash` itself does not embed text here.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import driver
import numpy as np
import pictures
from run import Run, with_seeds

import kinhash as kh
from kinhash.data.splits import Dataset

METHODS = ("sim-kl", "sim-kl-class", "kl-class", "class")
SCHEDULE = {"recipe": "paper", "epochs": 320, "seconds_per_epoch": 900.0}


def imagenet(seeds: Sequence[int] = (0,)) -> list[Run]:
    """Four sums of losses, likeness by WordNet, the paper's recipe."""
    runs = [Run(method, "resnet50d", **SCHEDULE) for method in METHODS]  # type: ignore[arg-type]
    return with_seeds(runs, seeds)


def imagenet_glosses(seeds: Sequence[int] = (0,)) -> list[Run]:
    """The same with the likeness of the glosses' embeddings; needs --gloss-embeddings."""
    return [replace(run, semantics="glosses", variant="glosses") for run in imagenet(seeds)]


def tiny(seeds: Sequence[int] = (0,)) -> list[Run]:
    """The whole path on few and small pictures: shows that it runs, not how good it is."""
    return with_seeds([Run("sim-kl-class", "resnet50d", epochs=30, seconds_per_epoch=6.0)], seeds)


def load(options: argparse.Namespace) -> Dataset:
    """Pictures of ImageNet stay files; the tiny ones are decoded once."""
    if options.data == "tiny-imagenet":
        return pictures.load(options.data, options.root, options.work)
    return kh.dataset(options.data, root=options.root)


def semantics(options: argparse.Namespace, data: Dataset) -> Mapping[str, Any]:
    found = {"wup": kh.semantics("wordnet", classes=data.classes)}
    if options.gloss_embeddings:
        vectors = np.load(options.gloss_embeddings, allow_pickle=False)
        found["glosses"] = kh.semantics(vectors, classes=data.classes, metric="manhattan")
    return found


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--gloss-embeddings", type=Path, metavar="FILE.npy")


EXPERIMENT = driver.Experiment(
    script="experiments/imagenet.py",
    about=__doc__ or "",
    datasets=("imagenet", "tiny-imagenet"),
    tables={"imagenet": imagenet, "imagenet-glosses": imagenet_glosses, "tiny": tiny},
    load=load,
    semantics=semantics,
    add_options=add_options,
)

if __name__ == "__main__":
    sys.exit(driver.main(EXPERIMENT))
