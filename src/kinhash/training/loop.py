"""The loop: epochs of steps, with a checkpoint, a line in the log and a look at the numbers after each."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from kinhash.data.loader import DeviceLoader
from kinhash.errors import TrainingError
from kinhash.models.network import HashNetwork
from kinhash.training import checkpoints
from kinhash.training.distributed import Place, wait_for_all, wrapped
from kinhash.training.ema import MovingAverage
from kinhash.training.graphs import Accelerate, accelerated
from kinhash.training.optimisers import build_optimiser, set_learning_rate
from kinhash.training.progress import TrainingBar
from kinhash.training.recipes import Recipe
from kinhash.training.runfolder import RunFolder
from kinhash.training.schedule import learning_rate
from kinhash.training.step import Step, Trainee

_SECONDS_BETWEEN = 30.0  # between two checkpoints, unless the caller says how many epochs


@dataclass(frozen=True)
class Conduct:
    """How a run is carried out, which does not change what it computes."""

    accelerate: Accelerate = "auto"
    progress: bool = True
    checkpoint_every: int | None = None  # epochs; None: every epoch, but not more often than every 30 seconds
    stop_after: int | None = None  # leave after so many epochs, to be resumed another time


@dataclass(frozen=True)
class Outcome:
    """What a run leaves behind."""

    network: HashNetwork  # the averaged one, where the recipe averages
    losses: dict[str, float]  # means over the last epoch
    epochs: int  # finished ones
    seconds: float  # of this call, without setting up and writing checkpoints
    rate: float  # samples per second

    def summary(self) -> dict[str, Any]:
        """For metrics.json."""
        return {
            "epochs": self.epochs,
            "losses": self.losses,
            "seconds": {"train": round(self.seconds, 3)},
            "samples_per_second": round(self.rate, 1),
        }


def fit(
    trainee: Trainee,
    loader: DeviceLoader,
    recipe: Recipe,
    folder: RunFolder,
    config: dict[str, Any],
    place: Place,
    conduct: Conduct,
    *,
    resume: bool = False,
) -> Outcome:
    """Train `trainee` as the recipe says, from the start or from the newest checkpoint of the folder."""
    average = MovingAverage(trainee.network, recipe.ema_decay(len(loader))) if recipe.ema else None
    optimiser = build_optimiser(trainee, recipe, place.device)
    state = checkpoints.State(trainee, optimiser, average.network if average else None, place.device)
    epoch, step = _resumed(folder, state, config) if resume else (0, 0)
    folder.begin(config, epoch)
    module = wrapped(trainee, place)
    one = Step(module, optimiser, place.device, loss_scale=recipe.loss_scale, clip=recipe.clip)
    total = recipe.epochs * len(loader)
    run = accelerated(one, conduct.accelerate, steps=total - step, world=place.world)
    peak = recipe.rate(loader.batch * place.world)
    last = min(recipe.epochs, epoch + (recipe.epochs if conduct.stop_after is None else conduct.stop_after))
    losses: dict[str, float] = {}
    seconds, saved = 0.0, time.monotonic()
    trainee.train()
    with TrainingBar(
        conduct.progress and place.first,
        epochs=recipe.epochs,
        steps=len(loader),
        samples=loader.batch * place.world,
        done=step,
    ) as bar:
        while epoch < last:
            started = time.monotonic()
            one.begin()
            for inputs, targets in loader.epoch(epoch):
                rate = learning_rate(
                    recipe.schedule, step, total, peak, warm=recipe.warm, decay_every=recipe.decay_every
                )
                set_learning_rate(optimiser, rate)
                run(inputs, targets)
                step += 1
                if average:
                    average.update(step)
                if bar.advance():
                    bar.show(_finite(one.means(), epoch + 1, folder))
            losses = _finite(one.means(), epoch + 1, folder, trainee)
            bar.show(losses)
            epoch += 1
            seconds += time.monotonic() - started
            folder.log(
                {"epoch": epoch, "step": step, "lr": rate, "losses": losses, "seconds": round(seconds, 3)}
            )
            if _due(conduct, epoch, last, saved):
                _save(folder, state, config, epoch, step, place)
                saved = time.monotonic()
        wait_for_all(place)
        network = cast(HashNetwork, average.network if average else trainee.network)
        return Outcome(network.eval(), losses, epoch, seconds, bar.rate())


def _resumed(folder: RunFolder, state: checkpoints.State, config: dict[str, Any]) -> tuple[int, int]:
    path = checkpoints.newest(folder.checkpoints) if folder.checkpoints else None
    return checkpoints.load(path, state, config=config) if path else (0, 0)


def _due(conduct: Conduct, epoch: int, last: int, saved: float) -> bool:
    if epoch == last:
        return True
    if conduct.checkpoint_every is not None:
        return epoch % conduct.checkpoint_every == 0
    return time.monotonic() - saved > _SECONDS_BETWEEN


def _save(
    folder: RunFolder, state: checkpoints.State, config: dict[str, Any], epoch: int, step: int, place: Place
) -> None:
    if place.first and folder.checkpoints is not None:
        checkpoints.save(folder.checkpoints, state, config=config, epoch=epoch, step=step)


def _finite(
    losses: Mapping[str, float], epoch: int, folder: RunFolder, trainee: nn.Module | None = None
) -> dict[str, float]:
    """The losses, if they and the weights are finite; otherwise there is no point in going on."""
    bad = [name for name, value in losses.items() if not math.isfinite(value)]
    if not bad and trainee is not None and not _weights_are_finite(trainee):
        bad = ["a weight"]
    if not bad:
        return dict(losses)
    path = checkpoints.newest(folder.checkpoints) if folder.checkpoints else None
    raise TrainingError(
        f"in epoch {epoch} {bad[-1]} is no longer finite. {_last_good(path)} "
        "A lower lr or a gradient limit (clip=1.0) usually helps"
    )


def _last_good(path: Path | None) -> str:
    return f"The last good checkpoint is {path}." if path else "There is no checkpoint to go back to."


def _weights_are_finite(module: nn.Module) -> bool:
    norms = torch._foreach_norm([p.detach() for p in module.parameters()])
    return bool(torch.stack(list(norms)).isfinite().all())
