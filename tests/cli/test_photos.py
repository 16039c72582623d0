"""`kinhash photos` on the command line, and what docs/photos.md says of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from album.albums import encoder, photo
from cli.commands import done, refused, run
from pages import blocks, page

from kinhash.models.encoder import HashEncoder


@pytest.fixture
def album(tmp_path: Path) -> Path:
    for i in range(5):
        photo(tmp_path / "Pictures" / "2019" / f"{i}.png", i)
    photo(tmp_path / "query.jpg", 1)
    shutil.copy(tmp_path / "Pictures/2019/1.png", tmp_path / "Pictures/2019/cat.jpg")
    encoder().save(tmp_path / "encoder")
    return tmp_path / "Pictures"


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    def small(*_: Any, **__: Any) -> HashEncoder:
        return encoder()

    monkeypatch.setattr("kinhash.models.pretrained.pretrained_encoder", small)


def test_a_sentence_or_json(album: Path, tmp_path: Path) -> None:
    said = done("photos", album, "--encoder", tmp_path / "encoder", "--no-serve", "--quiet")
    assert said == f"{album}: 6 photos, 6 added\n"
    (album / "IMG.HEIC").touch()
    card = json.loads(done("photos", album, "--no-serve", "--json"))
    assert (card["photos"], card["added"]) == (6, 0)
    assert card["unreadable"][0]["path"] == "IMG.HEIC"
    assert Path(card["index"]).is_dir()


def test_it_is_served_with_its_own_encoder(
    album: Path, untrained: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Any] = []
    monkeypatch.setattr("kinhash.serve", lambda *a, **k: served.append((a, k)), raising=False)
    assert run("photos", album, "--port", "0", "--quiet").exit_code == 0
    (index, own), options = served[0]
    assert (index, own) == ({"Pictures": album / ".kinhash" / "index"}, album / ".kinhash" / "encoder")
    assert (options["port"], options["host"], options["pictures"]) == (0, "127.0.0.1", album)
    assert run("photos", album, "--port", "0", "--quiet", "--device", "cpu").exit_code == 0
    assert str(served[1][0][1].device) == "cpu"


def test_the_page_shows_the_name_of_the_folder_wherever_one_stands(
    album: Path, untrained: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []

    def serve(indexes: dict[str, Path], *_: Any, ready: Any, **__: Any) -> None:
        names.extend(indexes)
        ready("http://here")

    monkeypatch.setattr("kinhash.serve", serve, raising=False)
    monkeypatch.chdir(album / "2019")
    assert "serving . at http://here" in run("photos", ".", "--quiet").stderr
    assert run("photos", "..", "--quiet").exit_code == 0
    dated = album.rename(album.with_name("Summer 2019.07"))
    assert run("photos", dated, "--quiet").exit_code == 0
    assert names == ["2019", "Pictures", "Summer-2019.07"]


def test_an_address_that_is_taken_is_said_before_anything_is_encoded(album: Path, untrained: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = refused("photos", album, "--port", taken.getsockname()[1])
    assert "choose another port" in said
    assert "from 0 to 65535" in refused("photos", album, "--port", 70_000)
    assert not (album / ".kinhash").exists()


def test_an_interruption_says_that_nothing_is_lost(
    album: Path, untrained: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(folder: Path, *, progress: Any, **_: Any) -> None:
        progress(64, 200)
        raise KeyboardInterrupt

    monkeypatch.setattr("kinhash.photos", interrupted, raising=False)
    result = run("photos", album, "--no-serve", "--quiet")
    assert result.exit_code == 1  # the program itself makes it 130
    assert "64 photos were looked at and stay so; the same command goes on from there" in result.stderr


def test_bad_folders_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "1.jpg").touch()
    assert "got -3" in refused("photos", tmp_path, "--no-serve", "--workers", -3)
    assert refused("photos", tmp_path / "absent", "--no-serve").endswith("absent does not exist")


def test_every_command_of_the_page_runs(
    album: Path, untrained: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kinhash.serve", lambda *a, **k: None, raising=False)
    lines = [
        line
        for block in re.findall(r"```sh\n(.*?)```", page("photos"), re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) > 4
    import shlex

    for line in lines:
        words = [word.replace("~/", f"{tmp_path}/") for word in shlex.split(line)]
        if "--where" in words:  # these photos are of no camera
            at = words.index("--where")
            words[at + 1] = "width > 0"
        assert words[0] == "kinhash"
        done(*words[1:])


def test_the_page_in_python(
    album: Path, untrained: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks("photos"):
        exec(block, {"print": lambda *_: None})
    assert os.path.isdir("Pictures/.kinhash/index")
