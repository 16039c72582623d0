"""kinhash: short binary codes whose Hamming distance follows meaning, and the exact search over them.

Public names are loaded on first use, so `import kinhash` costs nothing and searching never imports torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> the module that defines it
_PUBLIC = {
    "Codes": "kinhash.codes",
    "KinhashError": "kinhash.errors",
}

__all__ = ["Codes", "KinhashError", "__version__"]

if TYPE_CHECKING:
    from kinhash.codes import Codes
    from kinhash.errors import KinhashError


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'kinhash' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
