"""Data sets by name, and paths that say by themselves what they hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import kinhash as kh
from kinhash.errors import FormatError, InputError, NotFoundError


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("cat", "dog"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        Image.new("RGB", (4, 4)).save(tmp_path / "photos" / name / "1.png")
    (tmp_path / "list.csv").write_text("path,label\nphotos/cat/1.png,cat\n")
    (tmp_path / "parts").mkdir()
    np.save(tmp_path / "vectors.npy", np.ones((3, 2)))
    np.save(tmp_path / "parts" / "train.npy", np.ones((4, 2)))
    pq.write_table(pa.table({"embedding": [[1.0, 2.0]]}), tmp_path / "vectors.parquet")
    pq.write_table(pa.table({"path": ["photos/cat/1.png"], "label": ["cat"]}), tmp_path / "list.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "kind", "n"),
    [
        ("photos", "folder", 2),
        ("list.csv", "list", 1),
        ("list.parquet", "list", 1),
        ("vectors.npy", "embeddings", 3),
        ("vectors.parquet", "embeddings", 1),
        ("parts", "embeddings", 4),
    ],
)
def test_a_path_says_what_it_holds(place: Path, name: str, kind: str, n: int) -> None:
    for path in (place / name, str(place / name)):
        data = kh.dataset(path)
        assert (data.name, len(data.train)) == (kind, n)


def test_a_name_comes_before_a_path(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "cifar100-sample").mkdir()
    monkeypatch.chdir(place)
    assert len(kh.dataset("cifar100-sample").train) == 2200
    with pytest.raises(InputError, match="holds no pictures"):
        kh.dataset("./cifar100-sample")


def test_what_cannot_be_opened_is_said(place: Path) -> None:
    (place / "notes.txt").write_text("x")
    (place / "bad.parquet").write_bytes(b"x")
    with pytest.raises(NotFoundError, match=r"no data set 'cifar', and no file .*known names are cifar100"):
        kh.dataset("cifar")
    with pytest.raises(InputError, match="given alone, without root"):
        kh.dataset("cifar", place)
    with pytest.raises(InputError, match="neither a folder of pictures"):
        kh.dataset(place / "notes.txt")
    with pytest.raises(FormatError, match="cannot be read as parquet"):
        kh.dataset(place / "bad.parquet")
    with pytest.raises(InputError, match="needs root=PATH"):
        kh.dataset("folder")
    with pytest.raises(InputError, match="unexpected keyword"):
        kh.dataset("folder", place / "photos", colour="red")
