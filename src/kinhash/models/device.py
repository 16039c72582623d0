"""Where a network computes."""

from __future__ import annotations

import torch

from kinhash.errors import InputError


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
