"""How commands speak: results on stdout, everything else on stderr, warnings as one line each."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kinhash.data.images import Broken


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings as sentences on stderr, without the line of code that gave them; of broken pictures every one."""
    from kinhash.data.images import BrokenPictureWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", BrokenPictureWarning)
        warnings.filterwarnings("ignore", module="PIL")  # about damage that pictures are read in spite of
        warnings.showwarning = lambda message, *_, **__: click.echo(f"kinhash: {message}", err=True)
        yield


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as json.")
quiet_option = click.option("--quiet", is_flag=True, help="No progress bar.")
device_option = click.option("--device", help="cpu, cuda, cuda:1 ...  [default: a GPU where there is one]")


def tell_left_out(broken: Sequence[Broken]) -> list[dict[str, str]]:
    """Name on stderr what could not be read; the same for json."""
    for picture in broken:
        click.echo(f"kinhash: left out {picture.id}: {picture.reason}", err=True)
    return [{"id": picture.id, "reason": picture.reason} for picture in broken]


def print_json(card: dict[str, Any]) -> None:
    """One json object on stdout."""
    click.echo(json.dumps(card, indent=1, allow_nan=False))


def counted(number: int, what: str) -> str:
    """'1 item', '2 items'."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def example(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Lines at the end of a command's help, as they stand."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__doc__ = f"{function.__doc__}\n\n    \b\n    Examples:\n" + "\n".join(
            f"      {line}" for line in text.strip().splitlines()
        )
        return function

    return add
