"""A device by name, or the best there is."""

from __future__ import annotations

import pytest
import torch

from kinhash.errors import InputError
from kinhash.models.device import chosen_device


def test_devices() -> None:
    assert chosen_device("cpu").type == "cpu"
    with pytest.raises(InputError, match="no device 'toaster'"):
        chosen_device("toaster")
    if not torch.cuda.is_available():
        assert chosen_device(None).type == "cpu"
        with pytest.raises(InputError, match="no GPU here; use device='cpu'"):
            chosen_device("cuda")
