"""The exported file gives what the encoder gives: floats to rounding, codes to the bit."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from kinhash.data.preprocessing import Preprocessing
from kinhash.data.splits import Split
from kinhash.errors import InputError, MissingDependencyError
from kinhash.models import HashEncoder, HashNetwork, build_backbone
from kinhash.models.catalogue import Chain
from kinhash.models.coders import Affine, Lookup
from kinhash.models.retrieval import Retrieval

onnxruntime = pytest.importorskip("onnxruntime", reason="the extra `onnx` is not installed")


def warmed(network: HashNetwork, *shape: int) -> HashNetwork:
    """With batch statistics worth the name."""
    for _ in range(3):
        network(torch.randn(16, *shape))
    return network


def check(encoder: HashEncoder, path: Path, x: np.ndarray, seen: Any = None) -> Any:
    """Compare in batches of one and more; returns the runtime's runtime."""
    encoder.export_onnx(path)
    runtime = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    expected = encoder.encode_all(x if seen is None else seen)
    for rows in (slice(0, 1), slice(None)):
        floats, codes = runtime.run(["floats", "codes"], {runtime.get_inputs()[0].name: x[rows]})
        np.testing.assert_allclose(floats, expected.floats[rows], atol=1e-4)
        assert np.abs(expected.floats).min() > 1e-4, "no output may lie where rounding decides its bit"
        np.testing.assert_array_equal(codes, expected.codes[rows].to_bytes())
    return runtime


def test_pictures(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = warmed(HashNetwork("wrn10-1", 20, 3), 3, 8, 8)
    encoder = HashEncoder(network, preprocessing=Preprocessing(8), classes=["a", "b", "c"])
    x = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), dtype=np.uint8)
    runtime = check(encoder, tmp_path / "x.onnx", x)
    told = runtime.get_modelmeta().custom_metadata_map
    assert {key: json.loads(value) for key, value in told.items()} == {
        "kinhash.bits": 20,
        "kinhash.classes": ["a", "b", "c"],
        "kinhash.size": 8,
        "kinhash.zoom": 1.0,
        "kinhash.whole": False,
    }
    assert [path.name for path in tmp_path.iterdir()] == ["x.onnx"]


@pytest.mark.parametrize("activation", ["tanh", "softsign", "straight-through"])
def test_embeddings(tmp_path: Path, activation: Any) -> None:
    torch.manual_seed(0)
    mlp = build_backbone("mlp", inputs=5, hidden=[7])
    encoder = HashEncoder(warmed(HashNetwork(mlp, 64, activation=activation), 5))
    check(encoder, tmp_path / "x.onnx", np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32))


def test_a_head_behind_its_frozen_backbone(tmp_path: Path) -> None:
    torch.manual_seed(0)
    chain = Chain(build_backbone("resnet8w"), build_backbone("mlp", inputs=128, hidden=[7]))
    network = warmed(HashNetwork(chain, 8, frozen=True), 3, 8, 8)
    encoder = HashEncoder(network, preprocessing=Preprocessing(8))
    x = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3), dtype=np.uint8)
    check(encoder, tmp_path / "x.onnx", x)


@pytest.mark.parametrize("kind", ["affine", "posterior", "lookup"])
def test_codes_fitted_after_the_training(tmp_path: Path, kind: str) -> None:
    torch.manual_seed(0)
    network = HashNetwork(build_backbone("none", inputs=5), 16, 3, activation="features")
    network.coder = {
        "affine": Affine.of(torch.randn(5, 16), torch.randn(5)),
        "posterior": Affine.of(torch.randn(3, 16), source="posterior"),
        "lookup": Lookup.of(torch.randn(3, 16)),
    }[kind]
    x = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
    check(HashEncoder(network), tmp_path / "x.onnx", x)


def test_methods_without_codes_export_floats_alone(tmp_path: Path) -> None:
    network = HashNetwork(build_backbone("none", inputs=5), 0, width=4, activation="linear", unit=True)
    encoder = HashEncoder(network, retrieval=Retrieval("floats", "cosine", "devise"))
    encoder.export_onnx(tmp_path / "x.onnx")
    runtime = onnxruntime.InferenceSession(tmp_path / "x.onnx", providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
    [floats] = runtime.run(None, {"embeddings": x})
    np.testing.assert_allclose(floats, encoder.encode(x, floats=True), atol=1e-5)


@pytest.mark.slow
def test_the_pretrained_network(tmp_path: Path) -> None:
    pytest.importorskip("efficientnet_lite_pytorch", reason="the extra `weights-lite` is not installed")
    torch.manual_seed(0)
    encoder = HashEncoder(warmed(HashNetwork("efficientnet-lite0", 32, frozen=True), 3, 224, 224))
    large = np.random.default_rng(0).integers(0, 256, (2, 256, 256, 3), dtype=np.uint8)
    check(encoder, tmp_path / "x.onnx", large[:, 16:240, 16:240], Split(images=large))


def test_what_cannot_be_exported_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = HashEncoder(HashNetwork(build_backbone("none", inputs=5), 8))
    with pytest.raises(InputError, match=r"ends in \.onnx"):
        encoder.export_onnx(tmp_path / "x.pt")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingDependencyError, match=r"kinhash\[onnx\]"):
        encoder.export_onnx(tmp_path / "x.onnx")
