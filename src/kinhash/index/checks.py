"""What every engine refuses: codes that do not fit each other, filters, k and radii that cannot be answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.arrays import is_whole
from kinhash.codes import WORD, Codes, width_of
from kinhash.errors import InputError

DEEPEST = 100  # levels of lists, objects and brackets: far from where Python's stack ends
LONGEST = 512  # bits: the kernels count distances in fields that hold no more

Chunk = tuple[NDArray[np.uint64], int]  # words (n, width) and the position of their first row
Database = Codes | Sequence[Chunk]  # chunks in ascending order of position; gaps between them are fine
Allowed = NDArray[np.bool_] | NDArray[np.int64]  # a mask over positions, or ascending positions


def too_deep(value: Any) -> bool:
    """Whether a value of JSON nests lists and objects in more levels than are taken."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [part for part in level if isinstance(part, list | dict)]
        if not level:
            return False
        level = [part for outer in level for part in (outer.values() if isinstance(outer, dict) else outer)]
    return True


def checked_database(queries: Codes, database: Database) -> list[Chunk]:
    """The database as plain arrays, or an error that says how it does not fit the queries."""
    check_queries(queries, database.bits if isinstance(database, Codes) else None)
    if isinstance(database, Codes):
        database = [(database.words, 0)]
    chunks = checked_chunks(database, width_of(queries.bits))
    return [(words.view(np.ndarray), base) for words, base in chunks]


def checked_chunks(
    chunks: Sequence[tuple[Any, int]], width: int, types: Sequence[str] = ("uint64",)
) -> list[tuple[Any, int]]:
    """The chunks that hold rows; words of `width` numbers each, of one of some types, in order."""
    chunks = [(words, base) for words, base in chunks if len(words)]
    if not chunks:
        raise InputError("the database is empty: add codes before searching")
    check_length(WORD * width)
    end = 0
    for words, base in chunks:
        if str(words.dtype) not in types or words.ndim != 2 or words.shape[1] != width:
            raise InputError(
                f"a chunk is an (n, {width}) array of {' or '.join(types)}, "
                f"got shape {tuple(words.shape)} of {words.dtype}"
            )
        if base < end:
            raise InputError(f"chunk at position {base} begins before {end}, where the one before it ends")
        end = base + len(words)
    return chunks


def span(chunks: Sequence[tuple[Any, int]]) -> int:
    """One more than the last position."""
    return chunks[-1][1] + len(chunks[-1][0])


def check_length(bits: int) -> None:
    """Codes are short enough to be searched."""
    if bits > LONGEST:
        raise InputError(
            f"codes that are searched have at most {LONGEST} bits, got {bits}: make shorter codes"
        )


def check_queries(queries: object, bits: int | None, where: str = "database") -> None:
    """Queries are codes, as long as those stored; None where chunks do not say how long they are."""
    if not isinstance(queries, Codes):
        raise InputError(
            f"queries are Codes, got {type(queries).__name__}; see Codes.from_bits, from_logits and from_hex"
        )
    if bits not in (None, queries.bits):
        raise InputError(f"the queries have {queries.bits} bits and the {where} {bits}: encode both alike")


def checked_allowed(allowed: Allowed | None, end: int) -> Allowed | None:
    """`allowed` as a contiguous mask or as int64 positions."""
    if allowed is None:
        return None
    array: NDArray[Any] = np.asarray(allowed)
    if array.ndim == 1 and array.dtype == np.bool_:
        if len(array) != end:
            raise InputError(f"the mask has {len(array)} entries for {end} positions")
        return np.ascontiguousarray(array)
    if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise InputError(
            f"allowed is a boolean mask or a row of positions, got shape {array.shape} of {array.dtype}"
        )
    array = np.ascontiguousarray(array, dtype=np.int64)
    if len(array) and (array[0] < 0 or array[-1] >= end or (np.diff(array) <= 0).any()):
        raise InputError(f"allowed positions must ascend without repeats inside 0..{end - 1}")
    return array


def checked_k(k: int, available: int, *, filtered: bool) -> None:
    """k is a whole number from 1 to the number of codes that may be found."""
    if not is_whole(k) or k < 1:
        raise InputError(f"k is a positive whole number, got {k!r}")
    if k > available:
        what = "pass the filter" if filtered else "are in the database"
        raise InputError(f"k = {k}, but only {available} codes {what}: ask for at most {available}")


def checked_radius(radius: int, bits: int) -> None:
    """A radius is a whole number from 0 to the code length."""
    if not is_whole(radius) or not 0 <= radius <= bits:
        raise InputError(f"a radius is a whole number from 0 to {bits} (the code length), got {radius!r}")
