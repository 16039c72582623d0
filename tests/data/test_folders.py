"""Folders, ImageNet and Tiny-ImageNet layouts."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from realdata import find_data

import kinhash as kh
from kinhash.data.images import BrokenPictureWarning
from kinhash.errors import FormatError, InputError, NotFoundError


def draw(path: Path, shade: int = 100) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (6, 5), (shade, 0, 0)).save(path)


def test_one_folder_per_class(tmp_path: Path) -> None:
    for name in ("dog/b.png", "dog/deep/a.jpg", "cat/x.png", "cat/.hidden.png"):
        draw(tmp_path / name)
    (tmp_path / "cat" / "readme.txt").write_text("no picture")
    data = kh.dataset("folder", tmp_path)
    assert data.classes == ("cat", "dog")
    assert data.train.ids == ["cat/x.png", "dog/b.png", "dog/deep/a.jpg"]
    assert data.train.labels is not None
    assert data.train.labels.tolist() == [0, 1, 1]
    assert len(data.test) == 0


@pytest.mark.parametrize("test", ["test", "val", "validation"])
def test_training_and_test_part(tmp_path: Path, test: str) -> None:
    draw(tmp_path / "train" / "b" / "1.png")
    draw(tmp_path / "train" / "a" / "2.png")
    draw(tmp_path / test / "c" / "3.png")
    data = kh.dataset("folder", tmp_path)
    assert data.classes == ("a", "b", "c")
    assert data.train.ids == ["train/a/2.png", "train/b/1.png"]
    assert data.test.labels is not None
    assert data.test.labels.tolist() == [2]


def test_pictures_without_classes(tmp_path: Path) -> None:
    draw(tmp_path / "1.png")
    draw(tmp_path / "2.png")
    data = kh.dataset("folder", tmp_path)
    assert data.train.labels is None
    assert data.classes == ()


def test_imagenet(tmp_path: Path) -> None:
    draw(tmp_path / "imagenet" / "train" / "n02" / "n02_1.JPEG")
    draw(tmp_path / "imagenet" / "train" / "n01" / "n01_1.JPEG")
    draw(tmp_path / "imagenet" / "val" / "n02" / "v.JPEG")
    for root in (tmp_path, tmp_path / "imagenet"):
        data = kh.dataset("imagenet", root)
        assert data.name == "imagenet"
        assert data.classes == ("n01", "n02")
        assert data.test.labels is not None
        assert data.test.labels.tolist() == [1]
    with pytest.raises(NotFoundError, match="train/WNID"):
        kh.dataset("imagenet", tmp_path / "nowhere")


def test_imagenet_with_loose_validation_pictures(tmp_path: Path) -> None:
    draw(tmp_path / "train" / "n01" / "1.JPEG")
    draw(tmp_path / "val" / "v.JPEG")
    with pytest.raises(InputError, match="one of the two parts"):
        kh.dataset("imagenet", tmp_path)
    (tmp_path / "train" / "n01" / "1.JPEG").rename(tmp_path / "train" / "1.JPEG")
    with pytest.raises(FormatError, match="folder named after its WordNet id"):
        kh.dataset("imagenet", tmp_path)


def test_original_tiny_imagenet(tmp_path: Path) -> None:
    root = tmp_path / "tiny-imagenet-200"
    draw(root / "train" / "n02" / "images" / "n02_0.JPEG")
    draw(root / "train" / "n01" / "images" / "n01_0.JPEG")
    draw(root / "val" / "images" / "val_0.JPEG")
    draw(root / "val" / "images" / "val_1.JPEG")
    annotations = root / "val" / "val_annotations.txt"
    annotations.write_text("val_1.JPEG\tn01\t0\t0\t1\t1\nval_0.JPEG\tn02\t0\t0\t1\t1\n")
    for place in (tmp_path, root):
        data = kh.dataset("tiny-imagenet", place)
        assert data.classes == ("n01", "n02")
        assert data.train.labels is not None
        assert data.test.labels is not None
        assert data.train.labels.tolist() == [0, 1]
        assert data.test.labels.tolist() == [1, 0]
    annotations.write_text("val_1.JPEG\tn01\n")
    with pytest.raises(FormatError, match=r"does not name val_0\.JPEG"):
        kh.dataset("tiny-imagenet", root)
    annotations.write_text("val_1.JPEG n01\n")
    with pytest.raises(FormatError, match="line 1"):
        kh.dataset("tiny-imagenet", root)


def test_tiny_imagenet_as_parquet(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (64, 64), (9, 8, 7)).save(out, "PNG")
    good = {"bytes": out.getvalue(), "path": "a.JPEG"}
    broken = {"bytes": b"nothing", "path": "b.JPEG"}
    pq.write_table(pa.table({"image": [good, broken], "wnid": ["n02", "n01"]}), tmp_path / "train-0.parquet")
    pq.write_table(pa.table({"image": [good], "wnid": ["n01"]}), tmp_path / "val-0.parquet")
    with pytest.warns(BrokenPictureWarning, match=r"1 picture was left out .*train/b\.JPEG"):
        data = kh.dataset("tiny-imagenet", tmp_path)
    assert data.train.ids == ["train/a.JPEG"]
    assert [broken.id for broken in data.train.broken] == ["train/b.JPEG"]
    assert isinstance(data.train.images, np.ndarray)
    assert data.train.images[0, 0, 0].tolist() == [9, 8, 7]
    assert data.classes == ("n01", "n02")
    pq.write_table(pa.table({"image": [good], "wnid": ["n02"]}), tmp_path / "train-0.parquet")
    pq.write_table(pa.table({"image": [good], "label": [1]}), tmp_path / "val-0.parquet")
    with pytest.raises(FormatError, match="no column 'wnid'"):
        kh.dataset("tiny-imagenet", tmp_path)
    (tmp_path / "val-0.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(FormatError, match="cannot be read as parquet"):
        kh.dataset("tiny-imagenet", tmp_path)


@pytest.mark.slow
def test_the_real_tiny_imagenet() -> None:
    data = kh.dataset("tiny-imagenet", find_data("tiny-imagenet"))
    assert (len(data.train), len(data.test), len(data.classes)) == (12_800, 3_200, 160)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no folder"):
        kh.dataset("folder", tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no pictures"):
        kh.dataset("folder", tmp_path)
    draw(tmp_path / "dog" / "1.png")
    draw(tmp_path / "loose.png")
    with pytest.raises(InputError, match=r"loose\.png"):
        kh.dataset("folder", tmp_path)
    with pytest.raises(NotFoundError, match=r"no data set 'mnist', .* known names are cifar100"):
        kh.dataset("mnist")
    with pytest.raises(InputError, match="needs root="):
        kh.dataset("folder")
    with pytest.raises(InputError, match="colour"):
        kh.dataset("folder", tmp_path, colour="red")
