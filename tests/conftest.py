"""Fixtures that every test may ask for; one thread for torch and BLAS.

What tests compute is small, and threads that wait for each other on a busy machine cost most of the time. With one,
sums also have one order.
"""

from __future__ import annotations

import os

# read when torch and numpy are loaded, here and in the processes that tests start
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
