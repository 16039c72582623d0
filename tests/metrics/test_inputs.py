"""What no metric accepts, and what it says; pairs of any kind give the distances that NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.metrics.pairs import checked_pairs
from kinhash.metrics.ranking import score_ranking

CODES = Codes.from_bits(np.random.default_rng(0).random((6, 8)) < 0.5)
LABELS = np.array([0, 1, 0, 1, 2, 2])
VECTORS = CODES.to_signs()
WIDE = Codes.from_bits(np.zeros((6, 9)))


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        ((CODES, LABELS), {"k": 6}, "k is 6, but must lie between 1 and 5"),
        ((CODES, LABELS), {"k": 0}, "k is 0; it must be at least 1"),
        ((CODES, LABELS), {"k": 2.0}, "k is a whole number, got 2.0"),
        ((CODES, LABELS), {"k": True}, "whole number"),
        ((CODES, LABELS, CODES, LABELS), {"k": 7}, "between 1 and 6"),
        ((CODES, LABELS, CODES[:0], LABELS[:0]), {}, "database is empty"),
        ((CODES[:0], LABELS[:0], CODES, LABELS), {}, "no queries"),
        ((CODES[:1], LABELS[:1]), {}, "one item has no others"),
        ((CODES, LABELS[:5]), {}, "labels has 5 entries for 6 items"),
        ((CODES, LABELS, CODES, LABELS[:2]), {}, "database_labels has 2 entries for 6 items"),
        ((CODES, LABELS[:, None]), {}, "integers"),
        ((CODES, ["cat"] * 6), {}, r"integers.*; names become numbers by semantics\.positions\(names\)"),
        ((CODES, LABELS, WIDE, LABELS), {}, "8 bits and the database 9"),
        ((CODES, LABELS, VECTORS, LABELS), {}, "both be Codes"),
        ((VECTORS, LABELS, CODES, LABELS), {}, "both be Codes"),
        ((VECTORS, LABELS, VECTORS[:, :3], LABELS), {}, "8 dimensions and the database 3"),
        ((VECTORS, LABELS), {"metric": "cosine"}, "'l1', 'l2', 'dot'"),
        ((VECTORS, LABELS), {"radius": 2}, "needs Codes, not vectors"),
        ((CODES, LABELS), {"radius": 1.5}, "radius"),
        (
            (np.where(VECTORS > 5, 0, np.nan), LABELS),
            {},
            "queries must be finite.* in 6 rows, first in row 0",
        ),
        ((VECTORS, LABELS, VECTORS * np.float32(np.inf), LABELS), {}, "database must be finite"),
        ((VECTORS.astype(complex), LABELS), {}, "real"),
        ((VECTORS[0], LABELS), {}, "shape"),
        ((VECTORS.astype(float) * 1e200, LABELS), {"metric": "l2"}, "overflow"),
        ((CODES, LABELS), {"similarities": np.ones((3, 2))}, "square"),
        ((CODES, LABELS), {"similarities": np.eye(2)}, "classes 0 to 1"),
        ((CODES, -LABELS), {"similarities": np.eye(3)}, r"labels\[1\] is -1"),
        ((CODES, LABELS), {"similarities": np.eye(3) * 2}, r"entry \(0, 0\) is 2.0"),
        ((CODES, LABELS), {"similarities": np.full((3, 3), np.nan)}, "is nan"),
        ((CODES, LABELS), {"similarities": {"a": np.eye(3), "b": np.eye(4)}}, r"\[3, 4\]"),
        (
            (CODES, LABELS),
            {"similarities": np.eye(3), "k": 1},
            "at least 2, since AHP is an area below a curve",
        ),
        ((CODES, LABELS), {"hits": [9]}, "a cutoff of hits is 9"),
        ((CODES, LABELS), {"hits": 5}, "a row of whole numbers; got 5"),
        ((CODES, LABELS), {"metric": "cosine"}, "'l1', 'l2', 'dot'"),
        ((CODES, LABELS), {"threads": 0}, "threads is a positive whole number"),
        ((CODES, LABELS), {"threads": np.nan}, "got nan"),
        ((CODES, [[1, 2], [3]]), {}, "labels cannot be read as an array"),
        (([[1.0, 2.0], [3.0]], LABELS), {}, "queries cannot be read as an array"),
        ((CODES, LABELS), {"similarities": [[1.0, 0.5], [0.5]]}, "similarity 'similarity' cannot be read"),
    ],
)
def test_bad_input_is_refused_with_a_reason(arguments: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        score_ranking(*arguments, **{"k": 3, **options})


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.uint8])
def test_every_real_dtype_is_taken(kind: type) -> None:
    z = np.random.default_rng(1).integers(0, 9, (6, 4)).astype(kind)
    found = checked_pairs(z).distances(1, 3)
    np.testing.assert_array_equal(
        found, np.abs(z[1:3, None].astype(float) - z[None].astype(float)).sum(axis=2)
    )


def test_kinds_of_queries_and_database_may_differ() -> None:
    z = np.random.default_rng(1).normal(size=(6, 4))
    found = checked_pairs(z[:2].astype(np.float32), z).distances(0, 2)
    expected = np.abs(z[:2, None].astype(np.float32).astype(float) - z[None]).sum(axis=2)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_tile_is_never_large() -> None:
    many = Codes(np.zeros((300_000, 1), np.uint64), 64)
    pairs = checked_pairs(many[:100], many)
    assert pairs.block * len(many) <= 2_000_000
    assert pairs.available == 300_000
    assert checked_pairs(many[:100]).available == 99
