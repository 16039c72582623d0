"""`kinhash methods`: what can be trained, by which paper and formula."""

from __future__ import annotations

import click

from kinhash.cli.talk import json_option, print_json


@click.command()
@json_option
def command(as_json: bool) -> None:
    """List the methods for `kinhash train --method`, with paper, year, formula and what they retrieve with.

    Floats are compared by the metric beside them; what a method needs beyond pictures or embeddings is in the json, with the
    parameters that `--set NAME=VALUE` changes.
    """
    from kinhash.methods import METHODS

    if as_json:
        print_json({name: method.card() for name, method in METHODS.items()})
        return
    rows = [
        (name, method.paper, str(method.year), method.retrieval(name).shown, method.formula)
        for name, method in METHODS.items()
    ]
    titles = ("method", "paper", "year", "retrieves", "formula")
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles) - 1)]
    for row in [titles, *rows]:
        click.echo(
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        )
