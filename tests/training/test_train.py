from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from training import toy

import kinhash as kh
from kinhash.data.splits import Split
from kinhash.errors import InputError, UnknownClassError
from kinhash.meaning.semantics import Semantics
from kinhash.methods.kin import KIN
from kinhash.models.backbone import Backbone


def agreement(encoder: kh.HashEncoder, split: Split) -> float:
    """Correlation of Hamming distances with semantic distances."""
    bits = encoder.encode(split).to_bits()
    assert split.labels is not None
    hamming = (bits[:, None] != bits[None]).sum(2)
    return float(np.corrcoef(hamming.ravel(), toy.semantics().between(split.labels).ravel())[0, 1])


def test_codes_follow_meaning_on_rows_never_seen() -> None:
    unseen = toy.vectors(seed=1)
    encoder = toy.run(epochs=20, bits=32, lr=0.01)
    assert (encoder.bits, encoder.classes) == (32, toy.CLASSES)
    assert agreement(encoder, unseen) > 0.8 > agreement(toy.run(epochs=1, lr=0.0, bits=32), unseen) + 0.3
    assert (encoder.predict(unseen).argmax(1) == unseen.labels).mean() > 0.9


def test_pictures_of_their_own_size() -> None:
    split = toy.pictures(64, size=8)
    encoder = toy.run(split, backbone="resnet8w", epochs=2, batch=32)
    assert encoder.preprocessing is not None
    assert encoder.preprocessing.size == 8
    assert len(encoder.encode(split, flip=True)) == 64


@pytest.mark.parametrize(
    "other", [{"workers": 1}, pytest.param({"workers": 2, "processes": True}, marks=pytest.mark.slow)]
)
def test_streamed_pictures_are_the_same_whoever_decodes_them(tmp_path: Path, other: dict[str, Any]) -> None:
    held = toy.pictures(32, size=40)
    paths = [tmp_path / f"{i}.png" for i in range(32)]
    for path, picture in zip(paths, held.images, strict=True):  # type: ignore[arg-type]  # an array
        Image.fromarray(picture).save(path)
    split = Split(images=list(paths), labels=held.labels, classes=held.classes)
    options: dict[str, Any] = {"backbone": "resnet8w", "epochs": 1, "batch": 16, "area": 0.3, "crop": 0}
    assert toy.same(toy.run(split, **options), toy.run(split, **options, **other))


def test_a_seed_decides_everything_and_the_callers_random_state_is_untouched() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first, again, other = toy.run(seed=3), toy.run(seed=3), toy.run(seed=4)
    assert torch.equal(before, torch.get_rng_state())
    assert toy.same(first, again)
    assert not toy.same(first, other)


@pytest.mark.parametrize("method", list(KIN))
def test_every_method_learns_something(method: str) -> None:
    before, after = (toy.run(method=method, epochs=e, lr=lr) for e, lr in ((1, 0.0), (3, 2e-3)))
    assert not torch.equal(before.network.hash.linear.weight, after.network.hash.linear.weight)
    assert after.network.detach_head == ("class" not in method)
    assert (after.network.regressor is not None) == ("reg" in method)


def test_caption_vectors_take_the_place_of_labels(rng: np.random.Generator) -> None:
    labelled = toy.vectors()
    split = Split(vectors=labelled.vectors)
    targets = np.eye(len(toy.CLASSES), dtype=np.float32)[labelled.labels]
    encoder = toy.run(split, semantics=None, target_vectors=targets, method="sim-kl-reg")
    assert encoder.network.classifier is None
    assert encoder.network.regressor is not None
    assert encoder.network.regressor.out_features == len(toy.CLASSES)
    with pytest.raises(InputError, match="labels"):
        toy.run(split, semantics=None, target_vectors=targets, method="sim-kl-class")
    with pytest.raises(InputError, match="255"):
        toy.run(split, semantics=None, target_vectors=targets[:-1], method="sim-kl-reg")


def test_frozen_features_become_one_encoder_of_pictures() -> None:
    from kinhash.models import build_backbone

    split, backbone = toy.pictures(), build_backbone("resnet8w")
    before = {name: value.clone() for name, value in backbone.state_dict().items()}
    encoder = toy.run(split, backbone=backbone, frozen=True, epochs=10)
    assert encoder.takes == "pictures"
    assert all(torch.equal(before[name], value) for name, value in backbone.state_dict().items())
    assert isinstance(encoder.network.backbone, Backbone)
    assert agreement(encoder, toy.pictures(seed=1)) > 0.5


def test_the_run_folder_holds_all_of_it(tmp_path: Path) -> None:
    out = tmp_path / "run"
    encoder = toy.run(out=out, test=toy.vectors(64, seed=1))
    assert json.loads((out / "config.json").read_text())["bits"] == 16
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4]
    assert lines[0]["losses"]["loss"] == pytest.approx(
        sum(v for k, v in lines[0]["losses"].items() if k != "loss")
    )
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["epochs"] == 4
    assert 0 < metrics["metrics"]["map_full"] <= 1
    assert 0 < metrics["metrics"]["accuracy"] <= 1
    assert metrics["protocol"]["n_queries"] == 64
    assert (out / "curves.png").read_bytes()[:4] == b"\x89PNG"
    assert toy.same(encoder, kh.load_encoder(out / "encoder"))


def bad_split(kind: str) -> Split:
    good = toy.vectors(64)
    if kind == "no labels":
        return Split(vectors=good.vectors)
    assert good.labels is not None
    if kind == "one class":
        return good.take(good.labels == 0)
    return Split(vectors=good.vectors[:0], labels=good.labels[:0], classes=toy.CLASSES)  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "message"), [("no labels", "no labels"), ("one class", "one class"), ("empty", "empty")]
)
def test_data_that_teach_nothing(kind: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        toy.run(bad_split(kind))


def test_classes_that_the_semantics_do_not_know() -> None:
    fewer = toy.semantics().take(list(toy.CLASSES[:-1]))
    with pytest.raises(UnknownClassError, match=r"line .* 1 of the 8 classes .* 'h'"):
        toy.run(semantics=fewer)
    shuffled = toy.semantics().take(list(toy.CLASSES[::-1]))
    assert toy.same(toy.run(), toy.run(semantics=shuffled))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 1}, "batch of one"),
        ({"batch": 1000}, "fewer than one batch"),
        ({"bits": 0}, "bits"),
        ({"learning_rate": 0.1}, "no training option 'learning_rate'"),
        ({"epoch": 3}, "did you mean 'epochs'"),
        ({"lr": "high"}, "lr takes a float"),
        ({"method": "sim-kl-clas"}, "did you mean"),
        ({"recipe": "old"}, "recipe is one of 'modern', 'paper'"),
        ({"backbone": "resnet8w"}, "data are embeddings"),
        ({"frozen": True}, "data are embeddings"),
        ({"accelerate": "warp"}, "accelerate is one of"),
        ({"device": "toaster"}, "no device"),
        ({"semantics": None}, "pass semantics"),
        ({"semantics": "wordnet"}, "kh.semantics"),
        ({"cutmix": 0.5}, "only mixup"),
        ({"test": toy.vectors().take(np.arange(2))}, "three rows"),
        ({"test": Split(vectors=np.ones((4, 16)))}, "needs labels"),
        (
            {"test": Split(vectors=np.ones((4, 16)), labels=np.arange(4), classes=toy.CLASSES[:4])},
            "same classes",
        ),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        toy.run(**options)


def test_a_dataset_is_not_a_split() -> None:
    with pytest.raises(InputError, match=r"data\.train"):
        toy.run("cifar100")  # type: ignore[arg-type]
    assert isinstance(toy.semantics(), Semantics)
