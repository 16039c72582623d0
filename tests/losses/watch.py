"""Sees every operation of a forward and backward pass: what it is called and how large its outputs are."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# operations that make a GPU wait for the CPU, and that no CUDA graph can hold
SYNCHRONISING = {
    "_local_scalar_dense",
    "nonzero",
    "is_nonzero",
    "masked_select",
    "equal",
    "unique_consecutive",
}


class Watch(TorchDispatchMode):
    """Names of all operations in `names`, the number of elements of the largest output in `largest`."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self.names.add(func.overloadpacket.__name__.removesuffix("_"))
        for part in out if isinstance(out, tuple | list) else [out]:
            if isinstance(part, torch.Tensor):
                self.largest = max(self.largest, part.untyped_storage().nbytes() // part.element_size())
        return out
