"""How well an encoder knows which sentences mean the same: agreement with people on rated pairs (STSbenchmark)."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.errors import FormatError, InputError, NotFoundError, require
from kinhash.hyperplanes import random_hyperplanes
from kinhash.meaning.words import bag_of_words, tf_idf, word_overlap
from kinhash.metrics.correlation import kendall_tau, spearman_interval, spearman_rho

if TYPE_CHECKING:
    from kinhash.models.text import TextEncoder

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
BITS = (64, 128, 256)
DIMENSIONS = (32, 64, 128, 256)
_WORDS = {"word overlap": word_overlap, "bag of words": bag_of_words, "TF-IDF": tf_idf}
_COLUMNS = ("score", "sentence1", "sentence2")


@dataclass(frozen=True)
class Pairs:
    """Sentences side by side, and how alike people find them."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    scores: Floats


@dataclass(frozen=True)
class StsScore:
    """One way to rate likeness: rank correlations with people, and the bytes that it keeps of a sentence.

    `low` and `high` bound Spearman's rho: 95 % of bootstrap samples of the pairs lie between them.
    """

    name: str
    bytes: int | None
    spearman: float
    low: float
    high: float
    kendall: float


def sts(
    path: str | os.PathLike[str], encoders: Sequence[str] = ("minilm",), *, split: str = "test"
) -> list[StsScore]:
    """Scores of every encoder, of its vectors cut short and as bits, and of likeness by words alone.

    `path`: a tsv file with the columns score, sentence1, sentence2 (no quoting), or a folder that holds `split`.tsv.
    Vectors are compared by cosine, bits by Hamming distance.
    """
    require("torch", "text")
    from kinhash.models.text import text_encoder

    if isinstance(encoders, str):
        raise InputError(f"encoders are a sequence of names, got {encoders!r}; put a single one into a list")
    pairs = read_pairs(path, split)
    found = [
        _scored(what, size, pairs.scores, alike)
        for name in encoders
        for what, size, alike in _forms(name, *_encoded(text_encoder(name), pairs))
    ]
    by_words = [(name, alike(pairs.left, pairs.right)) for name, alike in _WORDS.items()]
    return found + [_scored(name, None, pairs.scores, alike) for name, alike in by_words]


def read_pairs(path: str | os.PathLike[str], split: str = "test") -> Pairs:
    """The rated pairs of a tsv file, or of `split`.tsv in a folder."""
    file = Path(path) / f"{split}.tsv" if Path(path).is_dir() else Path(path)
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            # sentences hold lone quotation marks
            rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {file}; STSbenchmark has a dev.tsv and a test.tsv") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{file} cannot be read as a tsv file in UTF-8: {error}") from error
    header = rows[0] if rows else []
    if missing := [name for name in _COLUMNS if name not in header]:
        raise FormatError(f"{file} has no column {missing[0]!r}; rated pairs need {', '.join(_COLUMNS)}")
    places = [header.index(name) for name in _COLUMNS]
    triples = [_triple(f"{file}, line {n}", row, header, places) for n, row in enumerate(rows[1:], start=2)]
    if len({score for score, _, _ in triples}) < 2:
        raise FormatError(
            f"{file} holds {len(triples)} pairs whose scores do not differ, so there is no order"
        )
    scores, left, right = zip(*triples, strict=True)
    return Pairs(left, right, np.array(scores))


def _triple(
    where: str, row: Sequence[str], header: Sequence[str], places: Sequence[int]
) -> tuple[float, str, str]:
    if len(row) != len(header):
        raise FormatError(
            f"{where} has {len(row)} columns, the first line has {len(header)}; mend or remove it"
        )
    score, left, right = (row[place].strip() for place in places)
    try:
        value = float(score)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or not left or not right:
        raise FormatError(
            f"{where} needs a finite score and two sentences, got {score!r}, {left!r:.40}, {right!r:.40}"
        )
    return value, left, right


def _encoded(encoder: TextEncoder, pairs: Pairs) -> tuple[Vectors, Vectors]:
    vectors = encoder.encode([*pairs.left, *pairs.right])
    return vectors[: len(pairs.left)], vectors[len(pairs.left) :]


def _forms(name: str, left: Vectors, right: Vectors) -> Iterator[tuple[str, int, Floats]]:
    """What may be kept of a vector: all, its beginning, its signs, the sides of random hyperplanes."""
    width = left.shape[1]
    yield name, 4 * width, _cosines(left, right)
    for d in (d for d in DIMENSIONS if d < width):
        yield f"{name}, first {d} dimensions", 4 * d, _cosines(left[:, :d], right[:, :d])
    yield f"{name}, {width} signs", -(-width // 8), _agreeing(left, right, Codes.from_logits)
    for bits in BITS:
        code = partial(random_hyperplanes, bits=bits)
        yield f"{name}, {bits} hyperplanes", bits // 8, _agreeing(left, right, code)


def _cosines(left: Vectors, right: Vectors) -> Floats:
    a, b = left.astype(np.float64), right.astype(np.float64)
    cosines: Floats = (a * b).sum(1) / np.maximum(
        np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1), 1e-300
    )
    return cosines


def _agreeing(left: Vectors, right: Vectors, code: Callable[[Vectors], Codes]) -> Floats:
    """Minus the Hamming distance of each pair."""
    differ = code(left).words ^ code(right).words
    return -np.bitwise_count(differ).sum(axis=1).astype(np.float64)


def _scored(name: str, size: int | None, people: Floats, alike: Floats) -> StsScore:
    rho, (low, high) = spearman_rho(people, alike), spearman_interval(people, alike)
    return StsScore(name, size, rho, low, high, kendall_tau(people, alike))
