"""Pictures of seen and of unseen classes, and what is known of classes without any picture."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pictures
import zeroshot_split
from numpy.typing import NDArray
from rival_data import of_classes
from zeroshot_split import WnidSplit

import kinhash as kh
from kinhash.arrays import unit_rows
from kinhash.data.splits import Dataset, Split
from kinhash.files import replacing
from kinhash.meaning.class_embeddings import class_embeddings
from kinhash.meaning.glosses import class_texts

Floats = NDArray[np.float64]
SOURCES = ("hierarchy", "glosses", "both")
_QUERIES = 0.2  # share of a folder's pictures that ask, where it has no part of its own for it
_MOST_DIMENSIONS = 512  # of a hierarchy's embedding


@dataclass(frozen=True)
class Parts:
    """Labels of `train` and `val` count the seen classes, those of `database` and `queries` the unseen ones."""

    train: Split  # what is learned from
    val: Split  # other pictures of the seen classes
    database: Split  # the training part of the unseen classes
    queries: Split  # the validation part of the unseen classes

    def items(self) -> list[tuple[str, Split]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self)]


def split_of(options: argparse.Namespace) -> WnidSplit:
    """Of Tiny-ImageNet the committed one; of a folder the two lists given."""
    if options.data == "tiny-imagenet":
        return zeroshot_split.read(zeroshot_split.TINY)
    if options.seen is None or options.unseen is None:
        raise SystemExit("--data folder needs --seen FILE and --unseen FILE, WordNet ids, one a line")
    return zeroshot_split.listed(options.seen.read_text().split(), options.unseen.read_text().split())


def load(options: argparse.Namespace) -> Dataset:
    """Small pictures are decoded once; those of a folder stay files."""
    if options.data == "tiny-imagenet":
        return pictures.load(options.data, options.root, options.work)
    data = kh.dataset("folder", root=options.root)
    if len(data.test):
        return data
    return Dataset(data.name, *data.train.divide(_QUERIES), data.classes)


def parts_of(data: Dataset, split: WnidSplit) -> Parts:
    """The four parts, classes ascending as in the lists; those in neither list are left out."""
    missing = sorted({*split.seen, *split.unseen} - set(data.classes))
    if missing:
        raise SystemExit(f"there are no pictures of {missing[0]} ({len(missing)} classes of the lists)")
    names = np.array(data.classes)
    assert list(data.classes) == sorted(data.classes), "labels and class vectors are in one order"
    seen, unseen = (np.isin(names, wnids) for wnids in (split.seen, split.unseen))
    return Parts(
        of_classes(data.train, seen),
        of_classes(data.test, seen),
        of_classes(data.train, unseen),
        of_classes(data.test, unseen),
    )


def gloss_vectors(split: WnidSplit, cache: Path) -> dict[str, NDArray[np.float32]]:
    """Class -> sentence vector of its definition in WordNet, by MiniLM; computed once, since not every machine has it."""
    wanted = sorted({*split.seen, *split.unseen})
    if not cache.exists():
        texts = class_texts(wanted)
        cache.parent.mkdir(parents=True, exist_ok=True)
        with replacing(cache) as new, open(new, "wb") as file:
            vectors = kh.text_encoder("minilm").encode(list(texts.values()))
            np.savez(file, classes=np.array(wanted), vectors=vectors)
    with np.load(cache, allow_pickle=False) as arrays:
        known = dict(zip(arrays["classes"].tolist(), arrays["vectors"], strict=True))
    missing = sorted(set(wanted) - set(known))
    if missing:
        raise SystemExit(f"{cache} knows no gloss of {missing[0]}: remove it to have it made anew")
    return {name: known[name] for name in wanted}


def class_vectors(
    split: WnidSplit, glosses: Path, whole: WnidSplit | None = None
) -> dict[str, tuple[Floats, Floats]]:
    """Source -> vectors of the seen and of the unseen classes, all of unit length.

    hierarchy: inner products are nearly the Wu-Palmer similarities in WordNet. glosses: sentence vectors. both: one after
    the other. They are made of names alone, so those of unseen classes may take part.
    """
    names = [*split.seen, *split.unseen]
    by_gloss = gloss_vectors(whole or split, glosses)
    tree = unit_rows(_embedded(kh.semantics("wordnet", classes=names).similarity), "places in the hierarchy")
    text = unit_rows(np.stack([by_gloss[name] for name in names]), "vectors of glosses")
    found = {"hierarchy": tree, "glosses": text, "both": np.hstack([tree, text])}
    return {source: (rows[: len(split.seen)], rows[len(split.seen) :]) for source, rows in found.items()}


def _embedded(similarity: Floats) -> Floats:
    """Wu-Palmer is not quite positive definite: what is negative is left out."""
    usable = int(np.count_nonzero(np.linalg.eigvalsh(similarity) > 1e-9))
    return class_embeddings(similarity, dimensions=min(usable, _MOST_DIMENSIONS))
