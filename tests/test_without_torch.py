"""Where PyTorch is not installed, whatever needs it says what to install, in one sentence; the rest works."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = "import sys; sys.modules['torch'] = None\n"


def python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", BLOCKED + code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["train", "load_encoder", "HashEncoder"])
def test_public_names_say_what_to_install(name: str) -> None:
    code = f"import kinhash as kh\ntry:\n    kh.{name}\nexcept kh.KinhashError as error:\n    sys.stdout.write(str(error))"
    done = python(code)
    assert "pip install 'kinhash[train]'" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("command", "extra"), [("demo", "demo"), ("encode E . --out C", "train"), ("sts .", "text")]
)
def test_commands_say_what_to_install(command: str, extra: str) -> None:
    done = python(f"sys.argv = 'kinhash {command}'.split()\nfrom kinhash.cli import main; main()")
    assert done.returncode == 1
    assert f"pip install 'kinhash[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_another_missing_module_is_not_explained_away() -> None:
    done = python("sys.modules['numba'] = None\nimport kinhash as kh; kh.evaluate")
    assert "ModuleNotFoundError" in done.stderr
    assert "kinhash[train]" not in done.stderr
