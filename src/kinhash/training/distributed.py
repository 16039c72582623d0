"""The processes that torchrun starts: who this one is, and how their gradients become one."""

from __future__ import annotations

import gc
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn

from kinhash.errors import InputError


@dataclass(frozen=True)
class Place:
    """This process among all; (0, 1) without torchrun."""

    rank: int
    world: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0


@contextmanager
def joined(device: torch.device | str | None = None) -> Iterator[Place]:
    """Join the processes that torchrun started, or stay alone; leaves the group only where it has made it."""
    world, local = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("LOCAL_RANK", 0))
    place = Place(int(os.environ.get("RANK", 0)), world, chosen_device(device, local))
    if place.device.type == "cuda":
        torch.cuda.set_device(place.device)
    starts = world > 1 and not dist.is_initialized()
    if starts:
        dist.init_process_group("nccl" if place.device.type == "cuda" else "gloo")
    try:
        yield place
    except BaseException as error:
        if starts:
            traceback.clear_frames(error.__traceback__)  # they hold what `gc.collect` below is to find
        raise
    finally:
        if starts:
            # a DistributedDataParallel is part of cycles; one that outlives its group keeps the group's threads, and the
            # process aborts when it ends
            gc.collect()
            dist.destroy_process_group()


def chosen_device(device: torch.device | str | None, local: int = 0) -> torch.device:
    """The device asked for, else a GPU if there is one; several processes on a machine take one GPU each."""
    try:
        found = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError as error:
        raise InputError(f"there is no device {device!r}; use 'cpu', 'cuda' or 'cuda:0'") from error
    if found.type == "cuda":
        if not torch.cuda.is_available():
            raise InputError("device 'cuda' was asked for, but torch sees no GPU here; use device='cpu'")
        return found if found.index is not None else torch.device("cuda", local)
    return found


def placed(module: nn.Module, device: torch.device) -> None:
    """Move `module` to the device, convolutions in channels-last order, which tensor cores and CPUs read fastest."""
    module.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]  # missing in torch's stubs


def wrapped(module: nn.Module, place: Place) -> nn.Module:
    """`module` with its gradients averaged over all processes; on GPUs batch norm uses the statistics of all."""
    if place.world == 1:
        return module
    if place.device.type == "cuda":
        module = nn.SyncBatchNorm.convert_sync_batchnorm(module)  # type: ignore[no-untyped-call]
    return nn.parallel.DistributedDataParallel(module)


def wait_for_all(place: Place) -> None:
    """No process goes on before all are here."""
    if place.world > 1:
        dist.barrier()
