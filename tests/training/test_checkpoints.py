from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from training import toy

from kinhash.cards.run_files import read_log
from kinhash.errors import FormatError, StorageError, TrainingError
from kinhash.training import checkpoints

RECIPES: list[dict[str, Any]] = [{}, {"recipe": "paper", "dropout": 0.3}, {"optimiser": "sgd", "lr": 0.05}]


@pytest.mark.parametrize("options", RECIPES)
def test_two_epochs_and_two_more_are_four(tmp_path: Path, options: dict[str, Any]) -> None:
    whole = toy.run(**options)
    toy.run(**options, out=tmp_path, stop_after=2)
    half = toy.run(**options, out=tmp_path, resume=True, stop_after=0)
    torch.manual_seed(123)  # whatever happens between the two must not matter
    resumed = toy.run(**options, out=tmp_path, resume=True)
    assert toy.same(whole, resumed)
    assert not toy.same(whole, half)
    assert [line["epoch"] for line in read_log(tmp_path / "log.jsonl")] == [1, 2, 3, 4]


def test_pictures_resume_bit_for_bit(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"backbone": "resnet8w", "epochs": 2, "batch": 32, "bits": 8}
    whole = toy.run(toy.pictures(), **settings)
    toy.run(toy.pictures(), **settings, out=tmp_path, stop_after=1)
    assert toy.same(whole, toy.run(toy.pictures(), **settings, out=tmp_path, resume=True))


def test_resuming_a_finished_run_gives_its_encoder(tmp_path: Path) -> None:
    first = toy.run(out=tmp_path)
    assert toy.same(first, toy.run(out=tmp_path, resume=True))


def test_resuming_nothing_starts_at_the_beginning(tmp_path: Path) -> None:
    assert toy.same(toy.run(), toy.run(out=tmp_path / "new", resume=True))
    with pytest.raises(TrainingError, match="out=FOLDER"):
        toy.run(resume=True)


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    toy.run(out=tmp_path, epochs=1)
    with pytest.raises(TrainingError, match="already holds a run"):
        toy.run(out=tmp_path, epochs=1)


def test_only_the_two_newest_stay(tmp_path: Path) -> None:
    toy.run(out=tmp_path, checkpoint_every=1)
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["epoch-00003.safetensors", "epoch-00004.safetensors"]


def test_a_disk_that_fills_up_leaves_the_older_checkpoint_intact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = toy.run(epochs=2)
    toy.run(out=tmp_path, epochs=2, stop_after=1)

    def half(tensors: object, path: Path, **_: object) -> None:
        path.write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "save_file", half)
        with pytest.raises(StorageError, match=r"cannot write the checkpoint .*epoch-00002.*No space left"):
            toy.run(out=tmp_path, epochs=2, resume=True)
    newest = checkpoints.newest(tmp_path / "checkpoints")
    assert newest is not None
    assert newest.name == "epoch-00001.safetensors"
    assert toy.same(whole, toy.run(out=tmp_path, epochs=2, resume=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [({"bits": 32}, "bits = 16, now it is 32"), ({"lr": 1e-4}, "lr = 0.002"), ({"method": "sim"}, "method")],
)
def test_a_checkpoint_of_another_run(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    toy.run(out=tmp_path, epochs=1)
    with pytest.raises(TrainingError, match=message):
        toy.run(out=tmp_path, resume=True, **{"epochs": 1, **change})


def test_a_truncated_checkpoint(tmp_path: Path) -> None:
    whole = toy.run(checkpoint_every=1)
    toy.run(out=tmp_path, checkpoint_every=1)
    path = checkpoints.newest(tmp_path / "checkpoints")
    assert path is not None
    good = path.read_bytes()
    for bad in (good[:-100], good[:20], b""):
        path.write_bytes(bad)
        with pytest.raises(FormatError, match=f"{path.name}.*truncated.*delete it"):
            toy.run(out=tmp_path, resume=True)
    path.unlink()
    assert toy.same(whole, toy.run(out=tmp_path, resume=True))


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    folder = tmp_path / "checkpoints"
    folder.mkdir()
    save_file({"x": torch.ones(1)}, folder / "epoch-00001.safetensors")
    with pytest.raises(FormatError, match="no kinhash checkpoint"):
        toy.run(out=tmp_path, resume=True)


def test_tensors_that_are_missing(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    toy.run(out=tmp_path, epochs=1)
    path = checkpoints.newest(tmp_path / "checkpoints")
    assert path is not None
    config = json.loads((tmp_path / "config.json").read_text())
    tensors = load_file(path)
    del tensors["trainee.network.hash.linear.weight"]
    card = {"format": "kinhash-checkpoint", "version": 1, "epoch": 1, "step": 4, "config": config}
    save_file(tensors, path, metadata={"kinhash": json.dumps(card)})
    with pytest.raises(FormatError, match=r"hash\.linear\.weight"):
        toy.run(out=tmp_path, epochs=1, resume=True)


def test_a_loss_that_is_no_number_names_the_last_good_checkpoint(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"optimiser": "sgd", "schedule": "constant", "clip": 0.0, "loss_scale": 1.0}
    with pytest.raises(TrainingError, match=r"no longer finite.*no checkpoint"):
        toy.run(**settings, lr=1e38)
    toy.run(out=tmp_path, epochs=3, stop_after=1)
    path = checkpoints.newest(tmp_path / "checkpoints")
    assert path is not None
    poison(path)
    with pytest.raises(TrainingError) as caught:
        toy.run(out=tmp_path, epochs=3, resume=True)
    assert str(caught.value) == (
        f"in epoch 2 the loss 'class' is no longer finite. The last good checkpoint is {path}; a lower lr or a limit on "
        "the gradient (clip=1.0) usually helps"
    )


def poison(path: Path) -> None:
    """Put a NaN into the weights that a checkpoint holds."""
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors = load_file(path)
    tensors["trainee.network.hash.linear.weight"][0, 0] = float("nan")
    save_file(tensors, path, metadata=metadata)
