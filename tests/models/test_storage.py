"""An encoder survives the disk unchanged; damage of any kind is one clear error, never a wrong code."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch

import kinhash as kh
from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import FormatError, InputError, NotFoundError, StorageError
from kinhash.models import HashEncoder, HashNetwork, build_backbone, load_encoder

CARD = "encoder.json"


@pytest.fixture
def encoder() -> HashEncoder:
    torch.manual_seed(0)
    network = HashNetwork("wrn10-1", 24, 3, activation="softsign", detach_head=True, regression=5)
    network(torch.randn(16, 3, 8, 8))
    semantics = kh.semantics([[0, 0.1, 0.9], [0.1, 0, 0.8], [0.9, 0.8, 0]], ["a", "b", "c"])
    training = {"epochs": 3, "losses": [0.5, {"deep": [1, 2]}], "note": None}
    return HashEncoder(
        network, preprocessing=Preprocessing(8), classes="abc", semantics=semantics, training=training
    )


@pytest.fixture
def saved(encoder: HashEncoder, tmp_path: Path) -> Path:
    encoder.save(tmp_path / "enc")
    return tmp_path / "enc"


@pytest.fixture
def pictures() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (5, 8, 8, 3), dtype=np.uint8)


def test_round_trip(encoder: HashEncoder, saved: Path, pictures: np.ndarray) -> None:
    again = kh.load_encoder(saved, bits=24, device="cpu")
    np.testing.assert_array_equal(again.encode(pictures, floats=True), encoder.encode(pictures, floats=True))
    np.testing.assert_array_equal(again.predict(pictures), encoder.predict(pictures))
    assert again.network.card() == encoder.network.card()
    assert again.preprocessing == encoder.preprocessing
    assert again.classes == ("a", "b", "c")
    assert again.semantics is not None
    assert again.semantics.classes == ("a", "b", "c")
    assert again.semantics.distance[0, 2] == 0.9
    assert again.training_card == encoder.training_card
    again.save(saved)  # over itself
    assert sorted(path.suffix for path in saved.iterdir()) == [".json", ".md", ".safetensors"]


@pytest.mark.parametrize("backbone", ["mlp", "chain"])
def test_other_backbones(backbone: str, tmp_path: Path) -> None:
    head = HashEncoder(HashNetwork(build_backbone("mlp", inputs=64, hidden=[6]), 10))
    encoder = head if backbone == "mlp" else head.after("wrn10-1")
    encoder.save(tmp_path)
    rng = np.random.default_rng(0)
    things = (
        rng.normal(size=(4, 64))
        if backbone == "mlp"
        else rng.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    )
    assert load_encoder(tmp_path, device="cpu").encode(things) == encoder.encode(things)


def test_overwriting_leaves_one_encoder(saved: Path) -> None:
    torch.manual_seed(1)
    other = HashEncoder(HashNetwork("wrn10-1", 8))
    other.save(saved)
    assert len(list(saved.iterdir())) == 3
    assert load_encoder(saved).bits == 8


def edit(saved: Path, **changes: object) -> None:
    card = json.loads((saved / CARD).read_text())
    (saved / CARD).write_text(json.dumps({**card, **changes}))


def weights(saved: Path) -> Path:
    return next(saved.glob("weights-*"))


def test_truncated_weights(saved: Path) -> None:
    weights(saved).write_bytes(weights(saved).read_bytes()[:-100])
    with pytest.raises(FormatError, match="truncated"):
        load_encoder(saved)


def test_a_flipped_bit(saved: Path) -> None:
    raw = bytearray(weights(saved).read_bytes())
    raw[-5] ^= 4
    weights(saved).write_bytes(raw)
    with pytest.raises(FormatError, match="does not match"):
        load_encoder(saved)


def test_missing_weights(saved: Path) -> None:
    weights(saved).unlink()
    with pytest.raises(FormatError, match="cannot be read"):
        load_encoder(saved)


def test_weights_of_another_format(saved: Path) -> None:
    raw = b"PK\x03\x04 a pickle in a zip, as torch.save writes it"
    weights(saved).write_bytes(raw)
    edit(saved, bytes=len(raw), crc32=zlib.crc32(raw))
    with pytest.raises(FormatError, match="no safetensors file"):
        load_encoder(saved)


def test_weights_of_another_network(saved: Path) -> None:
    card = json.loads((saved / CARD).read_text())
    edit(saved, network={**card["network"], "bits": 32})
    with pytest.raises(FormatError, match="belong to another network"):
        load_encoder(saved)


def test_another_code_length(saved: Path) -> None:
    with pytest.raises(InputError, match="24 bits, not 64"):
        load_encoder(saved, bits=64)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "kinhash-codes"}, "kinhash-codes"),
        ({"version": 99}, "version 99"),
        ({"network": {}}, "damaged"),
        ({"network": {"backbone": {"name": "vgg"}}}, "no backbone 'vgg'"),
        ({"network": None}, "damaged"),
        ({"preprocessing": {"size": 3}}, "preprocessing"),
        ({"classes": None}, "damaged"),
        ({"weights": 5}, "damaged"),
    ],
)
def test_damaged_cards(saved: Path, changes: dict[str, object], message: str) -> None:
    edit(saved, **changes)
    with pytest.raises(FormatError, match=message):
        load_encoder(saved)


def test_a_damaged_card_of_semantics(saved: Path) -> None:
    edit(saved, semantics={"kind": "something else"})
    with pytest.raises(FormatError, match="no card of semantics"):
        load_encoder(saved).semantics  # noqa: B018  # the property reads the card


def test_no_json_and_no_folder(saved: Path, tmp_path: Path) -> None:
    (saved / CARD).write_text('{"format": "kinhash-enc')
    with pytest.raises(FormatError, match="damaged"):
        load_encoder(saved)
    with pytest.raises(NotFoundError, match=r"encoder\.json is missing"):
        load_encoder(tmp_path / "nowhere")


def test_a_name_cannot_point_outside_the_folder(saved: Path, tmp_path: Path) -> None:
    edit(saved, weights="../../outside.safetensors")
    with pytest.raises(FormatError, match="cannot be read"):
        load_encoder(saved)


def test_what_cannot_be_saved_is_said(encoder: HashEncoder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot write"):
        encoder.save(tmp_path / "file")
    encoder.training_card = {"thing": object()}
    with pytest.raises(InputError, match="what json cannot"):
        encoder.save(tmp_path / "enc")
