"""What a person most often gets wrong, and the whole sentence that each of it is answered with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from training import toy

import kinhash as kh
from kinhash.data.images import BrokenPictureWarning
from kinhash.data.splits import Split
from kinhash.errors import FormatError, InputError, KinhashError, TrainingError, UnknownClassError
from kinhash.training import checkpoints


def said(function: Callable[[], Any], kind: type[KinhashError]) -> str:
    with pytest.raises(kind) as caught:
        function()
    assert type(caught.value) is kind
    return str(caught.value)


def test_no_labels() -> None:
    assert said(lambda: toy.run(Split(vectors=toy.vectors().vectors)), InputError) == (
        "the split has no labels. Sort the pictures into one folder per class, add a `label` column to the manifest, "
        "or pass labels"
    )


def test_one_class() -> None:
    rows = toy.vectors(64)
    assert rows.labels is not None
    assert said(lambda: toy.run(rows.take(rows.labels == 0)), InputError) == (
        "all 8 rows are of one class ('a'); at least two classes are needed"
    )


def test_a_batch_of_one() -> None:
    assert said(lambda: toy.run(batch=1), InputError) == (
        "a batch of one has no pairs to compare; use a batch of at least 2"
    )
    assert said(lambda: toy.run(toy.vectors(3), batch=4), InputError) == (
        "the split has 3 rows, fewer than one batch of 4: lower the batch, or add rows"
    )


def test_a_batch_of_one_in_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    from kinhash.training import train
    from kinhash.training.distributed import Place

    class Joined:
        def __enter__(self) -> Place:
            return Place(0, 4, torch.device("cpu"))

        def __exit__(self, *_: object) -> None:
            """Nothing was joined."""

    monkeypatch.setattr(train, "joined", lambda _: Joined())
    assert said(lambda: toy.run(batch=6), InputError) == (
        "a batch of 6 leaves 1 row for each of 4 processes, and batch statistics need 2: use a batch of at least 8"
    )


def test_classes_that_the_taxonomy_lacks(tmp_path: Path) -> None:
    (tmp_path / "tree.txt").write_text("root fruit\nfruit apple\nfruit pear\n")
    spec = f"tree:{tmp_path / 'tree.txt'}"
    assert said(lambda: kh.semantics(spec, ["apple", "apples"]), UnknownClassError) == (
        f"{tmp_path / 'tree.txt'} has no node 'apples'; did you mean apple?"
    )
    fewer = toy.semantics().take(list(toy.CLASSES[:-1]))
    assert said(lambda: toy.run(semantics=fewer), UnknownClassError) == (
        "line knows nothing about 1 of the 8 classes of the data, 'h' for example; make the semantics from the data's "
        "own classes: kh.semantics(..., data.classes)"
    )


def test_pictures_of_mixed_modes_and_sizes_train_and_the_broken_are_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    modes = ("RGB", "L", "RGBA", "P", "CMYK", "1", "I;16")
    for i in range(28):
        size = (8 + i % 5, 8 + i % 7)
        image = Image.fromarray(rng.integers(0, 256, (*size, 3), dtype=np.uint8))
        mode = modes[i % 7]
        if mode == "I;16":
            image = Image.fromarray(rng.integers(0, 65536, size, dtype=np.uint16))
        elif mode != "RGB":
            image = image.convert(mode)
        place = tmp_path / toy.CLASSES[i // 7 % 2]
        place.mkdir(exist_ok=True)
        image.save(place / f"{i:02}.tiff")
    (tmp_path / "a" / "28.png").write_bytes(b"")
    data = kh.dataset(tmp_path)
    kin = toy.semantics().take(list(data.classes))
    options: dict[str, Any] = {"backbone": "resnet8w", "epochs": 1, "batch": 8, "bits": 8, "semantics": kin}
    with pytest.warns(
        BrokenPictureWarning, match=r"^1 picture was left out because it cannot be read: a/28\.png"
    ):
        encoder = toy.run(data.train, **options)
    assert len(encoder.encode_all(data.train).codes) == 28


def test_a_checkpoint_and_an_encoder_of_another_code_length(tmp_path: Path) -> None:
    toy.run(out=tmp_path, epochs=1)
    path = checkpoints.newest(tmp_path / "checkpoints")
    assert said(lambda: toy.run(out=tmp_path, epochs=1, bits=32, resume=True), TrainingError) == (
        f"the checkpoint {path} was made with bits = 16, now it is 32; resume with the same options, or train into "
        "another folder"
    )
    assert said(lambda: kh.load_encoder(tmp_path / "encoder", bits=32), InputError) == (
        f"the encoder in {tmp_path / 'encoder'} makes codes of 16 bits, not 32"
    )


def test_a_truncated_checkpoint_and_encoder(tmp_path: Path) -> None:
    toy.run(out=tmp_path, epochs=1)
    path = checkpoints.newest(tmp_path / "checkpoints")
    assert path is not None
    path.write_bytes(path.read_bytes()[:-100])
    sentence = said(lambda: toy.run(out=tmp_path, epochs=1, resume=True), FormatError)
    assert sentence.startswith(f"the checkpoint {path} is damaged or truncated (")
    assert sentence.endswith("; delete it, and training resumes from the one before")
    (weights,) = (tmp_path / "encoder").glob("*.safetensors")
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-10])
    assert said(lambda: kh.load_encoder(tmp_path / "encoder"), FormatError) == (
        f"{weights} has {len(whole) - 10} bytes instead of {len(whole)}: it is truncated or of another encoder"
    )
