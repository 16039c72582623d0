"""Embeddings from npy and parquet, with and without labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kinhash as kh
from kinhash.errors import FormatError, InputError, NotFoundError


@pytest.fixture
def vectors() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)


def test_npy_with_labels_beside(tmp_path: Path, vectors: np.ndarray) -> None:
    np.save(tmp_path / "x.npy", vectors)
    data = kh.dataset("embeddings", tmp_path / "x.npy")
    np.testing.assert_array_equal(data.train.vectors, vectors)
    assert data.train.labels is None
    np.save(tmp_path / "x_labels.npy", np.array([0, 2, 2, 0, 1, 1]))
    data = kh.dataset("embeddings", tmp_path / "x.npy", classes=("a", "b", "c"))
    assert data.train.labels is not None
    assert data.train.labels.tolist() == [0, 2, 2, 0, 1, 1]
    assert data.classes == ("a", "b", "c")
    np.save(tmp_path / "x_labels.npy", np.array(list("caacbb")))
    assert kh.dataset("embeddings", tmp_path / "x.npy").classes == ("a", "b", "c")
    assert len(data.test) == 0


def test_a_folder_with_two_parts(tmp_path: Path, vectors: np.ndarray) -> None:
    np.save(tmp_path / "train.npy", vectors.astype(np.float16))
    np.save(tmp_path / "train_labels.npy", np.array(list("caacbb")))
    table = {"embedding": list(vectors[:2]), "label": ["b", "d"], "id": [7, 8]}
    pq.write_table(pa.table(table), tmp_path / "val.parquet")
    data = kh.dataset("embeddings", tmp_path)
    assert data.classes == ("a", "b", "c", "d")
    assert data.test.ids == ["7", "8"]
    np.testing.assert_array_equal(data.test.vectors, vectors[:2])
    assert data.test.labels is not None
    assert data.test.labels.tolist() == [1, 3]
    assert data.train.vectors is not None
    assert data.train.vectors.dtype == np.float32


def test_fixed_size_lists(tmp_path: Path, vectors: np.ndarray) -> None:
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 4)
    pq.write_table(pa.table({"vector": column}), tmp_path / "x.parquet")
    np.testing.assert_array_equal(kh.dataset("embeddings", tmp_path / "x.parquet").train.vectors, vectors)


def test_what_is_wrong_is_said(tmp_path: Path, vectors: np.ndarray) -> None:
    np.save(tmp_path / "objects.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    np.save(tmp_path / "flat.npy", vectors[0])
    np.save(tmp_path / "nan.npy", np.where(vectors == vectors[3, 2], np.nan, vectors))
    np.save(tmp_path / "short.npy", vectors)
    np.save(tmp_path / "short_labels.npy", np.zeros(5, dtype=int))
    np.savez(tmp_path / "zip.npz", vectors)
    (tmp_path / "zip.npz").rename(tmp_path / "zip.npy")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "short.npy").read_bytes()[:-7])
    pq.write_table(pa.table({"vector": [[1.0, 2.0], [3.0]]}), tmp_path / "ragged.parquet")
    pq.write_table(pa.table({"vector": [1.0]}), tmp_path / "scalar.parquet")
    pq.write_table(pa.table({"thing": [1.0]}), tmp_path / "other.parquet")
    for name, message in [
        ("objects.npy", "cannot be read as an npy"),
        ("cut.npy", "cannot be read as an npy"),
        ("zip.npy", "no npy file of one array"),
        ("flat.npy", r"real \(n, d\) array"),
        ("nan.npy", "NaN or infinity in 1 rows, first in row 3"),
        ("short.npy", "6 rows, but 5 labels"),
        ("ragged.parquet", "differ in length"),
        ("scalar.parquet", "instead of lists"),
        ("other.parquet", "none of the columns"),
    ]:
        with pytest.raises((FormatError, InputError), match=message):
            kh.dataset("embeddings", tmp_path / name)
    with pytest.raises(NotFoundError, match="no file"):
        kh.dataset("embeddings", tmp_path / "gone.npy")
    with pytest.raises(NotFoundError, match="holds no train"):
        kh.dataset("embeddings", tmp_path)
    (tmp_path / "x.csv").write_text("1,2")
    with pytest.raises(InputError, match="neither npy nor parquet"):
        kh.dataset("embeddings", tmp_path / "x.csv")
