"""Whether the kernels are compiled; without the compiler plain NumPy gives the same answers."""

from __future__ import annotations

import os


def compiled() -> bool:
    """False where Numba's compiler is switched off (NUMBA_DISABLE_JIT=1)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
