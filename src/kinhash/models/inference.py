"""Runs a module over all of a split, batch by batch, in evaluation mode and without gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kinhash.bar import bar
from kinhash.data.decoding import Decoder
from kinhash.data.images import Broken
from kinhash.data.preprocessing import Preprocessing
from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.feeding.normalising import normalise

Progress = bool | Callable[[int, int], Any]
Function = Callable[[Tensor], Tensor]


def batches(
    split: Split, preprocessing: Preprocessing | None, batch: int, broken: list[Broken], workers: int = 0
) -> Iterator[tuple[NDArray[np.int64], Tensor]]:
    """Positions and contents, uint8 (b, S, S, 3) or float32 (b, d); what cannot be read is added to `broken`."""
    if batch < 1:
        raise InputError(f"a batch has at least one row, got {batch}")
    starts = range(0, len(split), batch)
    if preprocessing is None:
        vectors = _vectors(split)
        for i in starts:
            part = vectors[i : i + batch]
            yield np.arange(i, i + len(part)), torch.from_numpy(part.copy())
        return
    images = split.images
    if images is None:
        raise InputError("this takes pictures, and the split holds embeddings only")
    if isinstance(images, np.ndarray):
        for i in starts:
            pictures = preprocessing.pictures(images[i : i + batch])
            yield np.arange(i, i + len(pictures)), torch.from_numpy(np.array(pictures))
        return
    decoder = Decoder(preprocessing, workers)
    try:
        requests = ((images[i : i + batch], split.ids[i : i + batch], None) for i in starts)
        for i, decoded in zip(starts, decoder.batches(requests), strict=True):
            broken += decoded.broken
            if len(decoded.positions):
                yield decoded.positions + i, torch.from_numpy(decoded.pictures)
    finally:
        decoder.close()


def run(
    module: nn.Module,
    function: Function,
    split: Split,
    preprocessing: Preprocessing | None,
    *,
    batch: int = 256,
    flip: bool = False,
    half: bool = False,
    workers: int = 0,
    progress: Progress = False,
    broken: list[Broken],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Positions and `function(x)` of every batch; `flip` averages over each picture and its mirror image."""
    device = device_of(module)
    if flip and preprocessing is None:
        raise InputError("only pictures can be flipped: this takes embeddings")
    was_training = module.training
    module.eval()
    try:
        with shown(progress, len(split)) as advance:
            for positions, content in batches(split, preprocessing, batch, broken, workers):
                x = content.to(device, non_blocking=True)
                yield positions, _output(function, x, preprocessing, flip, half)
                advance(len(positions))
    finally:
        module.train(was_training)


def device_of(module: nn.Module) -> torch.device:
    """Where a module's numbers are; one without any is on the CPU."""
    return next((p.device for p in chain(module.parameters(), module.buffers())), torch.device("cpu"))


def stacked(
    parts: Iterable[tuple[NDArray[np.int64], NDArray[np.float32]]], width: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """What `run` yields as two arrays: (n,) positions and (n, width) values."""
    listed = list(parts)
    positions = np.concatenate([np.empty(0, np.int64), *(at for at, _ in listed)])
    return positions, np.concatenate([np.empty((0, width), np.float32), *(values for _, values in listed)])


@torch.inference_mode()
def _output(
    function: Function, x: Tensor, preprocessing: Preprocessing | None, flip: bool, half: bool
) -> NDArray[np.float32]:
    with torch.autocast(x.device.type, torch.bfloat16, enabled=half):
        if preprocessing is not None:
            x = normalise(preprocessing, x)
        y = function(x).float()
        if flip:
            y = (y + function(x.flip(3)).float()) / 2
    return y.cpu().numpy()


def _vectors(split: Split) -> NDArray[np.float32]:
    if split.vectors is None:
        raise InputError(
            "this takes embeddings, and the split holds pictures: compute features of them first, or put the "
            "backbone that made the embeddings in front"
        )
    return split.vectors


@contextmanager
def shown(progress: Progress, total: int, what: str = "pictures") -> Iterator[Callable[[int], None]]:
    """A function to call with the number of rows just done; it draws a bar, tells the caller, or does nothing."""
    if progress is True:
        with bar(what, total) as advance:
            yield advance
        return
    done = 0

    def tell(count: int) -> None:
        nonlocal done
        done += count
        if callable(progress):
            progress(done, total)

    yield tell
