"""Where codes live on a GPU: the devices that may be named, and the upload into planes.

Torch is imported inside the functions: searching on a CPU never loads it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from kinhash.errors import InputError, require

ROW_BITS = 40  # a key is `distance << ROW_BITS | row`: sorting keys is sorting by (distance, row)
ROW_MASK = (1 << ROW_BITS) - 1
DISTANCE_BITS = 10
NOTHING = np.iinfo(np.int64).max  # a key after all others
_UPLOAD = 1 << 24  # rows sent to a device at a time


@dataclass(frozen=True)
class Shard:
    """The codes on one device: word w of row i is words[w, i], an int64 tensor."""

    words: Any
    rows: int

    @property
    def width(self) -> int:
        """Words of a code."""
        return int(self.words.shape[0])

    @property
    def bits(self) -> int:
        """Bits that the words hold: the greatest distance there can be."""
        return 64 * self.width


def checked_devices(names: Sequence[object] | None) -> list[Any]:
    """The devices as torch knows them; None means every GPU. A device may be named twice, and the CPU by name."""
    torch = require("torch", "train")
    count = torch.cuda.device_count()
    if names is None:
        if count == 0:
            raise InputError(
                "searching on a GPU needs one that torch can use, and torch sees none: use MultiIndex or Index instead"
            )
        return [torch.device("cuda", number) for number in range(count)]
    if not names:
        raise InputError("an empty list of devices: name at least one, or pass None for all")
    return [_checked_device(name, count) for name in names]


def _checked_device(name: object, count: int) -> Any:
    torch = require("torch", "train")
    try:
        device = torch.device("cuda", name) if isinstance(name, int) else torch.device(str(name))
    except RuntimeError:
        raise InputError(f"{name!r} names no device: write 'cuda:0', 'cuda:1', ...") from None
    if device.type == "cpu":
        return device
    if device.type != "cuda" or (device.index or 0) >= count:
        seen = f"'cuda:0' to 'cuda:{count - 1}'" if count else "none"
        raise InputError(f"{name!r} is none of the {count} GPUs that torch sees ({seen})")
    return torch.device("cuda", device.index or 0)


def has_kernels(device: Any) -> bool:
    """Whether Triton can run there: on a GPU, or anywhere in its interpreter, which is slow and meant for tests."""
    if find_spec("triton") is None:
        return False
    return device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"


def active(shard: Shard) -> contextlib.AbstractContextManager[Any]:
    """Make the shard's device the current one, on which Triton launches."""
    torch = require("torch", "train")
    return torch.cuda.device(shard.words.device) if shard.words.is_cuda else contextlib.nullcontext()


def is_tensor(words: object) -> bool:
    """Whether `words` is a torch tensor, which may already be on a GPU."""
    return type(words).__module__.split(".")[0] == "torch"


def upload(parts: Sequence[Any], device: Any) -> Shard:
    """Copy arrays (n, width) of uint64, or tensors of int64, one after the other into planes on a device."""
    torch = require("torch", "train")
    rows, width = sum(len(part) for part in parts), parts[0].shape[1]
    words = torch.empty((width, -(-rows // 16) * 16), dtype=torch.int64, device=device)
    end = 0
    for part in parts:
        for start in range(0, len(part), _UPLOAD):
            block = part[start : start + _UPLOAD]
            if not is_tensor(block):
                block = torch.from_numpy(np.array(block).view(np.int64))  # a copy: torch wants it writable
            words[:, end : end + len(block)] = block.T.to(device)
            end += len(block)
    return Shard(words, rows)
