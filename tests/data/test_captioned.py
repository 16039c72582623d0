"""Pictures with texts of the same name give the same splits from tars and folders; what is single is listed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from data.pairs import picture, write_folder, write_tar

import kinhash as kh
from kinhash.data.images import FilePart, pixels
from kinhash.data.pairing import UnpairedWarning
from kinhash.errors import FormatError, InputError, NotFoundError

FILES = {
    "a/one.png": picture(1),
    "a/one.txt": b"a dog\n\n two dogs \n",
    "two.tail.png": picture(2),
    "two.json": json.dumps({"caption": "Katze in Öl", "width": 3}).encode(),
    "three.png": picture(3),
    "three.caption": b"three",
    "three.json": json.dumps({"caption": "not this one"}).encode(),
    "four.png": picture(4),
    "four.json": json.dumps({"captions": ["x", "y"]}).encode(),
}
CAPTIONS = [["a dog", "two dogs"], ["x", "y"], ["three"], ["Katze in Öl"]]
SINGLE = {
    "nothing.png": picture(9),
    "empty.png": picture(9),
    "empty.txt": b"  \n",
    "lost.txt": b"where is it",
    "latin.png": picture(9),
    "latin.txt": "Öl".encode("latin-1"),
    "broken.png": picture(9),
    "broken.json": b'{"caption"',
    "number.png": picture(9),
    "number.json": b'{"caption": 5}',
    "plain.png": picture(9),
    "plain.json": b"[1]",
}
PAIR = {"png": picture(1), "txt": b"a dog"}


@pytest.mark.parametrize("kind", ["tar", "tars", "folder"])
def test_captions_beside_pictures(tmp_path: Path, kind: str) -> None:
    if kind == "folder":
        path = write_folder(tmp_path / "photos", FILES)
    else:
        (tmp_path / "shards").mkdir()
        path = write_tar(tmp_path / "shards" / "0000.tar", FILES)
        path = path if kind == "tar" else path.parent
    data = kh.dataset(path)
    rows = sorted(zip(data.train.ids, data.train.captions or [], data.train.images or [], strict=True))
    assert [row[0] for row in rows] == ["a/one", "four", "three", "two"]
    assert [row[1] for row in rows] == CAPTIONS
    assert [int(pixels(row[2])[0, 0, 0]) for row in rows] == [1, 4, 3, 2]
    assert all(isinstance(row[2], FilePart) for row in rows) == (kind != "folder")
    assert len(data.test) == 0
    assert data.train.labels is None


def test_shards_and_folders_with_test_in_their_name(tmp_path: Path) -> None:
    shard = {"one.png": picture(1), "one.txt": b"one"}
    (tmp_path / "shards").mkdir()
    for name in ("train-0", "train-1", "val-0"):
        write_tar(tmp_path / "shards" / f"{name}.tar", shard)
    for name in ("train", "test"):
        write_folder(tmp_path / "photos" / name, shard)
    data = kh.dataset(tmp_path / "shards")
    assert (data.train.ids, data.test.ids) == (["one", "train-1/one"], ["one"])
    assert len(data.whole()) == 3
    data = kh.dataset(tmp_path / "photos")
    assert (data.train.ids, data.test.ids) == (["one"], ["one"])


def test_what_is_single_is_listed(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", FILES | SINGLE)
    with pytest.warns(UnpairedWarning) as seen:
        data = kh.dataset("captioned", path)
    assert len(seen) == 1
    assert str(seen[0].message).startswith(
        f"{path}: 4 left out because it has no caption, the first one: nothing"
    )
    assert len(data.train) == 4
    reasons = {broken.id: broken.reason for broken in data.train.broken}
    assert set(reasons) == {name.split(".")[0] for name in SINGLE}
    assert reasons["lost"] == "there is no picture for its caption"
    assert reasons["latin"].startswith("its txt cannot be read")
    assert reasons["broken"].startswith("its json cannot be read")


def test_nothing_that_is_whole(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", {"a.png": picture(1)})
    with pytest.raises(InputError, match=r"holds no picture with a caption; 1 left out .*, a$"):
        kh.dataset("captioned", path)
    with pytest.raises(InputError, match="it is empty"):
        kh.dataset("captioned", write_tar(tmp_path / "b.tar", {}))
    (tmp_path / "c.tar").write_bytes(b"x" * 2000)
    with pytest.raises(FormatError, match="no uncompressed tar"):
        kh.dataset(tmp_path / "c.tar")
    with pytest.raises(NotFoundError, match="no file or folder"):
        kh.dataset("captioned", tmp_path / "gone")


def test_a_text_that_belongs_to_nothing_makes_no_captions(tmp_path: Path) -> None:
    write_folder(
        tmp_path / "photos", {"cat/1.png": picture(1), "cat/README.txt": b"x", "dog/1.png": picture(2)}
    )
    data = kh.dataset(tmp_path / "photos")
    assert (data.name, data.classes, data.train.captions) == ("folder", ("cat", "dog"), None)


def test_a_folder_with_a_list_of_captions(tmp_path: Path) -> None:
    write_tar(tmp_path / "photos.tar", {"one.png": picture(1)})
    (tmp_path / "captions.csv").write_text(
        "image_id,split,caption_index,caption\none,train,0,a dog\none,train,1,dogs\n"
    )
    data = kh.dataset(tmp_path)
    assert (data.train.ids, data.train.captions) == (["one"], [["a dog", "dogs"]])


def test_links_multiply_nothing_and_what_cannot_be_looked_into_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_folder(
        tmp_path / "photos",
        {f"{at}.{kind}": content for at in ("a/1", "locked/2") for kind, content in PAIR.items()},
    )
    write_folder(folder, {"secret.png": picture(3), "secret.txt": b"c", "phone.heic": b"x"})
    (folder / "a" / "loop").symlink_to(folder)
    (folder / "b").symlink_to("a")
    real_scandir, real_read = os.scandir, Path.read_bytes

    def scandir(path: Any) -> Any:  # root may look everywhere, so the tests must say no themselves
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return real_scandir(path)

    def read_bytes(path: Path) -> bytes:
        if path.name == "secret.txt":
            raise PermissionError(13, "Permission denied")
        return real_read(path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    with pytest.warns(UnpairedWarning, match="no permission to read this folder, locked/"):
        data = kh.dataset(folder)
    assert (data.train.ids, data.train.captions) == (["a/1"], [["a dog"]])
    assert {broken.id: broken.reason.split(":")[0].split(";")[0] for broken in data.train.broken} == {
        "locked/": "you have no permission to read this folder",
        "secret": "it has no caption",
        "secret.txt": "you have no permission to read this file",
        "phone.heic": "pictures in the format .heic are not read",
    }


@pytest.mark.skipif(sys.platform == "darwin", reason="this file system takes no such names")
def test_names_of_any_bytes_become_ids(tmp_path: Path) -> None:
    for kind, content in PAIR.items():
        (tmp_path / f"caf\udce9.{kind}").write_bytes(content)
    data = kh.dataset("captioned", tmp_path)
    assert data.train.ids == [r"caf\udce9"]
    assert data.train.images is not None
    assert pixels(data.train.images[0]).shape[2] == 3
