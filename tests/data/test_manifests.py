"""Manifests in every format give the same splits; what is wrong is named by row."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from realdata import find_data

import kinhash as kh
from kinhash.data.images import BrokenPictureWarning, FilePart, pixels
from kinhash.data.pairing import UnpairedWarning
from kinhash.errors import FormatError, InputError, NotFoundError, UnknownClassError

ROWS = [
    {"path": "a.png", "label": "dog", "caption": "a dog", "split": "train"},
    {"path": "b.png", "label": "cat", "caption": "a cat, asleep", "split": "test"},
    {"path": "a.png", "label": "dog", "caption": "the same dog", "split": "train"},
    {"path": "sub/c.png", "label": "cat", "caption": "Katze in Öl", "split": "train"},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        lines = [list(rows[0]), *(list(row.values()) for row in rows)]
        path.write_text("\n".join(mark.join(f'"{v}"' for v in line) for line in lines), encoding="utf-8-sig")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i, name in enumerate(("a.png", "b.png", "sub/c.png")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (4, 4), (i, i, i)).save(tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_every_format(folder: Path, kind: str) -> None:
    data = kh.dataset("manifest", write(folder / f"list.{kind}", ROWS))
    assert data.classes == ("cat", "dog")
    assert data.train.ids == ["a.png", "sub/c.png"]
    assert data.train.captions == [["a dog", "the same dog"], ["Katze in Öl"]]
    assert data.train.labels is not None
    assert data.train.labels.tolist() == [1, 0]
    assert data.test.captions == [["a cat, asleep"]]
    assert isinstance(data.train.images, list)
    assert [pixels(image)[0, 0, 0] for image in data.train.images] == [0, 2]


def test_columns_by_other_names_and_numbers_as_labels(folder: Path) -> None:
    rows = [{"name": "x", "where": "a.png", "kind": 1}, {"name": "y", "where": "b.png", "kind": 3}]
    path = write(folder / "list.jsonl", rows)
    data = kh.dataset("manifest", path, picture="where", label="kind", id="name")
    assert data.train.ids == ["x", "y"]
    assert data.classes == ("0", "1", "2", "3")
    data = kh.dataset("manifest", path, picture="where", label="kind", classes=list("abcd"))
    assert data.classes == ("a", "b", "c", "d")
    assert data.train.labels is not None
    assert data.train.labels.tolist() == [1, 3]
    assert data.train.captions is None


def test_pictures_inside_parquet(folder: Path) -> None:
    content = (folder / "b.png").read_bytes()
    rows = [
        {"image": {"bytes": content, "path": "b.png"}, "label": "x"},
        {"image": {"bytes": None, "path": "a.png"}, "label": "y"},
    ]
    data = kh.dataset("manifest", write(folder / "list.parquet", rows))
    assert isinstance(data.train.images, list)
    assert [pixels(image)[0, 0, 0] for image in data.train.images] == [1, 0]
    assert data.train.ids == ["0", "1"]


def test_pictures_in_tars_by_name_and_stem(tmp_path: Path, folder: Path) -> None:
    with tarfile.open(tmp_path / "pictures.tar", "w") as archive:
        for i in range(3):
            out = io.BytesIO()
            Image.new("RGB", (4, 4), (50 + i, 0, 0)).save(out, "PNG")
            info = tarfile.TarInfo(f"deep/p{i}.png")
            info.size = len(out.getvalue())
            archive.addfile(info, io.BytesIO(out.getvalue()))
    rows = [{"image_id": "p2", "caption": "two"}, {"image_id": "deep/p0.png", "caption": "zero"}]
    path = write(tmp_path / "list.csv", rows)
    for images in (None, tmp_path, tmp_path / "pictures.tar", [tmp_path / "pictures.tar"]):
        with pytest.warns(UnpairedWarning, match=r"1 left out because it has no caption, deep/p1\.png"):
            data = kh.dataset("manifest", path, **({} if images is None else {"images": images}))
        assert isinstance(data.train.images, list)
        assert all(isinstance(image, FilePart) for image in data.train.images)
        assert [pixels(image)[0, 0, 0] for image in data.train.images] == [52, 50]
        assert data.train.ids == ["p2", "deep/p0.png"]


def test_a_missing_picture_is_left_for_reading_to_report(folder: Path) -> None:
    rows = [{key: row[key] for key in ("path", "label", "split")} for row in ROWS]
    data = kh.dataset("manifest", write(folder / "list.csv", [*rows, {**rows[0], "path": "gone.png"}]))
    with pytest.warns(BrokenPictureWarning, match=r"gone\.png"):
        read = data.train.in_memory()
    assert [broken.id for broken in read.broken] == ["gone.png"]
    assert len(read) == 2


def test_what_has_no_counterpart_is_listed_and_left_out(folder: Path) -> None:
    rows = [
        *ROWS[:3],
        {**ROWS[0], "path": "b.png", "caption": "  ", "label": "cat"},
        {**ROWS[0], "path": "gone.png"},
        {**ROWS[0], "path": ""},
        {**ROWS[1], "path": "empty.png", "caption": ""},
    ]
    Image.new("RGB", (4, 4)).save(folder / "empty.png")
    Image.new("RGB", (4, 4)).save(folder / "loose.png")
    path = write(folder / "list.csv", rows)
    with pytest.warns(
        UnpairedWarning, match=r"2 left out because there is no picture .* the first one: gone\.png"
    ):
        data = kh.dataset("manifest", path)
    assert data.train.ids == ["a.png"]
    assert data.test.ids == ["b.png"]
    assert {(broken.id, broken.reason) for broken in data.train.broken} == {
        ("gone.png", "there is no picture for its caption"),
        ("row 6", "there is no picture for its caption"),
        ("empty.png", "it has no caption"),
        (str(folder / "loose.png"), "it has no caption"),
    }


def test_captions_may_be_long_and_in_any_language(folder: Path) -> None:
    texts = ["x" * 1_000_000, "二匹の犬が草原で遊ぶ", "собака", "כלב"]
    rows = [{"path": "a.png", "caption": text} for text in texts]
    for name in ("long.csv", "long.jsonl"):
        with pytest.warns(UnpairedWarning, match=r"b\.png"):
            data = kh.dataset("manifest", write(folder / name, rows))
        assert data.train.captions == [texts]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{"path": "", "label": "dog"}], {}, "row 1: nothing in column 'path'"),
        ([ROWS[0], {**ROWS[1], "label": ""}], {}, "row 2: nothing in column 'label'"),
        (
            [{**ROWS[0], "path": "gone.png"}],
            {},
            "no row with both a picture and a caption; 1 left out because",
        ),
        ([ROWS[0], {**ROWS[0], "label": "cow"}], {}, "row 2: a.png has label 'cow', but 'dog'"),
        ([{"what": "a.png"}], {}, "no column that names pictures"),
        (ROWS, {"label": "kind"}, "no column 'kind'"),
        (ROWS, {"colour": "kind"}, "no option 'colour'"),
        (ROWS, {"classes": ["dog"]}, "label 'cat' is not among"),
        (ROWS, {"images": "nowhere"}, "no file or folder nowhere"),
    ],
)
def test_what_is_wrong_is_said(
    folder: Path, rows: list[dict[str, Any]], options: dict[str, Any], message: str
) -> None:
    with pytest.raises((FormatError, InputError, UnknownClassError, NotFoundError), match=message):
        kh.dataset("manifest", write(folder / "list.csv", rows), **options)


def test_files_that_are_no_manifests(folder: Path) -> None:
    for name, content, message in [
        ("a.jsonl", '{"path": "a.png"}\n{"pa', "line 2 is no json"),
        ("b.jsonl", "[1]", "line 1 holds no object"),
        ("c.csv", "path,label\n", "lists no pictures"),
        ("d.parquet", "PAR1", "cannot be read as parquet"),
        ("e.txt", "a.png", "csv, tsv, jsonl or parquet"),
        (
            "g.jsonl",
            '{"path": "a.png", "label": 1}\n{"path": "b.png", "label": "x"}',
            "all names or all whole",
        ),
    ]:
        (folder / name).write_text(content)
        with pytest.raises((FormatError, InputError), match=message):
            kh.dataset("manifest", folder / name)
    (folder / "f.csv").write_bytes(b"path\n\xff\xfe\x80.png\n")
    with pytest.raises(FormatError, match="cannot be read as csv"):
        kh.dataset("manifest", folder / "f.csv")
    with pytest.raises(NotFoundError, match="no manifest"):
        kh.dataset("manifest", folder / "gone.csv")
    (folder / "h.tar").write_bytes(b"x" * 2000)
    with pytest.raises(FormatError, match="no uncompressed tar"):
        kh.dataset("manifest", write(folder / "h.csv", [{"path": "nobody"}]), images=folder / "h.tar")


def test_real_captions() -> None:
    data = kh.dataset("manifest", find_data("flickr8k") / "captions.csv")
    assert (len(data.train), len(data.test)) == (6000, 1000)
    assert data.train.captions is not None
    assert {len(captions) for captions in data.train.captions} == {5}
    assert isinstance(data.train.images, list)
    assert min(pixels(data.train.images[0]).shape[:2]) == 128
    assert np.unique([len(data.train.ids), len(set(data.train.ids))]).tolist() == [6000]


@pytest.mark.parametrize("name", ["list.csv", "list.jsonl"])
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path, name: str) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    text = "path,label\na.png,otter\n" if name.endswith("csv") else '{"path": "a.png", "label": "otter"}\n'
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert kh.dataset("manifest", root=tmp_path / name).classes == ("otter",)
