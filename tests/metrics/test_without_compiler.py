"""The kernels are plain Python too: without the compiler they give the same numbers, and no integer overflows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from metrics.everything import everything


def test_the_same_numbers_without_compiling() -> None:
    script = Path(__file__).with_name("everything.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    compiled = everything()
    assert plain.keys() == compiled.keys()
    assert len(plain) > 150
    for key, value in compiled.items():
        assert plain[key] == pytest.approx(value, abs=1e-12), key
