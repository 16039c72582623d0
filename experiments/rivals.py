"""Every method under one protocol: same data, backbone, schedule and budget.

    python experiments/rivals.py --features --root DIR            # features of a pretrained network, on a CPU
    python experiments/rivals.py --features --unseen --root DIR   # 20 classes held out: search among unseen classes
    python experiments/rivals.py --root DIR --processes 4         # from pictures, a wide ResNet, on one GPU
    python experiments/rivals.py --table faithful --root DIR      # ResNet-110w against the published figures

DIR holds CIFAR-100. `--features` is short for `--table features --data cifar100-features`; `--unseen` appends to the name of
the data. In the table from pictures, methods that want given features (LSH, ITQ, ...) get those of the network that CLASS
trained: run that first. Results go to `results/rivals-<data>/`; what is there is not done again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cifar100
import driver
import rival_data
from run import Run, with_seeds

from kinhash.data.splits import Dataset
from kinhash.methods import METHODS, Method

BITS = 64
LONGER = {"one-hot": 128}  # a bit for each of the 100 classes
# kin in the sums of the paper's Table 2 and "reg"; its other sums belong to captions
LEFT_OUT = ("sim-class", "kl-reg", "sim-kl-reg")
PUBLISHED = ("lcorr-cls", "lcorr", "label-embedding", "devise", "center")


def rivals(seeds: Sequence[int] = (0,)) -> list[Run]:
    """From pictures; those that want features last, since they wait for CLASS."""
    runs = [_run(name, "wrn16-4", 30, seconds=0.7) for name in _names()]
    first = [run for run in runs if not wants_features(METHODS[run.method])]
    first.sort(key=lambda run: run.method != "class")
    return with_seeds([*first, *(run for run in runs if run not in first)], seeds)


def features(seeds: Sequence[int] = (0,)) -> list[Run]:
    """On the features of a pretrained network, which nothing changes."""
    runs = [_run(name, "mlp", 5, hidden=512, seconds=4.0) for name in _names()]
    return with_seeds([replace(run, flip_average=False) for run in runs], seeds)


def faithful(seeds: Sequence[int] = (0,)) -> list[Run]:
    """The float methods of the paper's Table 2 with the likeness of their own papers, the height in the tree."""
    runs = [_run(name, "resnet110w", 100, seconds=2.5) for name in PUBLISHED]
    return with_seeds([replace(run, semantics="lcs", variant="lcs") for run in runs], seeds)


def wants_features(method: Method) -> bool:
    """Whether it starts from given features instead of pictures."""
    return method.build is None or "features" in method.needs


def prepare(run: Run, options: argparse.Namespace, data: Dataset) -> tuple[Dataset, dict[str, Any]]:
    """Features for those that want them, vectors of names for DeViSE."""
    arguments = run.train_arguments()
    method = METHODS[run.method]
    if run.method == "devise":
        cache = options.work / "cifar100-names.npy"
        arguments["class_vectors"] = rival_data.name_vectors(data, cache)
    given = options.data.endswith("-features")
    if not given and wants_features(method):
        network = replace(run, method="class", variant="")
        folder = options.work / topic(options) / network.name
        if not (folder / "outputs.json").exists():
            raise SystemExit(f"{run.method} wants the features of {network.name}: run that first")
        data = rival_data.features_of(folder, data, options.device)
        arguments["epochs"] = 20
        given = True
    if given:
        arguments.pop("backbone")  # the method knows what stands on features
    if method.build is None:
        arguments.pop("epochs")
    return data, arguments


def topic(options: argparse.Namespace) -> str:
    return f"rivals-{options.data}"


def expanded(given: Sequence[str]) -> list[str]:
    """`--features` and `--unseen` as what they are short for."""
    rest = [word for word in given if word not in ("--features", "--unseen")]
    tail = ("-unseen" if "--unseen" in given else "") + ("-features" if "--features" in given else "")
    table = ["--table", "features"] if "--features" in given else []
    return [*table, *(["--data", f"cifar100{tail}"] if tail else []), *rest]


def _names() -> list[str]:
    return [name for name in METHODS if name not in LEFT_OUT]


def _run(name: str, backbone: str, epochs: int, *, seconds: float, **options: Any) -> Run:
    bits = 0 if METHODS[name].retrieves == "floats" else LONGER.get(name, BITS)
    return Run(name, backbone, bits=bits, epochs=epochs, options=options, seconds_per_epoch=seconds)


EXPERIMENT = driver.Experiment(
    script="experiments/rivals.py",
    about=__doc__ or "",
    datasets=[f"cifar100{unseen}{kind}" for unseen in ("", "-unseen") for kind in ("", "-features")]
    + [f"cifar100-sample{unseen}{kind}" for unseen in ("", "-unseen") for kind in ("", "-features")],
    tables={"rivals": rivals, "features": features, "faithful": faithful},
    load=rival_data.load,
    semantics=cifar100.semantics,  # all methods of the tables learn Wu-Palmer
    prepare=prepare,
    topic=topic,
    train_database=False,
)

if __name__ == "__main__":
    sys.exit(driver.main(EXPERIMENT, expanded(sys.argv[1:])))
