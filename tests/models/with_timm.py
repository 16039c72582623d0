"""timm for tests, also where torchvision was built for another torch than the one that is installed."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

import pytest
import torch

# operators that torchvision describes when it is imported; no model of timm calls them
_OPERATORS = (
    "nms qnms roi_align _roi_align_backward ps_roi_align _ps_roi_align_backward roi_pool _roi_pool_backward "
    "ps_roi_pool _ps_roi_pool_backward qroi_align deform_conv2d _deform_conv2d_backward"
)
_kept = []


def imported() -> ModuleType:
    """The module; skips the test, saying why, where timm is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module("timm")
        except ImportError as error:
            pytest.skip(f"the extra `timm` is not installed: {error}")
        except RuntimeError:  # operator torchvision::nms does not exist
            library = torch.library.Library("torchvision", "FRAGMENT")
            for name in _OPERATORS.split():
                library.define(f"{name}(Tensor x) -> Tensor")
            _kept.append(library)  # what it declares goes when it goes
            return importlib.import_module("timm")
