"""Every kind of picture file becomes upright RGB; what is no picture becomes one sentence."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kinhash.data.images import Broken, FilePart, name_of, open_rgb, pixels, read_all, small, told
from kinhash.errors import FormatError, InputError, NotFoundError

RGB = np.random.default_rng(0).integers(0, 256, (6, 9, 3), dtype=np.uint8)
GREY = RGB[:, :, 0]


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def grey_rgb(values: np.ndarray) -> np.ndarray:
    return np.repeat(values[:, :, None], 3, axis=2)


def cmyk() -> Image.Image:
    image = Image.fromarray(RGB).convert("CMYK")
    assert image.mode == "CMYK"
    return image


def half_transparent() -> Image.Image:
    alpha = np.full((6, 9, 1), 255, np.uint8)
    alpha[:, :4] = 0
    return Image.fromarray(np.concatenate([RGB, alpha], axis=2), "RGBA")


def on_white() -> np.ndarray:
    expected = RGB.copy()
    expected[:, :4] = 255
    return expected


def palette_with_transparency() -> tuple[bytes, np.ndarray]:
    indices = (np.arange(54).reshape(6, 9) % 3).astype(np.uint8)
    image = Image.fromarray(indices, "P")
    image.putpalette([10, 20, 30, 40, 50, 60, 70, 80, 90])
    colours = np.array([[10, 20, 30], [255, 255, 255], [70, 80, 90]], dtype=np.uint8)
    return encoded(image, transparency=1), colours[indices]


MODES: dict[str, Callable[[], tuple[bytes, np.ndarray]]] = {
    "rgb": lambda: (encoded(Image.fromarray(RGB)), RGB),
    "grey": lambda: (encoded(Image.fromarray(GREY)), grey_rgb(GREY)),
    "one bit": lambda: (encoded(Image.fromarray(GREY > 99)), grey_rgb(np.where(GREY > 99, 255, 0))),
    "alpha": lambda: (encoded(half_transparent()), on_white()),
    "grey and alpha": lambda: (
        encoded(Image.merge("LA", [Image.fromarray(GREY), Image.new("L", (9, 6), 0)])),
        np.full((6, 9, 3), 255),
    ),
    "palette": lambda: (
        encoded(Image.fromarray(RGB).quantize(256)),
        np.asarray(Image.fromarray(RGB).quantize(256).convert("RGB")),
    ),
    "palette and transparency": palette_with_transparency,
    "cmyk": lambda: (encoded(cmyk(), "TIFF"), np.asarray(cmyk().convert("RGB"))),
    "16 bit grey": lambda: (
        encoded(Image.fromarray(GREY.astype(np.uint16) * 256 + 77)),
        grey_rgb(GREY),
    ),
    "32 bit whole numbers": lambda: (
        encoded(Image.fromarray(GREY.astype(np.int32) * 256 + 77), "TIFF"),
        grey_rgb(GREY),
    ),
    "colour key": lambda: (
        encoded(Image.fromarray(np.where(GREY[..., None] > 99, 7, RGB * 0)), transparency=(7, 7, 7)),
        grey_rgb(np.where(GREY > 99, 255, 0)),
    ),
    "animation": lambda: (
        encoded(
            Image.new("RGB", (9, 6), "red"),
            "GIF",
            save_all=True,
            append_images=[Image.new("RGB", (9, 6), "blue")],
        ),
        np.broadcast_to(np.array([255, 0, 0]), (6, 9, 3)),
    ),
}


@pytest.mark.parametrize("mode", list(MODES))
def test_every_mode_becomes_rgb(mode: str) -> None:
    content, expected = MODES[mode]()
    got = pixels(content)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_cameras_that_were_held_otherwise(orientation: int) -> None:
    turned = {
        1: RGB,
        2: RGB[:, ::-1],
        3: RGB[::-1, ::-1],
        4: RGB[::-1],
        5: RGB.transpose(1, 0, 2),
        6: np.rot90(RGB, -1),
        7: np.rot90(RGB, 2).transpose(1, 0, 2),
        8: np.rot90(RGB),
    }[orientation]
    image = Image.fromarray(RGB)
    exif = image.getexif()
    exif[0x0112] = orientation
    np.testing.assert_array_equal(pixels(encoded(image, exif=exif)), turned)


def test_every_kind_of_source(tmp_path: Path) -> None:
    content = encoded(Image.fromarray(RGB))
    path = tmp_path / "a.png"
    path.write_bytes(content)
    (tmp_path / "b.bin").write_bytes(b"xx" + content + b"yy")
    part = FilePart(tmp_path / "b.bin", 2, len(content))
    for source in (path, str(path), content, part, Image.fromarray(RGB), RGB):
        np.testing.assert_array_equal(pixels(source), RGB)
    np.testing.assert_array_equal(pixels(GREY), grey_rgb(GREY))
    assert name_of(part).endswith("b.bin at byte 2")


def test_a_large_jpeg_may_be_decoded_smaller() -> None:
    content = encoded(Image.new("RGB", (400, 300), "green"), "JPEG")
    assert open_rgb(content).size == (400, 300)
    smaller = open_rgb(content, near=60)
    assert 60 <= min(smaller.size) < 300


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read as a picture"),
        (b"no picture at all", "17 bytes cannot be read as a picture"),
        (encoded(Image.fromarray(RGB))[:90], "cannot be read as a picture"),
        (encoded(Image.new("RGB", (300, 300), "red"), "JPEG")[:700], "truncated"),
        (encoded(Image.new("F", (3, 3)), "TIFF"), "floating-point pixels"),
        (encoded(Image.fromarray(np.full((3, 3), 70_000, np.int32)), "TIFF"), "outside 16 bits"),
    ],
)
def test_what_is_no_picture_is_said(content: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        pixels(content)


def test_missing_files_and_arrays_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no file .*x\.png"):
        pixels(tmp_path / "x.png")
    for bad in (RGB.astype(float), RGB[:, :, :2], RGB[:0], RGB[None]):
        with pytest.raises(InputError, match="uint8, got shape"):
            pixels(bad)


def test_reading_many_keeps_the_order_and_names_the_broken() -> None:
    good = encoded(Image.fromarray(RGB))
    read = list(read_all([good, b"bad", good], ["a", "b", "c"], threads=2))
    assert [position for position, _ in read] == [0, 1, 2]
    broken = read[1][1]
    assert isinstance(broken, Broken)
    assert told([broken]).startswith("1 picture was left out because it cannot be read: b (3 bytes")
    assert told([broken, broken]).startswith("2 pictures were left out")


def test_small_copies_leave_the_picture_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = Image.new("RGB", (400, 100), "red")
    assert small(picture, 40).size == (40, 10)
    assert small(Image.new("L", (8, 5)), 40).size == (8, 5)
    assert small(np.zeros((90, 30, 3), np.uint8), 45).size == (15, 45)

    def damaged(_: Image.Image) -> Image.Image:
        raise ValueError("no EXIF")

    monkeypatch.setattr("kinhash.data.images.ImageOps.exif_transpose", damaged)
    assert small(picture, 40).size == (40, 10)
    assert picture.size == (400, 100)
