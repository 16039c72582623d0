"""The loop under torchrun: two processes on one CPU learn together, leave one run behind, and end quietly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from training import two_processes

import kinhash as kh
from kinhash.cards.run_files import read_log
from kinhash.training.distributed import Place, joined, leads, wrapped

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("two")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent / 'src'}"}
    done = subprocess.run(
        [*command, two_processes.__file__, str(found)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert "terminate called" not in done.stderr
    return found


def test_both_processes_hold_the_same_network(folder: Path) -> None:
    first, second = (load_file(folder / f"rank{rank}.safetensors") for rank in range(2))
    assert first.keys() == second.keys()
    for name, value in first.items():
        if "running" not in name:  # batch statistics on a CPU are those of a process's own share
            assert torch.equal(value, second[name]), name


def test_one_of_them_wrote_one_run(folder: Path) -> None:
    log = read_log(folder / "run" / "log.jsonl")
    assert [line["epoch"] for line in log] == [1, 2, 3]
    assert log[-1]["losses"]["loss"] < log[0]["losses"]["loss"]
    metrics = json.loads((folder / "run" / "metrics.json").read_text())
    assert metrics["samples"] == 3 * 256
    assert metrics["protocol"]["n_queries"] == 64
    saved = kh.load_encoder(folder / "run" / "encoder")
    for name, value in load_file(folder / "rank0.safetensors").items():
        assert torch.equal(saved.network.state_dict()[name], value), name
    assert len(list((folder / "run" / "checkpoints").iterdir())) <= 2


def test_alone_nothing_is_wrapped() -> None:
    net = torch.nn.Linear(2, 2)
    with joined("cpu") as place:
        assert place == Place(0, 1, torch.device("cpu"))
        assert place.first
        assert wrapped(net, place) is net
    assert not torch.distributed.is_initialized()


def test_of_several_processes_one_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    assert leads()
    monkeypatch.setenv("RANK", "1")
    assert not leads()
