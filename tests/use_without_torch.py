"""Run by test_layers in a fresh process: uses the layers above the torch line, then looks at sys.modules."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import kinhash as kh

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

print("torch" if "torch" in sys.modules else "no torch")
