"""The variable that switches Numba's compiler off."""

from __future__ import annotations

import pytest

from kinhash.kernels.jit import compiled


@pytest.mark.parametrize(("value", "on"), [("0", True), ("", True), ("1", False)])
def test_compiled_unless_switched_off(monkeypatch: pytest.MonkeyPatch, value: str, on: bool) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", value)
    assert compiled() is on
    monkeypatch.delenv("NUMBA_DISABLE_JIT")
    assert compiled()
