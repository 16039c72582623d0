"""Photos of every kind, read for the network and for people; of those that are none, one sentence why."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kinhash.album.reading import Photo, content_of, read_ahead, read_photo
from kinhash.data.preprocessing import Preprocessing

SMALL = Preprocessing(16)


def read(path: Path) -> Photo:
    photo = read_photo(path, SMALL)
    assert isinstance(photo, Photo), photo
    return photo


def test_size_and_date_are_those_of_the_photo_as_it_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera lay on its side
    exif.get_ifd(0x8769)[0x9003] = "2019:07:03 18:20:05"
    exif[0x8769] = exif.get_ifd(0x8769)
    half = np.zeros((300, 400, 3), np.uint8)
    half[:, :200] = 255  # white on the left, so above once it stands upright
    Image.fromarray(half).save(path, exif=exif)
    photo = read(path)
    assert (photo.width, photo.height, photo.taken, photo.note) == (300, 400, "2019-07-03 18:20:05", "")
    assert photo.pixels.shape == (16, 16, 3)
    assert photo.pixels[:6].mean() > 250
    assert photo.pixels[-6:].mean() < 5
    assert photo.content == content_of(path)


def test_a_large_jpeg_keeps_its_size_though_it_is_decoded_smaller(tmp_path: Path) -> None:
    Image.new("RGB", (1600, 1200), "navy").save(tmp_path / "a.jpg")
    assert (read(tmp_path / "a.jpg").width, read(tmp_path / "a.jpg").height) == (1600, 1200)


@pytest.mark.parametrize("date", ["0000:00:00 00:00:00", "garbage", ""])
def test_cameras_that_do_not_know_the_date(tmp_path: Path, date: str) -> None:
    exif = Image.Exif()
    exif[0x0132] = date
    Image.new("RGB", (9, 9)).save(tmp_path / "a.jpg", exif=exif)
    assert read(tmp_path / "a.jpg").taken == ""


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_damaged_notes_of_the_camera_do_no_harm(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (9, 9), "red").save(out, "JPEG")
    rubbish = b"Exif\0\0II*\0\xff\xff\xff\xff" + bytes(range(40))
    plain = out.getvalue()
    (tmp_path / "a.jpg").write_bytes(
        plain[:2] + b"\xff\xe1" + struct.pack(">H", len(rubbish) + 2) + rubbish + plain[2:]
    )
    assert read(tmp_path / "a.jpg").width == 9


@pytest.mark.parametrize("kind", ["gif", "webp", "png", "tiff"])
def test_of_several_frames_the_first_counts_and_that_is_said(tmp_path: Path, kind: str) -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "lime", "blue")]
    frames[0].save(tmp_path / f"a.{kind}", save_all=True, append_images=frames[1:])
    photo = read(tmp_path / f"a.{kind}")
    what = "pages" if kind == "tiff" else "frames of an animation"
    assert photo.note == f"the first of 3 {what} counts"
    red, green, blue = photo.pixels[8, 8].tolist()
    assert red > 200
    assert max(green, blue) < 60


MODES: dict[str, Callable[[Path], None]] = {
    "cmyk.jpg": lambda path: Image.new("CMYK", (9, 9), (0, 255, 255, 0)).save(path),
    "16bit.png": lambda path: Image.fromarray(np.full((9, 9), 40_000, np.uint16)).save(path),
    "grey.png": lambda path: Image.new("L", (9, 9), 99).save(path),
    "palette.png": lambda path: Image.new("RGB", (9, 9), "red").quantize(4).save(path),
    "alpha.png": lambda path: Image.new("RGBA", (9, 9), (0, 0, 0, 0)).save(path),
    "bits.tiff": lambda path: Image.new("1", (9, 9), 1).save(path),
    "one-pixel.png": lambda path: Image.new("RGB", (1, 1)).save(path),
    "thread.png": lambda path: Image.new("RGB", (3000, 1)).save(path),
}


@pytest.mark.parametrize("name", list(MODES))
def test_every_mode_and_shape_is_a_photo(tmp_path: Path, name: str) -> None:
    MODES[name](tmp_path / name)
    pixels = read(tmp_path / name).pixels
    assert pixels.shape == (16, 16, 3)
    if name == "alpha.png":
        assert (pixels == 255).all()
    if name == "16bit.png":
        assert (pixels == 40_000 >> 8).all()


def bomb() -> bytes:
    """A PNG of 400 megapixels in a few hundred bytes; what it holds does not matter."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(999)))
        + chunk(b"IEND", b"")
    )


def noise() -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (90, 90, 3), dtype=np.uint8)).save(out, "JPEG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "it is empty"),
        (b"hello", "it is in none of the formats that are read, or damaged"),
        (bomb(), "it unpacks to more than 178,956,970 pixels, as a file made to fill the memory would"),
        (noise()[:-900], "it is damaged: "),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "it is in none of the formats that are read"),
    ],
)
def test_what_is_no_photo_is_told_in_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(content)
    told = read_photo(path, SMALL)
    assert isinstance(told, str)
    assert told.startswith(sentence)
    assert "\n" not in told


def test_files_that_are_gone_or_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = read_photo(tmp_path / "gone.jpg", SMALL)
    assert told == "it cannot be read: No such file or directory"
    assert content_of(tmp_path / "gone.jpg") is None

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    assert read_photo(tmp_path / "locked.jpg", SMALL) == "it cannot be read: Permission denied"


def test_many_are_read_in_order(tmp_path: Path) -> None:
    for i in range(30):
        Image.new("RGB", (9, 9), (i * 8, 0, 0)).save(tmp_path / f"{i}.png")
    (tmp_path / "7.png").write_bytes(b"")
    found = list(read_ahead((tmp_path / f"{i}.png" for i in range(30)), SMALL, workers=3))
    assert found[7] == "it is empty"
    reds = [photo.pixels[0, 0, 0] for photo in found if isinstance(photo, Photo)]
    assert reds == [i * 8 for i in range(30) if i != 7]
