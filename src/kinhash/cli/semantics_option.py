"""`--semantics` on the command line: the texts that `kinhash.semantics` takes, files, or what an encoder carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kinhash.cards.names import CARD
from kinhash.errors import InputError

if TYPE_CHECKING:
    from kinhash.meaning.semantics import Semantics

SPEC_HELP = (
    "wordnet, sentences (embeddings of the classes' glosses; sentences:ENCODER: by another encoder than minilm), "
    "tree:FILE (lines `parent child`), tree:cifar100, labels (no class is nearer than another), "
    "FILE.npy (a matrix of distances, or with --metric embeddings of the classes), or the folder of an encoder"
)


def semantics_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--measure, --variant, --table, --metric: the options of kh.semantics."""
    for option in (
        click.option(
            "--metric",
            type=click.Choice(["manhattan", "cosine"]),
            help="FILE.npy holds embeddings. Also of sentences.",
        ),
        click.option(
            "--table",
            help="wordnet, sentences, tree: what class names mean, a csv file of `kinhash classes suggest`.",
        ),
        click.option("--variant", type=click.Choice(["symmetric", "nltk", "barz"]), help="Of the measure."),
        click.option(
            "--measure", type=click.Choice(["wup", "lcs"]), help="wordnet, tree: how likeness is taken."
        ),
    ):
        command = option(command)
    return command


def named_semantics_option(about: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--semantics [NAME=]SPEC, as often as one likes: what `read_named_semantics` takes."""
    return click.option(
        "--semantics", "specs", multiple=True, metavar="[NAME=]SPEC", help=f"{SPEC_HELP}; {about}"
    )


def read_semantics(spec: str, classes: Sequence[str], options: dict[str, Any]) -> Semantics:
    """The `Semantics` of `classes` that `spec` describes; `options` that are None count as not given."""
    import kinhash as kh
    from kinhash.data.embeddings import load_array

    given = {name: value for name, value in options.items() if value is not None}
    path = Path(spec)
    if (path / CARD).is_file():
        if given:
            raise InputError(f"the semantics of {path} are finished: --{min(given)} cannot change them")
        return _of_encoder(path)
    if path.suffix == ".npy":
        return kh.semantics(load_array(path), classes, **given)
    return kh.semantics(spec, list(classes), **given)


def read_named_semantics(
    specs: Sequence[str], classes: Sequence[str], options: dict[str, Any]
) -> dict[str, Semantics]:
    """Several of the form NAME=SPEC; one without a name is called `sim`."""
    if len(specs) > 1 and any(options.values()):
        raise InputError("--measure, --variant, --table and --metric concern one --semantics, got several")
    found: dict[str, Semantics] = {}
    for spec in specs:
        name, equals, rest = spec.partition("=")
        key, what = (name, rest) if equals and name.isidentifier() else ("sim", spec)
        if key in found:
            raise InputError(f"two semantics are called {key!r}: write NAME=SPEC with a name for each")
        found[key] = read_semantics(what, classes, options)
    return found


def _of_encoder(path: Path) -> Semantics:
    """The semantics card of an encoder, without loading its network."""
    from kinhash.cards.encoder_card import read_card
    from kinhash.meaning.semantics import Semantics

    card = read_card(path).get("semantics")
    if card is None:
        raise InputError(f"{path} carries no semantics: it was trained on target vectors; name others")
    return Semantics.from_card(card)
