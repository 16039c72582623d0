"""`kinhash info`: what a folder is."""

from __future__ import annotations

from pathlib import Path

import click

from kinhash.cli.talk import example, json_option, print_json


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@json_option
@example("""
kinhash info runs/photos/encoder
kinhash info ~/Pictures --json
""")
def command(path: Path, as_json: bool) -> None:
    """Say what the folder PATH is: an encoder, an index, codes, a training, or photos with their index.

    With bits, sizes, semantics, metrics and versions, as far as they are known. Checksums are checked on the way.
    """
    import kinhash as kh

    found = kh.info(path)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo(str(found))
