"""What can go wrong, as exceptions whose message says what, where, and what to do.

Every error that kinhash raises on purpose derives from `KinhashError`; most also derive from the built-in
exception that a Python programmer would expect, so `except ValueError` keeps working.
"""

from __future__ import annotations

import importlib
from types import ModuleType


class KinhashError(Exception):
    """Base of all errors raised on purpose by kinhash."""


class InputError(KinhashError, ValueError):
    """A value, shape, dtype or option that cannot be used."""


class UnknownClassError(InputError):
    """A class name or synset id that the semantics does not contain."""


class AmbiguousClassError(InputError):
    """A class name with several meanings and no table that chooses one."""


class TaxonomyError(InputError):
    """A hierarchy that is cyclic, empty, without a single root, or otherwise not usable."""


class FormatError(KinhashError, ValueError):
    """A file that is damaged, truncated, or of another kind or version."""


class NotFoundError(KinhashError, KeyError):
    """An id, file or command that does not exist."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0]) if self.args else ""


class StorageError(KinhashError, OSError):
    """The disk said no: permissions, space, or a lock held by another process."""


class ServerError(KinhashError, ConnectionError):
    """A server that cannot be reached, is too busy, or does not let the client in."""


class TrainingError(KinhashError, RuntimeError):
    """Training cannot start or go on."""


class MissingDependencyError(KinhashError, ImportError):
    """An optional package is not installed; the message holds the pip line."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional `module`, or say which extra of kinhash brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingDependencyError(
            f"this needs the package {package!r}, which could not be imported ({error}). "
            f"Install it with: pip install 'kinhash[{extra}]'"
        ) from error


def explained(error: ModuleNotFoundError) -> MissingDependencyError | None:
    """What to install, where the import that failed was one of the extra `train`; None for any other."""
    if error.name not in ("torch", "safetensors"):
        return None
    return MissingDependencyError(
        f"this needs the package {error.name!r}, which is not installed. Install it with: pip install 'kinhash[train]'"
    )
