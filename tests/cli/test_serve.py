"""`kinhash serve`: options become arguments of `kh.serve`; mistakes are found before anything listens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli.commands import done, refused, run

import kinhash as kh

pytest.importorskip("uvicorn", reason="the extra serve is not installed")


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    calls: list[Any] = []

    def serve(*arguments: Any, ready: Any, **options: Any) -> None:
        ready("http://here")
        calls.append((*arguments, options))

    monkeypatch.setattr(kh, "serve", serve, raising=False)
    return calls


def test_options_become_arguments(called: list[Any]) -> None:
    assert done("serve", "a/photos.kin") == "serving photos at http://here (Ctrl-C stops)\n"
    done("serve", "a/photos.kin", "b.kin", "--encoder", "e", "--port", 0, "--max-upload", 0.5, "--token", "t")
    done(
        "serve",
        "a.kin",
        "b.kin",
        "--encoder",
        "e",
        "--encoder",
        "f",
        "--cors",
        "https://x",
        "--pictures",
        "p",
    )
    defaults = {"host": "127.0.0.1", "port": 8080, "pictures": None, "token": None, "cors": (), "cache": None}
    assert called[0] == ({"photos": Path("a/photos.kin")}, None, {**defaults, "max_upload": 32 * 2**20})
    both = {"photos": Path("a/photos.kin"), "b": Path("b.kin")}
    assert called[1] == (both, Path("e"), {**defaults, "port": 0, "max_upload": 2**19, "token": "t"})
    assert called[2][1] == {"a": Path("e"), "b": Path("f")}
    assert (called[2][2]["cors"], called[2][2]["pictures"]) == (("https://x",), Path("p"))


def test_a_folder_of_photos_brings_its_encoder_and_its_pictures(tmp_path: Path, called: list[Any]) -> None:
    pytest.importorskip("torch")
    from album.albums import encoder, photo

    photo(tmp_path / "Pictures" / "a.png", 1)
    encoder().save(tmp_path / "encoder")
    home = kh.photos(tmp_path / "Pictures", encoder=tmp_path / "encoder").index.parent
    done("serve", tmp_path / "Pictures")
    indexes, own, options = called[0]
    assert (indexes, own) == ({"Pictures": home / "index"}, {"Pictures": home / "encoder"})
    assert options["pictures"] == tmp_path / "Pictures"
    done("serve", tmp_path / "Pictures", "--encoder", "e", "--pictures", "p")
    assert (called[1][1], called[1][2]["pictures"]) == (Path("e"), Path("p"))


def test_the_token_may_come_from_the_environment(called: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINHASH_TOKEN", "quiet")
    done("serve", "a.kin")
    assert called[0][2]["token"] == "quiet"


def test_mistakes(tmp_path: Path, called: list[Any]) -> None:
    wrong = run("serve", "a.kin", "b.kin", "c.kin", "--encoder", "e", "--encoder", "f")
    assert wrong.exit_code == 2
    assert "2 encoders for 3 indexes: give one for each, or one for all" in wrong.output
    assert run("serve").exit_code == 2
    assert refused("serve", "a.kin", "--max-upload", 0) == "--max-upload is a number of MB above 0, got 0"
    assert (
        refused("serve", "a.kin", "--max-upload", "nan") == "--max-upload is a number of MB above 0, got nan"
    )
    assert called == []


def test_an_index_that_is_not_there(tmp_path: Path) -> None:
    assert str(tmp_path / "absent.kin") in refused("serve", tmp_path / "absent.kin", "--port", 0)
