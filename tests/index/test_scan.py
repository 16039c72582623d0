"""The scan equals a stable NumPy sort by (distance, position), ties and filters included."""

from __future__ import annotations

from kinhash import Codes
from kinhash.index.scan import k_nearest


def test_ties_come_in_position_order() -> None:
    database = Codes.from_bits([[1, 0], [0, 1], [0, 0], [1, 1]])
    hits = k_nearest(database[2], database, 4)
    assert hits.positions.tolist() == [[2, 0, 1, 3]]
    assert hits.distances.tolist() == [[0, 1, 1, 2]]
