"""Run by test_layers in a fresh process: uses the layers above the torch line, then looks at sys.modules."""

import sys
import tempfile
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import kinhash as kh
from kinhash.cli import cli
from kinhash.data.decoding import decode
from kinhash.data.preprocessing import Preprocessing
from kinhash.serving.app import create_app
from kinhash.serving.served import served

codes = kh.Codes.from_logits(np.random.default_rng(0).normal(size=(40, 32)))
assert len(codes[:5]) == 5
cifar = kh.semantics("tree:cifar100")
report = kh.evaluate(codes, np.arange(40) % 4, semantics={"lcs": cifar}, k=10)
assert 0 < report["mahp_lcs"] < 1
assert kh.compare([report]).rows
assert "mAHP@10" in str(report)
with tempfile.TemporaryDirectory() as folder:
    index = kh.Index.create(Path(folder) / "a.kin", bits=32)
    index.add([f"item {i}" for i in range(40)], codes)
    assert index.search(codes[:1], k=3).ids[0][0] == "item 0"
    index.close()
    create_app([served("a", Path(folder) / "a.kin", lambda pictures: codes[: len(pictures)])])

data = kh.dataset("cifar100-sample")
assert len(data.test.take([1, 2])) == 2
assert decode([data.test.images[0]], ["a"], Preprocessing(24)).pictures.shape == (1, 24, 24, 3)
with tempfile.TemporaryDirectory() as folder:
    saved = Path(folder) / "codes"
    codes.save(saved)
    (saved / "items.csv").write_text("id,label\n" + "".join(f"{i},{i % 4}\n" for i in range(40)))
    evaluated = CliRunner().invoke(cli, ["evaluate", str(saved), "--k", "10"])
    assert evaluated.exit_code == 0, evaluated.output

print("torch" if "torch" in sys.modules else "no torch")
