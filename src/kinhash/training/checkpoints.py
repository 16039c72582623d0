"""Checkpoints: one safetensors file an epoch, written beside and then renamed, with all that a run needs to go on.

Tensors: the network and the objective (`trainee.*`), the averaged network (`average.*`), the optimiser
(`optimiser.<position>.<key>`), the random states. The file's header holds format, configuration and counters as json;
nothing that is loaded can execute.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from kinhash.errors import FormatError, StorageError, TrainingError
from kinhash.files import replacing

_FORMAT = "kinhash-checkpoint"
_VERSION = 1
_KEEP = 2  # the newest, and the one before in case the newest is damaged


@dataclass
class State:
    """The live objects of a run, between which a checkpoint moves numbers."""

    trainee: nn.Module
    optimiser: torch.optim.Optimizer
    average: nn.Module | None
    device: torch.device


def save(folder: Path, state: State, *, config: dict[str, Any], epoch: int, step: int) -> Path:
    """Write the checkpoint of `epoch` finished epochs; a crash at any moment leaves the older one intact."""
    card = {"format": _FORMAT, "version": _VERSION, "epoch": epoch, "step": step, "config": config}
    path = folder / f"epoch-{epoch:05d}.safetensors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as new:
            save_file(_tensors(state), new, metadata={"kinhash": json.dumps(card)})
        for old in sorted(folder.glob("epoch-*.safetensors"))[:-_KEEP]:
            old.unlink()
    except (OSError, SafetensorError) as error:
        raise StorageError(f"cannot write the checkpoint {path}: {error}") from error
    return path


def newest(folder: Path) -> Path | None:
    """The checkpoint of the highest epoch, if there is any."""
    found = sorted(folder.glob("epoch-*.safetensors"))
    return found[-1] if found else None


def load(path: Path, state: State, *, config: dict[str, Any]) -> tuple[int, int]:
    """Bring `state` to where the checkpoint was; returns the finished epochs and steps."""
    card, tensors = _read(path)
    _check_config(path, card["config"], config)
    try:
        _load_module(state.trainee, tensors, "trainee.")
        if state.average is not None:
            _load_module(state.average, tensors, "average.")
        _load_optimiser(state.optimiser, tensors)
        torch.set_rng_state(tensors["random.cpu"])
        if state.device.type == "cuda" and "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"], state.device)
    except (KeyError, RuntimeError) as error:
        raise FormatError(f"the checkpoint {path} does not hold what this run needs: {error}") from error
    return int(card["epoch"]), int(card["step"])


def _tensors(state: State) -> dict[str, Tensor]:
    found = {f"trainee.{name}": value for name, value in state.trainee.state_dict().items()}
    if state.average is not None:
        found |= {f"average.{name}": value for name, value in state.average.state_dict().items()}
    for position, parameter in enumerate(_parameters(state.optimiser)):
        for key, value in state.optimiser.state[parameter].items():
            found[f"optimiser.{position}.{key}"] = torch.as_tensor(value)
    found["random.cpu"] = torch.get_rng_state()
    if state.device.type == "cuda":
        found["random.cuda"] = torch.cuda.get_rng_state(state.device)
    # a copy each: safetensors refuses tensors that share memory or lie in another order
    return {
        name: value.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, value in found.items()
    }


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as file:
            card = json.loads((file.metadata() or {}).get("kinhash", "null"))
            if not isinstance(card, dict) or card.get("format") != _FORMAT or card.get("version") != _VERSION:
                raise FormatError(f"{path} is no kinhash checkpoint of version {_VERSION}")
            return card, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict
    except (SafetensorError, OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(
            f"the checkpoint {path} is damaged or truncated ({error}); delete it, and training resumes from the one before"
        ) from error


def _check_config(path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """A run goes on only with the very options it was started with."""
    for name in sorted({*theirs, *ours}):
        was, now = theirs.get(name), ours.get(name)
        if was != now:
            raise TrainingError(
                f"the checkpoint {path} was made with {name} = {was!r}, now it is {now!r}; "
                "resume with the same options, or train into another folder"
            )


def _load_module(module: nn.Module, tensors: dict[str, Tensor], prefix: str) -> None:
    own = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    module.load_state_dict(own)


def _load_optimiser(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    for position, parameter in enumerate(_parameters(optimiser)):
        prefix = f"optimiser.{position}."
        state = {n.removeprefix(prefix): value for n, value in tensors.items() if n.startswith(prefix)}
        on_device = any(group.get("capturable") for group in optimiser.param_groups)
        for key, value in state.items():
            if value.shape == parameter.shape and key != "step":
                value = torch.empty_like(parameter).copy_(value)  # in the parameter's memory order
            elif on_device:
                value = value.to(parameter.device)
            optimiser.state[parameter][key] = value


def _parameters(optimiser: torch.optim.Optimizer) -> list[Tensor]:
    return [p for group in optimiser.param_groups for p in group["params"]]
