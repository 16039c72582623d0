"""Everything a caller may hold becomes codes; the same ones however it is handed over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

import kinhash as kh
from kinhash.data.anything import as_split
from kinhash.data.images import BrokenPictureWarning
from kinhash.data.preprocessing import Preprocessing
from kinhash.data.splits import Dataset, Split
from kinhash.errors import InputError, NotFoundError
from kinhash.feeding.normalising import normalise
from kinhash.models import HashEncoder, HashNetwork, build_backbone, extract_features


@pytest.fixture(scope="module")
def encoder() -> HashEncoder:
    torch.manual_seed(0)
    network = HashNetwork("wrn10-1", 24, 3)
    for _ in range(3):  # batch statistics worth the name
        network(torch.randn(16, 3, 8, 8))
    return HashEncoder(network, preprocessing=Preprocessing(8), classes=["a", "b", "c"])


@pytest.fixture
def arrays() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (7, 8, 8, 3), dtype=np.uint8)


@pytest.fixture
def folder(tmp_path: Path, arrays: np.ndarray) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "notes.txt").write_text("no picture")
    (tmp_path / ".hidden" / "x.png").write_text("not looked at")
    for i, array in enumerate(arrays):
        Image.fromarray(array).save(tmp_path / ("sub" if i > 3 else ".") / f"{i}.png")
    return tmp_path


def test_every_kind_of_input_gives_the_same_codes(
    encoder: HashEncoder, arrays: np.ndarray, folder: Path
) -> None:
    codes = encoder.encode(arrays)
    assert isinstance(codes, kh.Codes)
    assert (len(codes), codes.bits) == (7, 24)
    files = sorted(folder.rglob("[0-9].png"), key=lambda path: path.name)
    same = [
        encoder.encode(files),
        encoder.encode([str(path) for path in files]),
        encoder.encode(list(arrays)),
        encoder.encode([path.read_bytes() for path in files]),
        encoder.encode([Image.fromarray(array) for array in arrays], batch=2),
        encoder.encode(Split(images=arrays), batch=3),
        encoder.encode(folder),
    ]
    assert all(other == codes for other in same)
    np.save(folder / "pictures.npy", arrays)
    assert encoder.encode(folder / "pictures.npy") == codes
    two = encoder.encode_all(Dataset("x", Split(images=arrays[:3]), Split(images=arrays[3:]), ()))
    assert two.codes == codes
    assert two.ids[2:4] == ["train/2", "test/0"]
    one_part = Dataset("x", Split(images=list(arrays)), Split(images=[]), ())
    assert encoder.encode(one_part) == codes
    assert encoder.encode(files[2]) == encoder.encode(arrays[2]) == codes[2]
    assert encoder.encode(Image.fromarray(arrays[2])) == codes[2]
    assert len(encoder.encode([])) == 0


def test_floats_are_what_the_signs_are_of(encoder: HashEncoder, arrays: np.ndarray) -> None:
    floats = encoder.encode(arrays, floats=True)
    assert floats.dtype == np.float32
    assert np.abs(floats).max() <= 1
    assert kh.Codes.from_logits(floats) == encoder.encode(arrays)
    with torch.no_grad():
        expected = encoder.network(normalise(Preprocessing(8), torch.from_numpy(arrays))).z
    np.testing.assert_allclose(floats, expected.numpy(), atol=1e-5)


def test_flip_averages_both_sides(encoder: HashEncoder, arrays: np.ndarray) -> None:
    mirrored = np.ascontiguousarray(arrays[:, :, ::-1])
    both = (encoder.encode(arrays, floats=True) + encoder.encode(mirrored, floats=True)) / 2
    np.testing.assert_allclose(encoder.encode(arrays, floats=True, flip=True), both, atol=1e-5)
    assert encoder.encode(arrays, flip=True) == encoder.encode(mirrored, flip=True)


def test_broken_pictures_are_listed_and_skipped(encoder: HashEncoder, folder: Path) -> None:
    good = encoder.encode(folder)
    (folder / "2.png").write_bytes(b"\x89PNG but no more")
    Image.new("F", (5, 5)).save(folder / "z.tiff")
    with pytest.warns(BrokenPictureWarning, match="2 pictures were left out"):
        codes = encoder.encode(folder)
    assert codes == good[[0, 1, 3, 4, 5, 6]]
    encoded = encoder.encode_all(folder, batch=2)
    assert [broken.id for broken in encoded.broken] == ["2.png", "z.tiff"]
    assert encoded.ids == ["0.png", "1.png", "3.png", "sub/4.png", "sub/5.png", "sub/6.png"]
    assert encoded.positions.tolist() == [0, 1, 3, 5, 6, 7]
    with pytest.warns(BrokenPictureWarning, match="1 picture was"):
        assert len(encoder.encode(folder / "2.png")) == 0


def test_what_a_folder_holds_beside_pictures_is_told(encoder: HashEncoder, folder: Path) -> None:
    (folder / "phone.heic").touch()
    with pytest.warns(BrokenPictureWarning, match=r"phone\.heic"):
        encoder.encode(folder)
    assert encoder.encode_all(as_split(folder)).broken == []  # the split says so itself


def test_sizes_and_modes_may_differ(encoder: HashEncoder) -> None:
    rng = np.random.default_rng(0)
    things = [
        Image.fromarray(rng.integers(0, 256, (30, 50, 3), dtype=np.uint8)),
        Image.fromarray(rng.integers(0, 256, (9, 7), dtype=np.uint8)),
        Image.new("P", (3, 2)),
        Image.new("CMYK", (1, 1)),
        rng.integers(0, 256, (4, 5), dtype=np.uint8),
    ]
    assert len(encoder.encode(things)) == 5


def test_predictions_are_probabilities(encoder: HashEncoder, arrays: np.ndarray) -> None:
    posterior = encoder.predict(arrays)
    assert posterior.shape == (7, 3)
    np.testing.assert_allclose(posterior.sum(1), 1, atol=1e-5)
    with pytest.raises(InputError, match="without classes"):
        HashEncoder(HashNetwork("wrn10-1", 8)).predict(arrays)


def test_progress_is_told(
    encoder: HashEncoder, arrays: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[tuple[int, int]] = []
    encoder.encode(arrays, batch=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(3, 7), (6, 7), (7, 7)]
    encoder.encode(arrays, progress=True)
    assert capsys.readouterr().out == ""


def test_embeddings_and_their_backbone(arrays: np.ndarray, tmp_path: Path) -> None:
    torch.manual_seed(0)
    backbone = build_backbone("wrn10-1").eval()
    backbone.preprocessing = Preprocessing(8)
    features = extract_features(
        backbone, Split(images=arrays, labels=np.arange(7) % 3, classes=("a", "b", "c"))
    )
    assert features.vectors is not None
    assert features.images is None
    assert features.vectors.shape == (7, 64)
    assert features.labels is not None
    head = HashEncoder(
        HashNetwork(build_backbone("mlp", inputs=64, hidden=[10]), 16, 3), classes=("a", "b", "c")
    )
    assert head.takes == "embeddings"
    codes = head.encode(features)
    table = pa.table({"embedding": features.vectors.tolist(), "id": list("abcdefg")})
    pq.write_table(table, tmp_path / "features.parquet")
    assert head.encode_all(tmp_path / "features.parquet").ids == list("abcdefg")
    assert head.encode(tmp_path / "features.parquet") == codes
    assert codes == head.encode(features.vectors) == head.encode(torch.from_numpy(features.vectors))
    assert head.encode(features.vectors[0]) == codes[0]
    whole = head.after(backbone)
    assert whole.takes == "pictures"
    assert whole.encode(arrays) == codes
    np.testing.assert_allclose(whole.predict(arrays), head.predict(features), atol=1e-5)


def test_features_leave_broken_pictures_out(folder: Path) -> None:
    backbone = build_backbone("wrn10-1")
    backbone.preprocessing = Preprocessing(8)
    files = sorted(folder.glob("*.png"))
    files[1].write_bytes(b"")
    split = Split(images=list(files), labels=np.arange(4), classes=("a", "b", "c", "d"))
    with pytest.warns(BrokenPictureWarning, match="1 picture was"):
        features = extract_features(backbone, split)
    assert features.labels is not None
    assert features.labels.tolist() == [0, 2, 3]
    assert [broken.id for broken in features.broken] == ["1"]


def test_what_cannot_be_encoded_is_said(encoder: HashEncoder, tmp_path: Path, arrays: np.ndarray) -> None:
    vectors = HashEncoder(HashNetwork(build_backbone("none", inputs=4), 8))
    for things, message in [
        (tmp_path, "holds no pictures"),
        ([3j], "neither a path"),
        (np.zeros((2, 3, 4, 5)), "neither pictures"),
        (np.zeros((2, 3)), "embeddings only"),
    ]:
        with pytest.raises(InputError, match=message):
            encoder.encode(things)
    (tmp_path / "list.csv").write_text("path,label")
    with pytest.raises(InputError, match=r"is a list of things: open it with kh\.dataset"):
        encoder.encode(tmp_path / "list.csv")
    with pytest.raises(NotFoundError, match="no file or folder"):
        encoder.encode(tmp_path / "nothing")
    with pytest.raises(InputError, match="embeddings of 4 numbers, got 3"):
        vectors.encode(np.zeros((2, 3)))
    with pytest.raises(InputError, match="NaN"):
        vectors.encode(np.full((2, 4), np.nan))
    with pytest.raises(InputError, match="takes embeddings"):
        vectors.encode(arrays)
    with pytest.raises(InputError, match="only pictures can be flipped"):
        vectors.encode(np.zeros((2, 4)), flip=True)
    with pytest.raises(InputError, match="2 class names"):
        HashEncoder(HashNetwork("wrn10-1", 8, 3), classes=["a", "b"])
    with pytest.raises(InputError, match="do not fit"):
        vectors.after("wrn10-1")
