"""The built wheel works where nothing else of the repository is: imports, searches, serves."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import check_wheel
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return check_wheel.built(tmp_path_factory.mktemp("dist"))


def test_it_works_in_a_clean_environment() -> None:
    pytest.importorskip("starlette", reason="needs the extra serve")
    check = [sys.executable, "-W", "ignore", str(ROOT / "tools" / "check_wheel.py")]
    done = subprocess.run(check, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": fine") == 4


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_it_runs_the_demo() -> None:
    pytest.importorskip("efficientnet_lite_pytorch", reason="needs the extra demo")
    check = [sys.executable, "-W", "ignore", str(ROOT / "tools" / "check_wheel.py"), "--demo"]
    done = subprocess.run(check, capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_a_file_that_is_left_out_is_named(wheel: Path, tmp_path: Path) -> None:
    assert check_wheel.missing(wheel) == []
    short = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(short, "w") as less:
        for name in whole.namelist():
            if not name.endswith("page/index.html"):
                less.writestr(name, whole.read(name))
    assert check_wheel.missing(short) == ["kinhash/serving/page/index.html"]


def test_the_core_requires_no_torch_and_no_tools(wheel: Path) -> None:
    core = check_wheel.required(wheel, ())
    assert {"numpy", "numba", "click"} <= core
    assert not core & {"torch", "pytest", "starlette", "huggingface-hub"}
    assert "torch" in check_wheel.required(wheel, ("demo",))
    assert "starlette" in check_wheel.required(wheel, ("serve",))
