"""Captioned pictures on the command line: trained, indexed, and found by sentences."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.commands import done, refused, run
from data.pairs import write_tar
from fake_text import Words
from PIL import Image

import kinhash as kh
from kinhash.models import HashNetwork

COLOURS = {"red": (230, 0, 0), "green": (0, 230, 0), "blue": (0, 0, 230), "white": (240, 240, 240)}
QUICK = (
    "--backbone",
    "wrn10-1",
    "--epochs",
    3,
    "--bits",
    16,
    "--device",
    "cpu",
    "--quiet",
    "--set",
    "batch=16",
)


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("text", "asking"):
            patch.setattr(f"kinhash.models.{module}.text_encoder", lambda name, **_: Words(name=name))
        yield


def files(n: int, part: int) -> dict[str, bytes]:
    found = {}
    for i in range(n):
        name, colour = list(COLOURS.items())[i % 4]
        out = io.BytesIO()
        Image.new("RGB", (32, 24), tuple(min(255, c + 3 * (i // 4)) for c in colour)).save(out, "PNG")
        found[f"{part}-{i}.png"] = out.getvalue()
        found[f"{part}-{i}.txt"] = f"something {name}\na {name} wall".encode()
    return found


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    write_tar(folder / "train-0.tar", files(48, 0))
    write_tar(folder / "test-0.tar", files(16, 1))
    return folder


@pytest.fixture(scope="module")
def trained(shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    said = done("train", shards, "--out", out, *QUICK)
    assert "test part, Kendall's tau-b, codes against targets:" in said
    assert "text_to_image_recall_at_10:" in said
    return out


def test_captions_are_found_without_being_asked_for(trained: Path) -> None:
    config = json.loads((trained / "config.json").read_text())
    assert (config["method"], config["text"], config["whole"]) == ("sim-kl-reg", "minilm", True)
    assert kh.load_encoder(trained / "encoder", device="cpu").understands_text


def test_photos_are_found_by_sentences(trained: Path, shards: Path, tmp_path: Path) -> None:
    done("encode", trained / "encoder", shards, "--part", "test", "--out", tmp_path / "codes", "--quiet")
    index = tmp_path / "photos.kin"
    done("index", "create", index, "--bits", 16)
    done("index", "add", index, tmp_path / "codes", "--quiet")
    encoder = ("--encoder", trained / "encoder", "--device", "cpu")
    sentence = "something green " * 2000  # longer than any file's name
    card = json.loads(done("search", index, sentence, *encoder, "-k", 3, "--json"))
    asked = kh.load_encoder(trained / "encoder", device="cpu").encode_text(sentence)
    with kh.Index.open(index, read_only=True) as opened:
        wanted, _ = opened.search(asked, 3)[0]
    assert [hit["id"] for hit in card["answers"][0]["hits"]] == wanted.tolist()
    Image.new("RGB", (32, 24), (0, 230, 0)).save(tmp_path / "green.png")
    both = json.loads(done("search", index, tmp_path / "green.png", "a red wall", *encoder, "--json"))
    assert [answer["query"] for answer in both["answers"]] == [str(tmp_path / "green.png"), "a red wall"]
    assert run("search", index, "a red wall").exit_code == 2


def test_an_encoder_beside_the_index_needs_no_naming(trained: Path, tmp_path: Path) -> None:
    encoder = kh.load_encoder(trained / "encoder", device="cpu")
    encoder.save(tmp_path / "encoder")
    with kh.Index.create(tmp_path / "index", 16) as index:
        index.add(["x"], encoder.encode_text("a red wall"))
    assert done("search", tmp_path / "index", "a red wall", "--device", "cpu").startswith("0\tx\t")


def test_an_encoder_of_pictures_alone_says_what_to_do(tmp_path: Path) -> None:
    kh.HashEncoder(HashNetwork("wrn10-1", 16)).save(tmp_path / "encoder")
    kh.Index.create(tmp_path / "index", 16).close()
    said = refused("search", tmp_path / "index", "a red wall", "--device", "cpu")
    assert "knows pictures alone, so a sentence has no code" in said
    assert "--captions" in said


def test_captions_where_there_are_none(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(tmp_path / "photos" / name / "1.png")
    common = ("train", tmp_path / "photos", "--out", tmp_path / "run", "--captions")
    assert "the split has no captions" in refused(*common, *QUICK)
    assert "leave --semantics and --target-vectors out" in refused(*common, "--semantics", "labels", *QUICK)
