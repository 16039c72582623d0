"""`kinhash evaluate`: `kh.evaluate` on codes and labels in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kinhash.cli.classes import read_names
from kinhash.cli.evaluate_labels import classes_of, positions_in, read_with_labels
from kinhash.cli.semantics_option import named_semantics_option, read_named_semantics, semantics_options
from kinhash.cli.talk import json_option, print_json
from kinhash.errors import InputError

if TYPE_CHECKING:
    from kinhash.meaning.semantics import Semantics

_DISTANCES = ("manhattan", "cosine")


@click.command()
@click.argument("codes", type=click.Path(path_type=Path))
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    help="A class name or number per line, or FILE.npy with target vectors.  [default: those beside CODES]",
)
@named_semantics_option(
    "several get names: wup=wordnet lcs=tree:FILE. For target vectors: manhattan or cosine."
)
@click.option(
    "--classes",
    type=click.Path(path_type=Path),
    help="Class names, one per line, in the order of the rows of FILE.npy.",
)
@semantics_options
@click.option(
    "--database", type=click.Path(path_type=Path), help="Codes to be searched, in place of the queries."
)
@click.option("--database-labels", type=click.Path(path_type=Path), help="As --labels, of the database.")
@click.option("-k", "--k", default=250, show_default=True, help="How many neighbours count.")
@click.option("--ties", type=click.Choice(["expected", "stable"]), default="expected", show_default=True)
@click.option("--formula", type=click.Choice(["corrected", "legacy"]), default="corrected", show_default=True)
@click.option(
    "--distance", type=click.Choice(["l1", "l2", "dot"]), default="l1", show_default=True, help="Of vectors."
)
@click.option("--radius", default=2, show_default=True, help="For the precision within a Hamming radius.")
@click.option(
    "--hits", type=int, multiple=True, help="Cutoffs K of hit@K.  [default: 1 2 5 10 20, as far as k reaches]"
)
@click.option("--name", default="", help="Title of the report.")
@click.option("--threads", type=int, help="[default: all cores]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Also write it, as .json, .md, or .png.",
)
@json_option
def command(
    codes: Path,
    labels: Path | None,
    specs: tuple[str, ...],
    classes: Path | None,
    database: Path | None,
    database_labels: Path | None,
    distance: str,
    hits: tuple[int, ...],
    out: tuple[Path, ...],
    as_json: bool,
    measure: str | None,
    variant: str | None,
    table: str | None,
    metric: str | None,
    **options: Any,
) -> None:
    """Report how well CODES keep meaning: a folder that `kinhash encode` wrote, or an npy file of vectors.

    Every code is a query against all others, or against --database. Without --semantics only classes count.
    """
    import kinhash as kh

    things, own = read_with_labels(codes, labels)
    others, theirs = (None, None) if database is None else read_with_labels(database, database_labels)
    if database is None and database_labels is not None:
        raise InputError("--database-labels belong to a --database")
    choices = {"measure": measure, "variant": variant, "table": table, "metric": metric}
    semantics: dict[str, Semantics] | str | None
    if own.ndim == 2:
        semantics, targets, found = _distance_of_vectors(specs, choices), own, theirs
    else:
        used = classes_of(own, theirs)
        targets = positions_in(used, own)
        found = None if theirs is None else positions_in(used, theirs)
        semantics = _of_classes(specs, None if classes is None else read_names(classes), used, choices)
    report = kh.evaluate(
        things,
        targets,
        semantics=semantics,
        database=others,
        database_labels=found,
        metric=distance,
        hits=hits or None,
        **options,
    )
    for path in out:
        if path.suffix == ".png":
            kh.plot_curves([report], path)
        else:
            report.save(path)
    if as_json:
        card = report.to_dict()
        print_json({key: card[key] for key in ("name", "protocol", "metrics")})
        return
    click.echo(str(report))


def _of_classes(
    specs: tuple[str, ...], names: list[str] | None, classes: list[str], choices: dict[str, Any]
) -> dict[str, Semantics] | None:
    """The semantics by name; one without a name is called `sim`."""
    found = read_named_semantics(specs, names or classes, choices)
    return {name: one.take(classes) for name, one in found.items()} or None


def _distance_of_vectors(specs: tuple[str, ...], choices: dict[str, Any]) -> str | None:
    if any(choices.values()) or len(specs) > 1 or not set(specs) <= set(_DISTANCES):
        raise InputError(
            "the labels are target vectors: --semantics is manhattan or cosine, without further options"
        )
    return specs[0] if specs else None
