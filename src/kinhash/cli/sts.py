"""`kinhash sts`: `kh.sts` as a table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from kinhash.cli.talk import json_option, print_json


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    default=("minilm",),
    show_default=True,
    help="minilm, a folder, or a name on the Hugging Face hub; may be given several times.",
)
@click.option("--split", default="test", show_default=True, help="Which SPLIT.tsv of a folder.")
@json_option
def command(path: Path, encoders: tuple[str, ...], split: str, as_json: bool) -> None:
    """Rank correlation with people who rated how alike two sentences are: PATH is a tsv file, or the folder of STSbenchmark.

    Beside every encoder: its vectors cut short and as bits, and likeness by shared words. 95 % of bootstrap samples lie in
    the interval after Spearman's rho.
    """
    import kinhash as kh

    scores = kh.sts(path, encoders, split=split)
    if as_json:
        print_json({"path": str(path), "rows": [asdict(score) for score in scores]})
        return
    width = max(len(score.name) for score in scores)
    click.echo(f"{'':{width}}  bytes  Spearman  [95 %]         Kendall")
    for score in scores:
        size = "-" if score.bytes is None else str(score.bytes)
        between = f"[{score.low:.4f}, {score.high:.4f}]"
        click.echo(f"{score.name:{width}}  {size:>5}  {score.spearman:8.4f}  {between}  {score.kendall:7.4f}")
