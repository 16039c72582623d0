"""Encoders travel to a hub and back; what is damaged or foreign does not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cli.commands import done
from models.hub_server import Hub, hub_running

import kinhash as kh
from kinhash.errors import (
    FormatError,
    InputError,
    MissingDependencyError,
    NotFoundError,
    ServerError,
    StorageError,
)
from kinhash.models.encoder import HashEncoder
from kinhash.models.mlp import MLP
from kinhash.models.network import HashNetwork

# how the Hub's client speaks to its own HTTP library
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
NAME = "ada/pets"
ROWS = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs the extra hub")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_TOKEN", "secret")
    with hub_running() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture
def encoder() -> HashEncoder:
    return HashEncoder(HashNetwork(MLP(6, (4,)), 16), training={"method": "sim", "samples": 7})


def test_there_and_back(hub: Hub, encoder: HashEncoder, capfd: pytest.CaptureFixture[str]) -> None:
    assert kh.push(encoder, NAME, private=True) == f"{hub.url}/{NAME}"
    assert hub.private == {NAME}
    assert len(hub.large) == 1
    assert "Bearer secret" in hub.tokens
    files = hub.repositories[NAME]
    assert sorted(name.split("-")[0] for name in files) == ["README.md", "encoder.json", "weights"]
    loaded = kh.load_encoder(f"hub:{NAME}", device="cpu")
    assert loaded.encode(ROWS) == encoder.encode(ROWS)
    kh.load_encoder(f"hub:{NAME}@main", bits=16, device="cpu")
    assert capfd.readouterr() == ("", ""), "the library never prints"


def test_what_people_add_to_the_card_travels_and_old_weights_go(
    hub: Hub, encoder: HashEncoder, tmp_path: Path
) -> None:
    hub.repositories[NAME] = {"weights-00000000.safetensors": b"old", "notes.txt": b"mine"}
    encoder.save(tmp_path / "own")
    card = tmp_path / "own" / "README.md"
    card.write_text(card.read_text().replace("license: unknown", "license: mit"))
    (tmp_path / "own" / "secret.py").write_text("raise SystemExit")
    done("push", tmp_path / "own", NAME)
    names = set(hub.repositories[NAME])
    assert b"license: mit" in hub.repositories[NAME]["README.md"]
    assert "notes.txt" in names
    assert not {"secret.py", "weights-00000000.safetensors"} & names


def test_only_card_and_weights_are_fetched(hub: Hub, encoder: HashEncoder, tmp_path: Path) -> None:
    kh.push(encoder, NAME)
    hub.repositories[NAME]["modeling.py"] = b"raise SystemExit"
    hub.repositories[NAME]["pytorch_model.bin"] = b"pickle"
    out = done("pull", NAME, tmp_path / "here")
    assert "an encoder" in out
    assert not [path for path in (tmp_path / "here").iterdir() if path.suffix in (".py", ".bin")]
    with pytest.raises(StorageError, match="already holds an encoder"):
        kh.pull(NAME, tmp_path / "here")


def test_weights_with_a_wrong_checksum_are_refused_both_ways(
    hub: Hub, encoder: HashEncoder, tmp_path: Path
) -> None:
    kh.push(encoder, NAME)
    files = hub.repositories[NAME]
    [weights] = [name for name in files if name.startswith("weights")]
    files[weights] = files[weights][:-1] + bytes([files[weights][-1] ^ 1])
    with pytest.raises(FormatError, match="does not match"):
        kh.load_encoder(f"hub:{NAME}")
    encoder.save(tmp_path / "own")
    (tmp_path / "own" / weights).write_bytes(files[weights])
    before = len(hub.seen)
    with pytest.raises(FormatError, match="does not match"):
        kh.push(tmp_path / "own", NAME)
    assert len(hub.seen) == before


def test_what_is_not_there(hub: Hub, encoder: HashEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFoundError, match="'ada/none' could not be fetched"):
        kh.pull("ada/none")
    with pytest.raises(InputError, match="USER/NAME"):
        kh.load_encoder("hub:pets")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ServerError, match="could not be sent"):
        kh.push(encoder, NAME)


def test_without_the_extra_the_pip_line_is_said(
    encoder: HashEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'kinhash\[hub\]'"):
        kh.push(encoder, NAME)
    with pytest.raises(MissingDependencyError, match=r"pip install 'kinhash\[hub\]'"):
        kh.load_encoder(f"hub:{NAME}")
