"""CIFAR-100 reads the same from parquet, the binary and the python archive; a download is checked."""

from __future__ import annotations

import dataclasses
import hashlib
import http.server
import io
import struct
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from realdata import find_data

import kinhash as kh
from kinhash.data import cifar
from kinhash.data.splits import Dataset
from kinhash.errors import FormatError, NotFoundError

N = 6


@pytest.fixture(scope="module")
def facts() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pictures (n, 32, 32, 3) and labels of two splits."""
    rng = np.random.default_rng(0)
    return {
        split: (rng.integers(0, 256, (N, 32, 32, 3), dtype=np.uint8), rng.integers(0, 100, N))
        for split in ("train", "test")
    }


def planes(images: np.ndarray) -> np.ndarray:
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1)


def binary(images: np.ndarray, labels: np.ndarray) -> bytes:
    rows = [bytes([7, label]) + row.tobytes() for row, label in zip(planes(images), labels, strict=True)]
    return b"".join(rows)


def python2_pickle(images: np.ndarray, labels: np.ndarray) -> bytes:
    """What Python 2 wrote: protocol 2, byte strings, numpy's old module names."""

    def text(value: bytes) -> bytes:
        return b"T" + struct.pack("<i", len(value)) + value

    rows = planes(images)
    dtype = b"cnumpy\ndtype\n" + text(b"u1") + b"K\x00K\x01\x87R(K\x03" + text(b"|") + b"NNN"
    dtype += b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R(K\x01"
    array += b"M" + struct.pack("<H", rows.shape[0]) + b"M" + struct.pack("<H", rows.shape[1]) + b"\x86"
    array += dtype + b"\x89" + text(rows.tobytes()) + b"tb"
    numbers = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    return b"\x80\x02}(" + text(b"data") + array + text(b"fine_labels") + numbers + b"u."


def packed(folder: str, contents: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in contents.items():
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def check(dataset: Dataset, facts: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    assert dataset.name == "cifar100"
    assert len(dataset.classes) == 100
    assert dataset.classes[:2] == ("apple", "aquarium_fish")
    for split, (images, labels) in facts.items():
        got = getattr(dataset, split)
        np.testing.assert_array_equal(got.images, images)
        np.testing.assert_array_equal(got.labels, labels)
        assert got.ids[1] == f"{split}/00001"


def test_parquet(tmp_path: Path, facts: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    for split, (images, labels) in facts.items():
        for part in range(2):
            rows = slice(part * N // 2, (part + 1) * N // 2)
            contents = []
            for image in images[rows]:
                out = io.BytesIO()
                Image.fromarray(image).save(out, "PNG")
                contents.append({"bytes": out.getvalue(), "path": None})
            table = pa.table({"img": contents, "fine_label": labels[rows], "coarse_label": labels[rows] // 5})
            pq.write_table(table, tmp_path / f"{split}-0000{part}-of-00002.parquet")
    check(kh.dataset("cifar100", tmp_path), facts)
    check(kh.dataset("cifar100", tmp_path, download=False), facts)


@pytest.mark.parametrize("form", cifar.FORMS, ids=["binary", "python"])
def test_unpacked_and_packed(
    form: cifar.Form,
    tmp_path: Path,
    facts: dict[str, tuple[np.ndarray, np.ndarray]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write = binary if form.suffix else python2_pickle
    contents = {f"{split}{form.suffix}": write(*parts) for split, parts in facts.items()}
    place = tmp_path / "one" / "cifar100" / form.folder
    place.mkdir(parents=True)
    for name, content in contents.items():
        (place / name).write_bytes(content)
    check(kh.dataset("cifar100", tmp_path / "one"), facts)
    archive = packed(form.folder, contents)
    (tmp_path / form.archive.name).write_bytes(archive)
    with pytest.raises(FormatError, match="damaged or incomplete"):
        kh.dataset("cifar100", tmp_path)
    known = dataclasses.replace(form.archive, md5=hashlib.md5(archive).hexdigest())
    monkeypatch.setattr(cifar, "FORMS", (dataclasses.replace(form, archive=known),))
    check(kh.dataset("cifar100", tmp_path), facts)
    (place / f"test{form.suffix}").unlink()
    with pytest.raises(NotFoundError, match="unpack"):
        kh.dataset("cifar100", tmp_path / "one")


@pytest.mark.parametrize("form", cifar.FORMS, ids=["binary", "python"])
@pytest.mark.parametrize(
    "content", [b"", b"cos\nsystem\n(S'true'\ntR.", b"\x80\x02}.", b"\x80\x02K\x01.", b"N."]
)
def test_damaged_content(form: cifar.Form, content: bytes, tmp_path: Path) -> None:
    place = tmp_path / form.folder
    place.mkdir()
    for split in ("train", "test"):
        (place / f"{split}{form.suffix}").write_bytes(content)
    with pytest.raises(FormatError):
        kh.dataset("cifar100", tmp_path)


def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "cifar-100-python"
    place.mkdir()
    target = tmp_path / "ran"
    (place / "train").write_bytes(f"cos\nsystem\n(S'touch {target}'\ntR.".encode())
    with pytest.raises(FormatError, match=r"asks for os\.system"):
        kh.dataset("cifar100", tmp_path)
    assert not target.exists()


class _Handler(http.server.BaseHTTPRequestHandler):
    answers: dict[str, tuple[int, bytes, int]]

    def do_GET(self) -> None:
        status, body, length = self.answers.get(self.path, (404, b"", 0))
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, tuple[int, bytes, int]]]]:
    answers: dict[str, tuple[int, bytes, int]] = {}
    handler = type("Handler", (_Handler,), {"answers": answers})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_address[1]}", answers
        httpd.shutdown()
        thread.join()


def test_download(
    tmp_path: Path,
    facts: dict[str, tuple[np.ndarray, np.ndarray]],
    server: tuple[str, dict[str, tuple[int, bytes, int]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, answers = server
    form = cifar.FORMS[0]
    archive = packed(form.folder, {f"{split}.bin": binary(*parts) for split, parts in facts.items()})
    known = dataclasses.replace(form.archive, url=f"{url}/c.tar.gz", md5=hashlib.md5(archive).hexdigest())
    monkeypatch.setattr(cifar, "FORMS", (dataclasses.replace(form, archive=known),))
    with pytest.raises(NotFoundError, match="put cifar-100-binary"):
        kh.dataset("cifar100", tmp_path, download=False)
    for answer, message in [
        ((404, b"", 0), "HTTP Error 404"),
    ]:
        answers["/c.tar.gz"] = answer
        with pytest.raises(NotFoundError, match=message):
            kh.dataset("cifar100", tmp_path)
    answers["/c.tar.gz"] = (200, archive[:-9], len(archive) - 9)
    with pytest.raises(FormatError, match="is not cifar-100-binary"):
        kh.dataset("cifar100", tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()], (
        "a failed download leaves nothing behind"
    )
    answers["/c.tar.gz"] = (200, archive, len(archive))
    check(kh.dataset("cifar100", tmp_path), facts)
    answers.clear()
    check(kh.dataset("cifar100", tmp_path), facts)  # from the disk now


def test_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form = cifar.FORMS[0]
    gone = dataclasses.replace(form.archive, url="http://127.0.0.1:9/c.tar.gz")
    monkeypatch.setattr(cifar, "FORMS", (dataclasses.replace(form, archive=gone),))
    with pytest.raises(NotFoundError, match="could not be downloaded"):
        kh.dataset("cifar100", tmp_path)


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINHASH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(NotFoundError, match=r"data/cifar100 or .*cache/kinhash/cifar100"):
        kh.dataset("cifar100", download=False)


def test_the_bundled_sample() -> None:
    data = kh.dataset("cifar100-sample")
    assert (len(data.train), len(data.test)) == (2200, 1000)
    assert isinstance(data.train.images, np.ndarray)
    assert data.train.images.shape == (2200, 32, 32, 3)
    assert data.train.labels is not None
    assert data.test.labels is not None
    assert set(np.bincount(data.train.labels)) == {22}
    assert set(np.bincount(data.test.labels)) == {10}
    assert not data.train.broken


@pytest.mark.slow
def test_the_real_thing() -> None:
    data = kh.dataset("cifar100", find_data("cifar100"))
    sample = kh.dataset("cifar100-sample")
    assert (len(data.train), len(data.test)) == (50_000, 10_000)
    assert isinstance(data.test.images, np.ndarray)
    mean = data.test.images.mean((0, 1, 2)) / 255
    np.testing.assert_allclose(mean, (0.5088, 0.4874, 0.4419), atol=0.002)
    assert isinstance(sample.test.images, np.ndarray)
    assert (data.test.images == sample.test.images[0]).all((1, 2, 3)).sum() == 1
