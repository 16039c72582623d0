"""One training step, faster and as written, and what share of it goes to data and augmentation.

`python benchmarks/training_step.py --check` on a GPU: ResNet-110w, 512 pictures of 32 pixels, SIM-KL-CLASS, against the same
step without graph or compiler. On a CPU: a small wide ResNet, against a pipeline that prepares the pictures one by one as
PIL images. Pictures are random: their content changes no time. Without --check the result is also written.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import RESULTS, Check, verdict, write_result

from kinhash.data.splits import Split
from kinhash.feeding.loader import DeviceLoader
from kinhash.feeding.targets import Targets
from kinhash.methods import METHODS, Problem
from kinhash.models.network import HashNetwork
from kinhash.training.distributed import placed
from kinhash.training.ema import MovingAverage
from kinhash.training.graphs import Accelerate, accelerated, fast_convolutions
from kinhash.training.optimisers import build_optimiser, set_learning_rate
from kinhash.training.recipes import Recipe
from kinhash.training.step import Step, Trainee

CLASSES, BITS = 100, 64


def pictures(n: int) -> Split:
    """Random pictures of 100 classes."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (n, 32, 32, 3), dtype=np.uint8)
    return Split(images, rng.integers(0, CLASSES, n), tuple(f"class {c}" for c in range(CLASSES)))


class Training:
    """What `kh.train` does in an epoch, in parts that can be timed."""

    def __init__(
        self, backbone: str, batch: int, mode: Accelerate, device: str, split: Split, *, usual: bool = False
    ) -> None:
        torch.manual_seed(0)
        recipe = Recipe(batch=batch)
        distances = torch.rand(CLASSES, CLASSES)
        problem = Problem(
            bits=BITS,
            options=recipe,
            classes=CLASSES,
            distances=((distances + distances.T) / 2).fill_diagonal_(0),
        )
        network = HashNetwork(backbone, BITS, CLASSES)
        trainee = Trainee(network, METHODS["sim-kl-class"].build(problem))
        if usual:
            trainee.to(device)
        else:
            placed(trainee, torch.device(device))
        self.loader = DeviceLoader(split, batch, device=device, augment=recipe.augmentation())
        self.average = MovingAverage(trainee.network, 0.999)
        self.optimiser = build_optimiser(trainee, recipe, torch.device(device))
        step = Step(trainee.train(), self.optimiser, torch.device(device), loss_scale=recipe.loss_scale)
        self.act = accelerated(step, mode, steps=10**6)
        self.epochs = 0

    def batches(self, steps: int) -> Iterator[tuple[torch.Tensor, Targets]]:
        """So many batches, through as many epochs as it takes."""
        while steps > 0:
            for batch in self.loader.epoch(self.epochs):
                yield batch
                steps -= 1
                if not steps:
                    return
            self.epochs += 1

    def steps(self, count: int) -> None:
        """Steps as in a training: data, rate, forward, backward, update, average."""
        for number, (inputs, targets) in enumerate(self.batches(count), 1):
            set_learning_rate(self.optimiser, 1e-4)
            self.act(inputs, targets)
            self.average.update(number)

    def data(self, count: int) -> None:
        """The data of so many steps alone."""
        for _ in self.batches(count):
            pass


def milliseconds(runs: dict[str, Callable[[int], None]], count: int, repeats: int) -> dict[str, float]:
    """Median milliseconds of a step of each, in turns; nothing is left on the device when the clock stops."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run(count)
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            found[name].append(1000 * (time.perf_counter() - start) / count)
    return {name: statistics.median(values) for name, values in found.items()}


def on_gpu(backbone: str, batch: int, modes: tuple[Accelerate, ...]) -> dict[str, Any]:
    """Every way of running the step, with the seconds until it runs at full speed."""
    split = pictures(20_000)
    row: dict[str, Any] = {"device": "cuda", "backbone": backbone, "batch": batch}
    runs: dict[str, Callable[[int], None]] = {}
    for mode in modes:
        start = time.perf_counter()
        training = Training(backbone, batch, mode, "cuda", split)
        training.steps(8)
        torch.cuda.synchronize()
        row[f"{mode}_warm_s"] = round(time.perf_counter() - start, 2)
        runs[mode] = training.steps
        runs["data"] = training.data
        print(f"{backbone} {mode}: ready after {row[f'{mode}_warm_s']} s", flush=True)
    row |= {f"{name}_ms": value for name, value in milliseconds(runs, 30, 3).items()}
    row["gigabytes"] = torch.cuda.max_memory_allocated() / 1e9
    return row


def on_cpu() -> dict[str, Any]:
    """The step as `kh.train` does it, and with the network in the usual memory order."""
    split, batch, backbone = pictures(4_000), 128, "wrn10-1"
    training = Training(backbone, batch, "off", "cpu", split)
    usual = Training(backbone, batch, "off", "cpu", split, usual=True)
    runs = {"off": training.steps, "usual_order": usual.steps, "data": training.data}
    milliseconds(runs, 1, 1)  # warm
    return {"device": "cpu", "backbone": backbone, "batch": batch} | {
        f"{name}_ms": value for name, value in milliseconds(runs, 3, 3).items()
    }


def checks(rows: list[dict[str, Any]]) -> list[Check]:
    """The bars."""
    found = []
    for row in rows:
        where = f"{row['backbone']}, batch {row['batch']}, {row['device']}"
        modes = [mode for mode in ("off", "graph", "compile") if f"{mode}_ms" in row]
        best = min(row[f"{mode}_ms"] for mode in modes)
        share = 100 * row["data_ms"] / best
        if row["device"] == "cpu":
            ratio = row["usual_order_ms"] / row["off_ms"]
            found.append(Check(f"{where}: data and augmentation, % of a step", share, 20, at_least=False))
            found.append(Check(f"{where}: times as fast as in the usual memory order", ratio, 0.9))
            continue
        found.append(Check(f"{where}: data and augmentation, % of a step", share, 5, at_least=False))
        if row["backbone"] == "resnet110w":
            found.append(Check(f"{where}: ms a step", best, 15, at_least=False))
        found.append(Check(f"{where}: times as fast as the step as written", row["off_ms"] / best, 1.2))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="measure and judge, write nothing")
    parser.add_argument("--backbones", nargs="+", default=["resnet110w"], help="on a GPU")
    parser.add_argument("--modes", nargs="+", default=["off", "graph", "compile"], help="on a GPU")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the written result")
    options = parser.parse_args()
    cuda = torch.cuda.is_available()
    with fast_convolutions() if cuda else contextlib.nullcontext():
        rows = [on_gpu(name, 512, tuple(options.modes)) for name in options.backbones] if cuda else [on_cpu()]
    for row in rows:
        print(row)
    if not options.check:
        packages = ("torch", "triton") if cuda else ("torch",)
        name = f"step-{rows[0]['device']}"
        print(write_result("training", name, folder=options.results, packages=packages, rows=rows))
    return verdict(checks(rows))


if __name__ == "__main__":
    sys.exit(main())
