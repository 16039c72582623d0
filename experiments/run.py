"""`Run`: one training of one method on one backbone, with everything that its result depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from typing import Any

from kinhash.cli.train import parsed
from kinhash.errors import InputError


@dataclass(frozen=True)
class Run:
    """What to train; `options` are further arguments of `kh.train`, `bits` is 0 for methods that make no codes.

    `variant` tells runs apart that differ in `options`; `flip_average` averages the outputs of a picture and its mirror
    image when encoding. `seconds_per_epoch` is what an epoch was found to take
    on one H200: a guess, used until a finished run of the same backbone says better.
    """

    method: str
    backbone: str
    bits: int = 64
    epochs: int = 100
    seed: int = 0
    recipe: str = "modern"
    semantics: str = "wup"
    variant: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    flip_average: bool = True
    seconds_per_epoch: float = 2.0

    @property
    def name(self) -> str:
        """The file name of its result; the same run in two tables has one name and is done once."""
        width = f"{self.bits}bits" if self.bits else "floats"
        parts = [self.method, self.backbone, width, f"{self.epochs}epochs"]
        parts += [part for part in (self.recipe.replace("modern", ""), self.variant) if part]
        return "-".join([*parts, f"seed{self.seed}"])

    @property
    def config(self) -> dict[str, Any]:
        """The arguments as they go into the result."""
        return {
            "method": self.method,
            "backbone": self.backbone,
            "bits": self.bits,
            "epochs": self.epochs,
            "seed": self.seed,
            "recipe": self.recipe,
            "semantics": self.semantics,
            "flip_average": self.flip_average,
            **({"variant": self.variant} if self.variant else {}),
            **self.options,
        }

    def train_arguments(self) -> dict[str, Any]:
        """For `kh.train`; the semantics are looked up by their name."""
        named = ("method", "backbone", "epochs", "seed", "recipe")
        return {name: getattr(self, name) for name in named} | {"bits": self.bits or None, **self.options}


def with_seeds(runs: Sequence[Run], seeds: Sequence[int]) -> list[Run]:
    """Every run with every seed, the first seed of all runs first."""
    return [replace(run, seed=seed) for seed in seeds for run in runs]


def changed(
    runs: Sequence[Run],
    *,
    epochs: int | None = None,
    backbone: str | None = None,
    options: Mapping[str, Any] | None = None,
    variant: str = "",
) -> list[Run]:
    """The same table with other values; changed options need a `variant` to carry their results apart."""
    if options and not variant:
        raise SystemExit("--set changes what is measured: name the results with --variant NAME")
    return [
        replace(
            run,
            epochs=epochs or run.epochs,
            backbone=backbone or run.backbone,
            options={**run.options, **(options or {})},
            variant="-".join(part for part in (run.variant, variant) if part),
        )
        for run in runs
    ]


def chosen(runs: Sequence[Run], pattern: str) -> list[Run]:
    """Runs whose name fits the shell pattern, each once."""
    found = {run.name: run for run in runs if fnmatch(run.name, pattern)}
    if not found:
        names = ", ".join(run.name for run in runs)
        raise SystemExit(f"no run is called {pattern!r}; there are: {names}")
    return list(found.values())


def parsed_options(pairs: Sequence[str]) -> dict[str, Any]:
    """['lr=0.2', 'augment=light'] -> {'lr': 0.2, 'augment': 'light'}, as `kinhash train --set` reads them."""
    try:
        return parsed(pairs)
    except InputError as error:
        raise SystemExit(str(error)) from None
