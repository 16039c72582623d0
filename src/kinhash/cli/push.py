"""`kinhash push`: an encoder to the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path

import click

from kinhash.cli.talk import json_option, print_json


@click.command()
@click.argument("encoder", type=click.Path(path_type=Path))
@click.argument("repository", metavar="USER/NAME")
@click.option(
    "--private", is_flag=True, help="Make the repository a private one, where it does not exist yet."
)
@click.option("--message", default="An encoder of kinhash", show_default=True, help="What the commit says.")
@json_option
def command(encoder: Path, repository: str, private: bool, message: str, as_json: bool) -> None:
    """Send ENCODER, a folder, to USER/NAME on the Hugging Face Hub.

    Its card README.md goes along: say licence and data in it first. `hf auth login` or HF_TOKEN says who you are.
    """
    import kinhash as kh

    address = kh.push(encoder, repository, private=private, message=message)
    if as_json:
        print_json({"encoder": str(encoder), "address": address})
        return
    click.echo(f"{encoder} is at {address}")
