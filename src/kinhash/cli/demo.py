"""`kinhash demo`: the whole way on the pictures that ship with the package."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import click

from kinhash.cli.talk import json_option, print_json, quiet_option


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("demo-output"),
    show_default=True,
    help="Folder to fill; the output of an earlier demo in it is replaced.",
)
@click.option("--bits", default=64, show_default=True, help="Length of the codes.")
@click.option("--seed", default=0, show_default=True, help="Of the training.")
@quiet_option
@json_option
def command(out: Path, bits: int, seed: int, quiet: bool, as_json: bool) -> None:
    """From bundled pictures to codes, their evaluation, an index and three searches, in minutes on a laptop.

    100 classes of CIFAR-100: a hash head is trained on 22 pictures of each, and scored on 10 others of each.
    """
    # threads of OpenMP that spin while they wait take a busy laptop's cores from each other: many times the work for nothing
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is loaded, which happens below

    from kinhash.demo.needs import check_needs

    check_needs()
    from kinhash.demo.run import run_demo

    say = (lambda line: None) if as_json else click.echo
    outcome = run_demo(out, bits=bits, seed=seed, progress=not quiet and sys.stderr.isatty(), say=say)
    if as_json:
        print_json({"out": str(out), **dataclasses.asdict(outcome)})
