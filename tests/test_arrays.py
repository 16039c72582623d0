"""What cannot be read as an array is one clear error; booleans are no numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinhash.arrays import as_array, checked_choice, finite_rows, is_whole, unit_rows
from kinhash.errors import InputError


class _OnTheGpu:
    """As torch says it: the memory is elsewhere."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first")


def test_arrays_pass_through_uncopied() -> None:
    array = np.ones(3)
    assert as_array(array, "x") is array
    assert as_array([[1, 2]], "x").shape == (1, 2)


def test_what_cannot_be_read_names_the_argument_and_the_cause() -> None:
    with pytest.raises(InputError, match=r"labels cannot be read as an array: .*inhomogeneous"):
        as_array([[1, 2], [3]], "labels")
    with pytest.raises(InputError, match=r"queries cannot be read as an array: .*Tensor\.cpu\(\)"):
        as_array(_OnTheGpu(), "queries")  # type: ignore[arg-type]


def test_whole_numbers() -> None:
    assert [is_whole(v) for v in (1, np.int8(1), True, 1.0, "1", None)] == [True, True, *[False] * 4]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8])
def test_rows_keep_their_values_in_the_type_asked_for(dtype: type) -> None:
    given = np.arange(6, dtype=dtype).reshape(3, 2).T
    for wanted in (np.float32, np.float64, None):
        rows = finite_rows(given, "x", wanted)
        assert rows.flags.c_contiguous
        assert rows.tolist() == given.tolist()
        assert rows.dtype == (wanted or (np.float32 if dtype in (np.float16, np.float32) else np.float64))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1.0, 2.0], r"x must be a real \(n, d\) array, got shape \(2,\)"),
        (np.zeros((2, 0)), r"got shape \(2, 0\)"),
        ([["a"]], "real"),
        ([[True]], "real"),
        ([[1, 2], [3]], "x cannot be read as an array"),
        (
            [[1.0], [np.inf], [np.nan]],
            r"x must be finite, but there is NaN or infinity in 2 rows, first in row 1 \(column 0 holds inf\); "
            "mend these rows or leave them out",
        ),
        ([[1.0, 2], [3, 1e60]], r"first in row 1 \(column 1 holds 1e\+60, too large for float32\)"),
    ],
)
def test_what_is_no_finite_rows(values: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        finite_rows(values, "x", np.float32)


def test_unit_rows_of_any_scale() -> None:
    rows = np.array([[3e-300, 4e-300], [3e200, 4e200], [3, 4]])
    np.testing.assert_allclose(unit_rows(rows, "x"), [[0.6, 0.8]] * 3, rtol=1e-15)
    assert rows[2].tolist() == [3, 4]
    with pytest.raises(InputError, match="x: row 1 is all zeros and has no direction"):
        unit_rows(np.array([[1.0, 0], [0, 0]]), "x")


def test_choices_are_told() -> None:
    assert checked_choice("a", ("a", "b"), "letter") == "a"
    for value in ("c", None, ["a"]):
        with pytest.raises(InputError, match="letter is one of 'a', 'b'; got"):
            checked_choice(value, ("a", "b"), "letter")  # type: ignore[arg-type]
