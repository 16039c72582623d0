"""How commands speak: results on stdout, everything else on stderr, warnings as one line each."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings as sentences on stderr, without the line of code that gave them; of broken pictures every one."""
    from kinhash.data.images import BrokenPictureWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", BrokenPictureWarning)
        warnings.showwarning = lambda message, *_, **__: click.echo(f"kinhash: {message}", err=True)
        yield


def leads() -> bool:
    """Whether this process speaks: of those that torchrun starts, the first alone."""
    return int(os.environ.get("RANK", "0")) == 0


def print_json(card: dict[str, Any]) -> None:
    """One json object on stdout."""
    click.echo(json.dumps(card, indent=1, allow_nan=False))
