"""Devices by name, and codes in planes, without a GPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kinhash.errors import InputError
from kinhash.kernels import gpu_shard


def test_says_which_devices_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(InputError, match=r"torch sees none.*MultiIndex"):
        gpu_shard.checked_devices(None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for wrong, sentence in [
        (["cuda:2"], "none of the 2 GPUs"),
        ([2], "none of the 2 GPUs"),
        (["meta"], "none of the 2 GPUs"),
        (["gpu one"], "names no device"),
        ([], "at least one"),
    ]:
        with pytest.raises(InputError, match=sentence):
            gpu_shard.checked_devices(wrong)
    assert [str(device) for device in gpu_shard.checked_devices(["cuda", 1, "cpu"])] == [
        "cuda:0",
        "cuda:1",
        "cpu",
    ]
    assert len(gpu_shard.checked_devices(None)) == 2


def test_kernels_need_triton_and_a_gpu_or_its_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, cpu = torch.device("cuda"), torch.device("cpu")
    monkeypatch.setattr(gpu_shard, "find_spec", lambda name: None)
    assert not gpu_shard.has_kernels(gpu)
    monkeypatch.setattr(gpu_shard, "find_spec", lambda name: name)
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    assert gpu_shard.has_kernels(gpu)
    assert not gpu_shard.has_kernels(cpu)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert gpu_shard.has_kernels(cpu)


def test_upload_joins_parts_in_planes(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_shard, "_UPLOAD", 7)  # so that parts are sent in pieces
    words = rng.integers(0, 1 << 64, (40, 3), dtype=np.uint64)
    parts = [words[:20], torch.from_numpy(words[20:].view(np.int64).copy())]
    shard = gpu_shard.upload(parts, torch.device("cpu"))
    assert (shard.rows, shard.width, shard.bits) == (40, 3, 192)
    assert shard.words.shape == (3, 48)
    assert np.array_equal(shard.words[:, :40].numpy().view(np.uint64).T, words)
