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

from kinhash.models.device import chosen_device


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


def leads() -> bool:
    """Whether this process speaks and writes: of those that torchrun starts, the first alone."""
    return _rank() == 0


def _rank() -> int:
    return int(os.environ.get("RANK", 0))


@contextmanager
def joined(device: torch.device | str | None = None) -> Iterator[Place]:
    """Join the processes that torchrun started, or stay alone; leaves the group only where it has made it."""
    world, local = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("LOCAL_RANK", 0))
    place = Place(_rank(), world, chosen_device(device, local))
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
