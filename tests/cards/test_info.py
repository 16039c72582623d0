"""`kh.info` and `kinhash info` say what a folder is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli.commands import done
from vector_files import write_vectors

import kinhash as kh
from kinhash.errors import FormatError, NotFoundError
from kinhash.items import CodedItems

CODES = kh.Codes.from_hex(["0f", "f0", "ff"], 8)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small training, with a test part."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("runs")
    write_vectors(folder, range(3), train=60, test=30, width=8)
    data = kh.dataset("embeddings", root=folder)
    kin = kh.semantics("labels", data.classes)
    options = {"bits": 16, "epochs": 1, "progress": False, "device": "cpu"}
    kh.train(data.train, semantics=kin, test=data.test, out=folder / "run", **options)
    return folder / "run"


def test_an_encoder(run: Path) -> None:
    found = kh.info(run / "encoder")
    assert found.kind == "encoder"
    facts = found.facts
    assert (facts["bits"], facts["semantics"], facts["method"]) == (16, "labels", "sim-kl-class")
    assert (facts["takes"], facts["trained_on"], facts["backbone"]) == ("embeddings", 60, "mlp")
    metrics = json.loads((run / "metrics.json").read_text())["metrics"]
    assert facts["metrics"] == {key: value for key, value in metrics.items() if value is not None}
    assert "30 queries" in facts["protocol"]
    assert "30 queries" in (run / "encoder" / "README.md").read_text()
    assert "16" in str(found)


def test_a_run(run: Path) -> None:
    facts = kh.info(run).facts
    assert facts["finished"] is True
    assert facts["epochs"] == 1
    assert facts["encoder"]["bits"] == 16
    assert "map_full" in facts["encoder"]["metrics"]
    assert "metrics" not in facts, "said once"
    assert json.loads(done("info", run, "--json"))["kind"] == "run"


def test_codes(tmp_path: Path) -> None:
    CodedItems(CODES, ["a", "b", "c"], ["x", "y", "x"]).save(tmp_path)
    assert kh.info(tmp_path).facts == {"items": 3, "bits": 8, "classes": 2, "floats": False}
    assert done("info", tmp_path).startswith(f"{tmp_path}: codes\n")


def test_an_index(tmp_path: Path) -> None:
    with kh.Index.create(tmp_path / "i", bits=8) as index:
        index.add([1, 2, 3], CODES)
    found = kh.info(tmp_path / "i")
    assert found.kind == "index"
    assert (found.facts["items"], found.facts["bits"], found.facts["ids"]) == (3, 8, "int")


def test_photos(run: Path, tmp_path: Path) -> None:
    home = tmp_path / ".kinhash"
    home.mkdir()
    with kh.Index.create(home / "index", bits=8) as index:
        index.add(["a"], CODES[:1])
    kh.load_encoder(run / "encoder", device="cpu").save(home / "encoder")
    found = kh.info(tmp_path)
    assert (found.kind, found.facts["index"]["items"], found.facts["encoder"]["bits"]) == ("photos", 1, 16)


def test_joined_encoders(run: Path, tmp_path: Path) -> None:
    one = kh.load_encoder(run / "encoder", device="cpu")
    kh.ConcatEncoder([one, one], [2, 1]).save(tmp_path)
    found = kh.info(tmp_path)
    assert (found.kind, found.facts["bits"], found.facts["weights"]) == ("joined", 48, [2, 1])
    assert found.facts["encoders"]["1"]["semantics"] == "labels"
    (tmp_path / "concat.json").write_text('{"encoders": 2, "weights": [1]}')
    with pytest.raises(FormatError, match=r"concat\.json is damaged"):
        kh.info(tmp_path)


def test_what_is_nothing_or_damaged(run: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="does not exist"):
        kh.info(tmp_path / "none")
    with pytest.raises(NotFoundError, match="nothing that kinhash wrote"):
        kh.info(tmp_path)
    with pytest.raises(NotFoundError, match="is a file"):
        kh.info(run / "config.json")
    kh.load_encoder(run / "encoder", device="cpu").save(tmp_path)
    [weights] = tmp_path.glob("weights-*")
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(FormatError, match="truncated"):
        kh.info(tmp_path)


def test_torch_is_not_needed(run: Path) -> None:
    script = f"import sys, kinhash as kh; print(kh.info({str(run)!r}).kind, 'torch' in sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert out.stdout.split() == ["run", "False"]
