from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torch
from losses import gather_worker

from kinhash.feeding.targets import Targets
from kinhash.losses.gather import gather, gather_targets, world_size

SOURCE = Path(__file__).parents[2] / "src"


def test_two_processes_have_the_loss_and_gradients_of_one(tmp_path: Path) -> None:
    command = [sys.executable, gather_worker.__file__]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    workers = [
        subprocess.Popen([*command, str(rank), "2", str(tmp_path)], env=environment, stderr=subprocess.PIPE)
        for rank in range(2)
    ]
    for worker in workers:
        _, errors = worker.communicate(timeout=120)
        assert worker.returncode == 0, errors.decode()

    x, targets = gather_worker.batch()
    net = gather_worker.Model()
    loss = gather_worker.total_loss(*net(x), targets)
    loss.backward()
    for rank in range(2):
        found = torch.load(tmp_path / f"{rank}.pt", weights_only=True)
        torch.testing.assert_close(found["loss"], loss.detach(), rtol=1e-6, atol=0)
        for got, parameter in zip(found["gradients"], net.parameters(), strict=True):
            torch.testing.assert_close(got, parameter.grad, rtol=1e-5, atol=1e-7)


def test_one_process_gathers_nothing() -> None:
    z, targets = torch.ones(2, 3), Targets(torch.tensor([0, 1]))
    assert world_size() == 1
    assert gather(z) is z
    assert gather_targets(targets) is targets
