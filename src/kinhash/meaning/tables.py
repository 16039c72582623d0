"""Class tables: those inside the package, and csv files in which a person has chosen a synset for every name.

A table has the columns `name` and `synset` (a synset name or an id). Where it has a column `choice`, only the rows
with something in it count. Every name needs exactly one row that counts.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from kinhash.errors import FormatError, InputError, NotFoundError, StorageError, UnknownClassError
from kinhash.meaning.senses import Candidate, path_text
from kinhash.meaning.wordnet import WordNet

TABLES = ("cifar100", "ilsvrc2012", "imagenet21k", "tiny-imagenet")
COLUMNS = ("name", "choice", "synset", "wnid", "fit", "warning", "gloss", "path")
_RESOURCES = files("kinhash.meaning") / "resources"


@dataclass(frozen=True)
class ClassTable:
    """Names of classes in the order of their numbers, and the synset or id that each means."""

    names: tuple[str, ...]
    synsets: dict[str, str]


@cache
def class_table(name: str) -> ClassTable:
    """One of the tables inside the package.

    "cifar100": 100 names, synsets checked by hand. The others are ids, ascending, which is the order of the class
    numbers: "ilsvrc2012" (1,000), "imagenet21k" (21,841; it lacks n04399382 of ILSVRC), "tiny-imagenet" (200).
    """
    if name not in TABLES:
        raise InputError(f"the class tables are {', '.join(map(repr, TABLES))}; got {name!r}")
    if name == "cifar100":
        synsets = read_table(Path(str(_RESOURCES / "cifar100.csv")))
        return ClassTable(tuple(synsets), synsets)
    with np.load(str(_RESOURCES / "wnids.npz")) as arrays:
        wnids = tuple(f"n{offset:08d}" for offset in np.cumsum(arrays[name]))
    return ClassTable(wnids, {wnid: wnid for wnid in wnids})


def bundled_table(classes: object, names: Sequence[str]) -> ClassTable | None:
    """The table asked for by name, or the hand-checked one where the names are exactly those of CIFAR-100."""
    if isinstance(classes, str):
        return class_table(classes)
    return class_table("cifar100") if set(names) == set(class_table("cifar100").names) else None


def meanings(
    table: str | Path | Mapping[str, str] | None, wordnet: WordNet | None = None
) -> Mapping[str, str]:
    """name -> synset or node; a file for `wordnet` must agree with it."""
    if table is None or isinstance(table, Mapping):
        return table or {}
    if not isinstance(table, str | Path):
        raise InputError(f"a table is a csv file, a bundled table or a mapping; got {table!r:.60}")
    return class_table(str(table)).synsets if str(table) in TABLES else read_table(table, wordnet)


def read_table(path: str | Path, wordnet: WordNet | None = None) -> dict[str, str]:
    """name -> synset or id of a csv table; the first thing wrong with it, or not so in `wordnet`, is an error."""
    rows = read_sense_rows(Path(path))
    wrong = [*problems(rows), *(unknown_synsets(wordnet, rows) if wordnet is not None else [])]
    if wrong:
        more = (
            f" ({len(wrong) - 1} more: `kinhash classes check {path}` lists them)" if len(wrong) > 1 else ""
        )
        raise FormatError(f"{path}: {wrong[0]}{more}")
    return {row["name"]: row["synset"] for row in rows if _counts(row)}


def read_sense_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a csv table, blanks around values removed."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines, restval="")
            missing = {"name", "synset"} - set(reader.fieldnames or ())
            if missing:
                raise FormatError(
                    f"{path} has no column {sorted(missing)[0]!r}; a table needs `name` and `synset`"
                )
            return [{key: (value or "").strip() for key, value in row.items() if key} for row in reader]
    except FileNotFoundError:
        raise NotFoundError(f"there is no table {path}; `kinhash classes suggest` writes one") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} is not a csv table in UTF-8: {error}") from error
    except OSError as error:
        raise NotFoundError(f"the table {path} cannot be read: {error}") from error


def problems(rows: Sequence[dict[str, str]]) -> list[str]:
    """One sentence for every name that has not exactly one row that counts, or whose row has no synset."""
    if not rows:
        return ["the table has no rows"]
    wrong = []
    for name in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == name]
        chosen = [row for row in own if _counts(row)]
        if not name:
            wrong.append(f"{len(own)} rows have no name; fill in `name` or remove them")
        elif not chosen and not any(row["synset"] for row in own):
            wrong.append(
                f"{name!r} has no candidate; fill in `synset` by hand, such as 'cat.n.01', and mark the row with x"
            )
        elif not chosen:
            wrong.append(
                f"nothing is chosen for {name!r}; mark one of its {len(own)} rows with x in `choice`"
            )
        elif len(chosen) > 1:
            keys = ", ".join(row["synset"] or "(empty)" for row in chosen)
            wrong.append(f"{name!r} has {len(chosen)} rows that count ({keys}); leave one")
        elif not chosen[0]["synset"]:
            wrong.append(f"the row of {name!r} has no synset; fill in a name like 'cat.n.01' or an id")
    return wrong


def unknown_synsets(wordnet: WordNet, rows: Sequence[dict[str, str]]) -> list[str]:
    """One sentence for every chosen synset that WordNet does not have, or that contradicts the id beside it."""
    wrong = []
    for row in rows:
        if not (_counts(row) and row["synset"]):
            continue
        try:
            wnid = wordnet.wnid(wordnet.position(row["synset"]))
        except UnknownClassError as error:
            wrong.append(f"{row['name']!r}: {error}")
            continue
        if row.get("wnid") and row["wnid"] != wnid:
            wrong.append(
                f"{row['name']!r}: {row['synset']} is {wnid}, but `wnid` says {row['wnid']}; fix one of them"
            )
    return wrong


def write_candidates(path: Path, wordnet: WordNet, found: Sequence[Candidate]) -> None:
    """The table that a person edits: one row per candidate, the only sense of a word chosen already."""
    try:
        lines = path.open("w", newline="", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write the table {path}: {error}") from error
    with lines:
        writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for candidate in found:
            synset = candidate.synset
            writer.writerow(
                {
                    "name": candidate.name,
                    "choice": "x" if candidate.certain else "",
                    "synset": synset.name if synset else "",
                    "wnid": synset.wnid if synset else "",
                    "fit": "" if math.isnan(candidate.fit) else f"{candidate.fit:.2f}",
                    "warning": candidate.warning,
                    "gloss": synset.gloss if synset else "",
                    "path": path_text(wordnet, synset) if synset else "",
                }
            )


def _counts(row: dict[str, str]) -> bool:
    return bool(row.get("choice", "x"))
