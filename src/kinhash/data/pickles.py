"""Reads a pickle of plain values and numpy arrays, and nothing else: any other content is refused, not run."""

from __future__ import annotations

import codecs
import io
import pickle
from typing import Any

import numpy as np

from kinhash.errors import FormatError

# what the pickle of an array of numbers calls, under numpy's old and new module names
_RECONSTRUCT = np.zeros(0).__reduce__()[0]
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): codecs.encode,
}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise FormatError(f"the pickle asks for {module}.{name}, which no plain data need: it is refused")
        return _ALLOWED[module, name]


def load_plain_pickle(data: bytes, name: str) -> dict[bytes, Any]:
    """The dictionary in `data`; text keys are bytes, as Python 2 wrote them. `name` is for error messages."""
    try:
        value = _PlainUnpickler(io.BytesIO(data), encoding="bytes").load()
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from error
    except Exception as error:  # a damaged pickle may raise anything
        raise FormatError(f"{name} is no readable pickle: {error!r}") from error
    if not isinstance(value, dict):
        raise FormatError(f"{name} holds a {type(value).__name__} instead of a dictionary")
    return {key.encode() if isinstance(key, str) else key: part for key, part in value.items()}
