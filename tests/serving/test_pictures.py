"""Pictures by id: the right file, small, upright, cached; never anything that is no picture of an item."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image
from serving.colours import content, picture
from serving.inside import Asker, asking

import kinhash as kh
from kinhash.data.walking import text_of
from kinhash.errors import InputError, NotFoundError
from kinhash.serving import pictures
from kinhash.serving.app import Settings, create_app
from kinhash.serving.pictures import file_of, thumbnail, uploaded
from kinhash.serving.served import served
from kinhash.serving.thumbnails import Cache, default_folder


def shown(ask: Asker, name: str, size: int | None = None) -> Image.Image:
    reply = ask.get(f"/api/colours/thumbnail?id={quote(name)}" + ("" if size is None else f"&size={size}"))
    assert reply.status == 200, reply.body
    return Image.open(io.BytesIO(reply.body))


def test_a_small_copy_of_the_right_picture(ask: Asker, colours: Path) -> None:
    found = shown(ask, "blue-03.png", 128)
    assert found.format == "WEBP"
    assert found.size == (60, 40)
    r, _, b = np.asarray(found.convert("RGB")).reshape(-1, 3).mean(0)
    assert b > 200 > 100 > r
    reply = ask.get("/api/colours/thumbnail?id=blue-03.png&size=128")
    assert (
        ask.get("/api/colours/thumbnail?id=blue-03.png&size=128", if_none_match=reply.headers["etag"]).status
        == 304
    )
    assert len(list((colours / "cache").iterdir())) >= 1


def test_sizes_rotation_and_modes(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    wide = Image.new("RGB", (800, 200), "red")
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    wide.save(tmp_path / "turned.jpg", exif=exif)
    Image.new("CMYK", (300, 300)).save(tmp_path / "cmyk.jpg")
    Image.new("RGBA", (300, 300), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    wide.save(tmp_path / "moving.gif", save_all=True, append_images=[Image.new("RGB", (800, 200), "blue")])
    sizes = {
        "turned.jpg": (64, 256),
        "cmyk.jpg": (256, 256),
        "clear.png": (256, 256),
        "moving.gif": (256, 64),
    }
    for name, size in sizes.items():
        made, kind, _ = thumbnail(tmp_path / name, 256, cache)
        assert kind == "image/webp"
        assert Image.open(io.BytesIO(made)).size == size
        assert thumbnail(tmp_path / name, 256, cache)[0] == made
    with pytest.raises(InputError, match="size is one of 128, 256, 512, 1024, got 9999"):
        thumbnail(tmp_path / "cmyk.jpg", 9999, cache)


def test_a_changed_picture_is_made_anew_and_a_known_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, path = Cache(tmp_path / "cache"), tmp_path / "a.png"
    picture("red").save(path)
    first = thumbnail(path, 128, cache)[0]
    monkeypatch.setattr(pictures, "_small", None)
    assert thumbnail(path, 128, cache)[0] == first
    monkeypatch.undo()
    picture("blue").save(path)
    os.utime(path, (1, 1))
    assert thumbnail(path, 128, cache)[0] != first


def test_without_webp_it_is_jpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures.features, "check", lambda name: False)
    picture("red").save(tmp_path / "a.png")
    made, kind, _ = thumbnail(tmp_path / "a.png", 128, Cache(tmp_path / "cache"))
    assert kind == "image/jpeg"
    assert Image.open(io.BytesIO(made)).format == "JPEG"


def test_the_cache_is_bounded_and_drops_what_was_not_used_for_longest(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", most_bytes=10_000)
    for number in range(64):
        cache.put(f"{number}.webp", bytes(1000))
        os.utime(tmp_path / "cache" / f"{number}.webp", (number, number))
    assert cache.get("3.webp") == bytes(1000)  # used: now the newest
    cache.put("last.webp", bytes(1000))
    left = {path.stem for path in (tmp_path / "cache").iterdir()}
    assert len(left) == 10
    assert {"3", "last", "63"} <= left


def test_a_full_or_forbidden_disk_costs_only_the_saving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kinhash.serving.thumbnails.replace_file", full)
    picture("red").save(tmp_path / "a.png")
    cache = Cache(tmp_path / "cache")
    assert thumbnail(tmp_path / "a.png", 128, cache)[0] == thumbnail(tmp_path / "a.png", 128, cache)[0]
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    thumbnail(tmp_path / "a.png", 128, Cache(blocked / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "kinhash" / "thumbnails"


def test_where_the_file_of_an_item_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for name in ("in/deep/a.png", "in/b ü.jpg", "secret.png", "in/notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    root = tmp_path / "in"
    assert file_of("deep/a.png", {}, root) == root / "deep" / "a.png"
    assert file_of("7", {"path": "b ü.jpg"}, root) == root / "b ü.jpg"
    assert file_of(7, {"path": str(root / "b ü.jpg")}, None) == root / "b ü.jpg"
    assert file_of("deep/a.png", {"path": "gone.png"}, root) == root / "deep" / "a.png"
    monkeypatch.chdir(tmp_path)
    assert file_of("x", {"path": "in/deep/a.png"}, None) == root / "deep" / "a.png"
    for name, path in [
        ("../secret.png", "deep/../../secret.png"),
        ("notes.txt", "./notes.txt"),
        ("gone.png", None),
        (7, 7),
        ("a\0.png", "\0"),
        ("deep", ""),
    ]:
        with pytest.raises(NotFoundError, match="there is no picture of"):
            file_of(name, {"path": path}, root)  # type: ignore[arg-type]


def test_a_name_that_is_no_unicode(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/na\xefve.png"
    try:
        with open(raw, "wb") as file:
            file.write(content(picture("red")))
    except OSError:
        pytest.skip("this file system takes only Unicode")
    with kh.Index.create(tmp_path / "a.kin", 8) as index:
        index.add(["a"], kh.Codes.from_hex(["00"], 8), [{"path": text_of(os.fsdecode(b"na\xefve.png"))}])
    app = create_app([served("a", tmp_path / "a.kin", None, tmp_path)], Settings(cache=tmp_path / "cache"))
    with asking(app) as ask:
        assert ask.get("/api/a/thumbnail?id=a").status == 200
        with open(raw, "wb") as file:
            file.write(b"no picture")
        assert r"na\udcefve.png cannot be read as a picture" in ask.get("/api/a/thumbnail?id=a").body.decode()


def test_no_request_reaches_a_file_that_no_item_names(ask: Asker) -> None:
    for name in (
        "../colours.kin/head",
        "/etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%00",
        "red-00.png/../red-01.png",
        "",
    ):
        reply = ask.get(f"/api/colours/thumbnail?id={name}")
        assert reply.status in (400, 404)
    assert ask.get("/api/colours/thumbnail").status == 400
    assert ask.get("/api/colours/thumbnail?id=red-00.png&size=-1").status == 400
    assert ask.get(f"/api/colours/thumbnail?id=red-00.png&size={'9' * 5000}").status == 400
    assert ask.get("/api/colours/thumbnail?id=red-00.png&size=%C2%B2").status == 400


def test_an_item_that_names_another_kind_of_file_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    disguised = tmp_path / "p" / "passwords.png"
    disguised.write_text("root:x:0:0")
    with kh.Index.create(tmp_path / "a.kin", 8) as index:
        index.add(
            ["a", "b"],
            kh.Codes.from_hex(["00", "01"], 8),
            [{"path": "/etc/passwd"}, {"path": str(disguised)}],
        )
    app = create_app(
        [served("a", tmp_path / "a.kin", None, tmp_path / "p")], Settings(cache=tmp_path / "cache")
    )
    with asking(app) as ask:
        assert ask.get("/api/a/thumbnail?id=a").status == 404
        reply = ask.get("/api/a/thumbnail?id=b")
        assert reply.status == 422
        assert reply.error.startswith(f"'b' has no picture to show: {disguised} cannot be read as a picture")
        assert b"root:x" not in reply.body


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        content(picture("red"), "jpeg")[:-300],
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n",
    ],
)
def test_uploads_that_are_no_pictures(body: bytes) -> None:
    with pytest.raises(
        InputError, match=f"the upload of {len(body)} bytes cannot be read as a picture: it is"
    ):
        uploaded(body)


@pytest.mark.parametrize("side", [7_000, 20_000])
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_decompression_bomb_is_refused_by_its_head(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = content(Image.new("1", (12_000, side)))  # 84 million pixels, or 240, in a few kB
    assert len(bomb) < 50_000
    monkeypatch.setattr(pictures, "upright", None)  # nothing is decoded
    with pytest.raises(
        InputError, match=r"has 12000 x 7000 pixels, more than 80,000,000|it unpacks to more than"
    ):
        uploaded(bomb)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_photo_of_an_index_may_be_as_large_as_photos_that_are_encoded(tmp_path: Path) -> None:
    Image.new("L", (13_000, 7_000), 90).save(tmp_path / "panorama.jpg")  # 91 million pixels
    made, _, _ = thumbnail(tmp_path / "panorama.jpg", 128, Cache(tmp_path / "cache"))
    assert Image.open(io.BytesIO(made)).size == (128, 69)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "CMYK", "1", "I;16"])
def test_uploads_of_every_mode(mode: str) -> None:
    image = Image.new(mode, (9, 5))
    assert uploaded(content(image, "tiff" if mode == "CMYK" else "png")).mode == "RGB"
