"""The architecture holds: imports go up the list of layers, and search never loads torch."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from layers import torch_imports, violations

import kinhash

PACKAGE = Path(kinhash.__file__).parent


def test_imports_follow_the_layers() -> None:
    assert violations(PACKAGE) == []


def test_torch_and_triton_are_imported_where_they_may_be() -> None:
    assert torch_imports(PACKAGE) == []


def test_the_checker_can_fail(tmp_path: Path) -> None:
    (tmp_path / "codes.py").write_text("def f():\n    from kinhash.metrics import ranking\n")
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "ranking.py").write_text("from kinhash.codes import Codes\nimport torch.nn\n")
    (tmp_path / "stray.py").write_text("x = 1\n")
    (tmp_path / "cli.py").write_text("import kinhash as kh\n")  # a face may
    (tmp_path / "index.py").write_text("import kinhash as kh\n")
    wrong = violations(tmp_path)
    assert len(wrong) == 3
    assert "'codes' may not look down to 'metrics'" in wrong[0]
    assert "index.py imports kinhash, which is no layer" in wrong[1]
    assert "'stray' has no place" in wrong[2]
    (tmp_path / "losses").mkdir()
    (tmp_path / "losses" / "sim.py").write_text("import torch\n\ndef f():\n    import triton\n")
    (tmp_path / "losses" / "kl.py").write_text("import triton\n")
    (tmp_path / "losses" / "sim_triton.py").write_text("import triton\n")
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "gpu_a.py").write_text("def f():\n    import torch\n")
    (tmp_path / "kernels" / "gpu_b.py").write_text("import torch\n")
    assert torch_imports(tmp_path) == [
        "kernels/gpu_b.py imports torch",
        "losses/kl.py imports triton",
        "metrics/ranking.py imports torch.nn",
    ]


def test_what_stands_above_the_line_leaves_torch_alone() -> None:
    assert find_spec("torch") is not None, "the test means nothing where torch is not installed"
    script = Path(__file__).with_name("use_without_torch.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("no torch")
