"""The loop: epochs of steps, with a checkpoint, a line in the log and a look at the numbers after each."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import nn

from kinhash.errors import TrainingError
from kinhash.feeding.loader import DeviceLoader
from kinhash.methods.contract import Objective
from kinhash.models.network import HashNetwork
from kinhash.training import checkpoints
from kinhash.training.distributed import Place, wait_for_all, wrapped
from kinhash.training.ema import MovingAverage
from kinhash.training.graphs import Accelerate, Act, accelerated, as_written, fast_convolutions
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
    seconds: float  # of all epochs, those of earlier calls included
    samples: int  # seen since the start

    def summary(self) -> dict[str, Any]:
        """For metrics.json."""
        return {
            "epochs": self.epochs,
            "losses": self.losses,
            "seconds": {"train": round(self.seconds, 3)},
            "samples": self.samples,
        }


def untrained(network: HashNetwork) -> Outcome:
    """Of a method that trains nothing."""
    return Outcome(network.eval(), {}, 0, 0.0, 0)


class Run:
    """A training in progress: what learns, and how far it is."""

    def __init__(
        self,
        trainee: Trainee,
        loader: DeviceLoader,
        recipe: Recipe,
        folder: RunFolder,
        config: dict[str, Any],
        place: Place,
        conduct: Conduct,
    ) -> None:
        self.trainee, self.loader, self.recipe, self.folder = trainee, loader, recipe, folder
        self.config, self.place, self.conduct = config, place, conduct
        self.average = MovingAverage(trainee.network, recipe.ema_decay(len(loader))) if recipe.ema else None
        self.optimiser = build_optimiser(trainee, recipe, place.device)
        averaged = self.average.network if self.average else None
        self.state = checkpoints.State(trainee, self.optimiser, averaged, place.device)
        self.epoch = self.step = 0
        self.losses: dict[str, float] = {}
        self.seconds = 0.0

    def resume(self) -> None:
        """Go to the newest checkpoint of the folder; without one, stay at the beginning."""
        path = checkpoints.newest(self.folder.checkpoints) if self.folder.checkpoints else None
        if path is not None:
            self.epoch, self.step = checkpoints.load(path, self.state, config=self.config)

    def fit(self) -> Outcome:
        """All epochs that are left, or as many as the conduct allows."""
        recipe, steps = self.recipe, len(self.loader)
        self.seconds = self.folder.begin(self.config, self.epoch)
        module = wrapped(self.trainee, self.place)
        one = Step(module, self.optimiser, self.place.device, loss_scale=recipe.loss_scale, clip=recipe.clip)
        left = recipe.epochs - self.epoch
        if self.conduct.stop_after is not None:
            left = min(left, self.conduct.stop_after)
        act = accelerated(one, self.conduct.accelerate, steps=left * steps, world=self.place.world)
        saved, last = time.monotonic(), self.epoch + left
        self.trainee.train()
        bar = TrainingBar(
            self.conduct.progress and self.place.first,
            epochs=recipe.epochs,
            steps=steps,
            samples=self.loader.batch * self.place.world,
            done=self.step,
        )
        with bar, fast_convolutions():
            while self.epoch < last:
                self._one_epoch(one, act, bar)
                if self._due(last, saved):
                    self._save()
                    saved = time.monotonic()
        as_written(self.trainee.network)
        wait_for_all(self.place)
        return self._outcome()

    def _one_epoch(self, one: Step, act: Act, bar: TrainingBar) -> None:
        started = time.monotonic()
        one.begin()
        if isinstance(self.trainee.objective, Objective):
            self.trainee.objective.begin_epoch(self.epoch, self.recipe.epochs)
        rate = 0.0
        for inputs, targets in self.loader.epoch(self.epoch):
            rate = self._rate()
            set_learning_rate(self.optimiser, rate)
            act(inputs, targets)
            self.step += 1
            if self.average:
                self.average.update(self.step)
            if bar.advance():
                bar.show(self._finite(one.means()))
        self.losses = self._finite(one.means(), weights=True)
        bar.show(self.losses)
        self.epoch += 1
        self.seconds += time.monotonic() - started
        line = {"epoch": self.epoch, "step": self.step, "lr": rate, "losses": self.losses}
        self.folder.log({**line, "seconds": round(self.seconds, 3)})

    def _rate(self) -> float:
        recipe, total = self.recipe, self.recipe.epochs * len(self.loader)
        peak = recipe.rate(self.loader.batch * self.place.world)
        return learning_rate(
            recipe.schedule, self.step, total, peak, warm=recipe.warm, decay_every=recipe.decay_every
        )

    def _due(self, last: int, saved: float) -> bool:
        if self.epoch == last:
            return True
        if self.conduct.checkpoint_every is not None:
            return self.epoch % self.conduct.checkpoint_every == 0
        return time.monotonic() - saved > _SECONDS_BETWEEN

    def _save(self) -> None:
        if self.place.first and self.folder.checkpoints is not None:
            checkpoints.save(
                self.folder.checkpoints, self.state, config=self.config, epoch=self.epoch, step=self.step
            )

    def _outcome(self) -> Outcome:
        network = cast(HashNetwork, self.average.network if self.average else self.trainee.network)
        samples = self.step * self.loader.batch * self.place.world
        return Outcome(network.eval(), self.losses, self.epoch, self.seconds, samples)

    def _finite(self, losses: Mapping[str, float], weights: bool = False) -> dict[str, float]:
        """The losses, if they (and the weights) are finite; otherwise there is no point in going on."""
        bad = [f"the loss {name!r}" for name, value in losses.items() if not math.isfinite(value)]
        if not bad and weights and not _all_finite(self.trainee):
            bad = ["a weight"]
        if not bad:
            return dict(losses)
        path = checkpoints.newest(self.folder.checkpoints) if self.folder.checkpoints else None
        good = f"The last good checkpoint is {path}" if path else "There is no checkpoint to go back to"
        raise TrainingError(
            f"in epoch {self.epoch + 1} {bad[-1]} is no longer finite. {good}; a lower lr or a limit on the "
            "gradient (clip=1.0) usually helps"
        )


def _all_finite(module: nn.Module) -> bool:
    norms = torch._foreach_norm([p.detach() for p in module.parameters()])
    return bool(torch.stack(list(norms)).isfinite().all())
