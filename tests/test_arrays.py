"""What cannot be read as an array is one clear error; booleans are no numbers."""

from __future__ import annotations

import numpy as np
import pytest

from kinhash.arrays import as_array, is_whole
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
