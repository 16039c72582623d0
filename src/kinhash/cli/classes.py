"""`kinhash classes`: a table of what class names may mean, for a person to choose from, and a check of the choice."""

from __future__ import annotations

from pathlib import Path

import click

from kinhash.cli.talk import json_option, print_json
from kinhash.errors import FormatError, InputError, NotFoundError


@click.group()
def command() -> None:
    """Say which WordNet synset each class name means: write candidates, choose, check.

    The first sense of a word is wrong for many class names (otter: the fur), so nothing is chosen silently.
    """


@command.command()
@click.argument("names", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="The table to write.  [default: NAMES with .senses.csv]"
)
@click.option(
    "--force", is_flag=True, help="Write over a table that exists, and over the choices made in it."
)
@json_option
def suggest(names: Path, out: Path | None, force: bool, as_json: bool) -> None:
    """Write a csv table of the meanings that the names in the file NAMES (one per line) may have.

    Put an x into `choice` for one row of every name, then pass the table to kh.semantics("wordnet", names, table=...).
    `fit` rates how similar a meaning is to those of the other names: a hint, not a choice.
    """
    from kinhash.meaning.senses import candidates
    from kinhash.meaning.tables import write_candidates
    from kinhash.meaning.wordnet import load_wordnet

    out = out or names.with_suffix(".senses.csv")
    if out.exists() and not force:
        raise InputError(f"{out} exists and may hold choices; name another file with --out, or pass --force")
    wanted = read_names(names)
    wordnet = load_wordnet()
    found = candidates(wordnet, wanted)
    write_candidates(out, wordnet, found)
    certain = {candidate.name for candidate in found if candidate.certain}
    unknown = [candidate.name for candidate in found if candidate.synset is None]
    if as_json:
        print_json(
            {"table": str(out), "names": len(wanted), "chosen": len(certain), "without_candidates": unknown}
        )
        return
    click.echo(f"{out}: {len(found)} candidates for {len(wanted)} names")
    click.echo(f"chosen, since the word has one meaning: {len(certain)}")
    click.echo(f"to be chosen by you: {len(wanted) - len(certain) - len(unknown)}")
    if unknown:
        click.echo(f"without any candidate: {', '.join(unknown)}")
    click.echo(f"then: kinhash classes check {out}")


@command.command()
@click.argument("table", type=click.Path(path_type=Path))
@json_option
def check(table: Path, as_json: bool) -> None:
    """Check that TABLE chooses exactly one existing synset for every name, and list what it chooses."""
    from kinhash.meaning.tables import problems, read_sense_rows, read_table, unknown_synsets
    from kinhash.meaning.wordnet import load_wordnet

    rows = read_sense_rows(table)
    wordnet = load_wordnet()
    wrong = [*problems(rows), *unknown_synsets(wordnet, rows)]
    for sentence in wrong:
        click.echo(sentence, err=True)
    if wrong:
        raise FormatError(
            f"{table} is not finished: {len(wrong)} {'thing' if len(wrong) == 1 else 'things'} to do"
        )
    chosen = {name: wordnet.synset(key) for name, key in read_table(table).items()}
    if as_json:
        print_json({"table": str(table), "classes": {name: synset.name for name, synset in chosen.items()}})
        return
    for name, synset in chosen.items():
        click.echo(f"{name}: {synset.name} {synset.wnid}, {synset.gloss.split(';')[0]}")
    for name, other in _same(list(chosen), [synset.name for synset in chosen.values()]):
        click.echo(f"note: {name!r} and {other!r} mean the same synset; their distance is 0")
    click.echo(f"{table}: {len(chosen)} classes, all chosen")


@command.command()
@click.argument("names")
@click.option("--table", help="What names mean, a csv file of `kinhash classes suggest`.")
@json_option
def texts(names: str, table: str | None, as_json: bool) -> None:
    """List the sentences that --semantics sentences reads for the classes NAMES: a file, or a bundled table.

    Ids of ImageNet, synsets, names in a table and those of CIFAR-100 stand for WordNet's definition; others for themselves.
    """
    from kinhash.meaning.glosses import class_texts
    from kinhash.meaning.tables import TABLES

    described = class_texts(names if names in TABLES else read_names(Path(names)), table)
    if as_json:
        print_json({"texts": dict(described)})
        return
    for name, text in described.items():
        click.echo(f"{name}: {text}")


def read_names(path: Path) -> list[str]:
    """Class names, one per line."""
    try:
        names = [line.strip() for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}; write one class name per line into it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} cannot be read as a text of class names: {error}") from error
    if not names:
        raise InputError(f"{path} holds no names; write one class name per line")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InputError(
            f"{path}: {min(twice)!r} is given {names.count(min(twice))} times; class names must be unique"
        )
    return names


def _same(names: list[str], synsets: list[str]) -> list[tuple[str, str]]:
    """Pairs of names whose synset is the same."""
    first: dict[str, str] = {}
    return [
        (first[key], name)
        for name, key in zip(names, synsets, strict=True)
        if first.setdefault(key, name) != name
    ]
