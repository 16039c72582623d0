"""`kinhash pull`: an encoder from the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path

import click

from kinhash.cli.talk import json_option, print_json


@click.command()
@click.argument("repository", metavar="USER/NAME[@REVISION]")
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def command(repository: str, folder: Path, as_json: bool) -> None:
    """Fetch an encoder from the Hugging Face Hub into FOLDER.

    Only its card and its weights are fetched, nothing is executed, and weights that do not match their checksum are refused.
    """
    import kinhash as kh

    kh.pull(repository, folder)
    found = kh.info(folder)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo(str(found))
