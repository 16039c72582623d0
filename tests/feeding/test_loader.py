"""Batches: the same for the same seed and epoch, augmented as slow loops would, complete over ranks."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from kinhash.data.augment import Augmentation
from kinhash.data.images import BrokenPictureWarning
from kinhash.data.preprocessing import Preprocessing
from kinhash.data.splits import Split
from kinhash.errors import FormatError, InputError
from kinhash.feeding.loader import DeviceLoader

NAMES = tuple("abcdefg")


def pictures(n: int = 22, size: int = 8, seed: int = 0) -> Split:
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (n, size, size, 3), dtype=np.uint8)
    return Split(images=images, labels=rng.integers(0, 7, n), classes=NAMES)


def rows_seen(loader: DeviceLoader, epoch: int = 0) -> list[int]:
    """The row numbers of an epoch, read off a split whose labels are absent."""
    return [int(row) for _, targets in loader.epoch(epoch) for row in targets.labels]


def bare(split: Split) -> Split:
    return Split(images=split.images)


EVERYTHING = Augmentation(crop=2, cutout=3, randaugment=2, cutmix=0.5, mixup=0.3)


@pytest.mark.parametrize("augment", [None, Augmentation(), EVERYTHING, Augmentation(area=0.4)])
def test_an_epoch_can_be_entered_anywhere(augment: Augmentation | None) -> None:
    first, second = (DeviceLoader(pictures(), 5, augment=augment, seed=3) for _ in range(2))
    straight = [list(first.epoch(number)) for number in range(3)][2]
    resumed = list(second.epoch(2, start=2))
    assert len(straight) == 4
    assert len(resumed) == 2
    for (x, targets), (x2, targets2) in zip(straight[2:], resumed, strict=True):
        assert torch.equal(x, x2)
        assert torch.equal(targets.soft(7), targets2.soft(7))
        assert x.shape == (5, 3, 8, 8)
        assert x.dtype == torch.float32
        assert x.is_contiguous(memory_format=torch.channels_last)


def test_epochs_and_seeds_differ() -> None:
    split = bare(pictures())
    orders = [rows_seen(DeviceLoader(split, 11, seed=seed), epoch) for seed in (0, 1) for epoch in (0, 1)]
    assert len({tuple(order) for order in orders}) == 4
    assert all(sorted(order) == list(range(22)) for order in orders)


def test_without_augmentation_pictures_are_normalised_and_in_order() -> None:
    split = pictures()
    preprocessing = Preprocessing(8, (0.5, 0.4, 0.3), (0.2, 0.3, 0.4))
    loader = DeviceLoader(split, 9, shuffle=False, drop_last=False, preprocessing=preprocessing)
    assert isinstance(split.images, np.ndarray)
    expected = (split.images / 255 - np.array(preprocessing.mean)) / np.array(preprocessing.std)
    batches = list(loader.epoch(0))
    assert [len(x) for x, _ in batches] == [9, 9, 4]
    got = torch.cat([x for x, _ in batches]).permute(0, 2, 3, 1).numpy()
    np.testing.assert_allclose(got, expected, atol=1e-5)
    assert torch.equal(torch.cat([t.labels for _, t in batches]), torch.tensor(split.labels))


@pytest.mark.parametrize("world", [2, 3])
def test_ranks_share_out_what_one_process_sees(world: int) -> None:
    split = pictures(24)
    whole = list(DeviceLoader(split, 6, augment=Augmentation(crop=2, cutout=3), seed=1).epoch(0))
    parts = [
        list(
            DeviceLoader(
                split, 6 // world, augment=Augmentation(crop=2, cutout=3), seed=1, rank=rank, world=world
            ).epoch(0)
        )
        for rank in range(world)
    ]
    for step, (x, targets) in enumerate(whole):
        assert torch.equal(torch.cat([part[step][0] for part in parts]), x)
        assert torch.equal(torch.cat([part[step][1].labels for part in parts]), targets.labels)


@pytest.mark.parametrize(("n", "batch"), [(10, 2), (11, 2), (9, 4), (3, 4), (1, 1)])
def test_ranks_see_every_row_once_when_nothing_is_dropped(n: int, batch: int) -> None:
    split = bare(pictures(n))
    seen: list[int] = []
    for rank in range(3):
        loader = DeviceLoader(split, batch, shuffle=False, drop_last=False, rank=rank, world=3)
        assert len(list(loader.epoch(0))) == len(loader)
        seen += rows_seen(loader)
    assert sorted(seen) == list(range(n))


def test_vectors_and_target_vectors_follow_their_rows() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 5)).astype(np.float32)
    loader = DeviceLoader(Split(vectors=vectors), 6, target_vectors=2 * vectors)
    for x, targets in loader.epoch(0):
        np.testing.assert_array_equal(x.numpy(), vectors[targets.labels])
        assert targets.vectors is not None
        np.testing.assert_array_equal(targets.vectors.numpy(), 2 * vectors[targets.labels])


def test_vectors_are_mixed_with_their_targets() -> None:
    vectors = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    augment = Augmentation(crop=0, flip=False, mixup=1.0)
    for x, t in DeviceLoader(Split(vectors=vectors), 6, augment=augment, target_vectors=vectors).epoch(0):
        assert t.vectors is not None
        assert t.other is not None
        assert t.weight is not None
        w = t.weight[:, None].numpy()
        expected = w * vectors[t.labels] + (1 - w) * vectors[t.other]
        np.testing.assert_allclose(x.numpy(), expected, atol=1e-5)
        np.testing.assert_allclose(t.vectors.numpy(), expected, atol=1e-5)


@pytest.fixture
def files(tmp_path: Path) -> Split:
    """Twelve files of several sizes and modes; the fourth is damaged, the sixth is missing."""
    rng = np.random.default_rng(0)
    paths = []
    for i in range(12):
        mode, shape = [("RGB", (20, 30, 3)), ("L", (18, 12)), ("RGBA", (9, 9, 4))][i % 3]
        path = tmp_path / f"{i:02}.png"
        Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8), mode).save(path)
        paths.append(path)
    paths[3].write_bytes(paths[3].read_bytes()[:60])
    paths[5].unlink()
    return Split(
        images=list(paths), ids=[path.name for path in paths], labels=np.arange(12) % 7, classes=NAMES
    )


@pytest.mark.parametrize("resident", [True, False])
def test_broken_files_are_listed_and_skipped(files: Split, resident: bool) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        loader = DeviceLoader(
            files, 4, preprocessing=Preprocessing(16), shuffle=False, drop_last=False, resident=resident
        )
        batches = list(loader.epoch(0))
    loader.close()
    assert {warning.category for warning in told} == {BrokenPictureWarning}
    assert sorted(broken.id for broken in loader.broken) == ["03.png", "05.png"]
    labels = torch.cat([targets.labels for _, targets in batches]).tolist()
    assert labels == [i % 7 for i in range(12) if i not in (3, 5)]
    assert all(x.shape[1:] == (3, 16, 16) for x, _ in batches)


def test_streamed_batches_equal_resident_ones(files: Split) -> None:
    good = files.take([i for i in range(12) if i not in (3, 5)])
    augment = Augmentation(crop=3, cutout=5, randaugment=2, cutmix=1.0)
    both = [
        DeviceLoader(good, 4, preprocessing=Preprocessing(16), augment=augment, resident=resident)
        for resident in (True, False)
    ]
    for (x, targets), (x2, targets2) in zip(both[0].epoch(0), both[1].epoch(0), strict=True):
        torch.testing.assert_close(x, x2)
        torch.testing.assert_close(targets.soft(7), targets2.soft(7))
    both[1].close()


def test_streamed_batches_keep_their_shape_despite_broken_files(files: Split) -> None:
    loader = DeviceLoader(files, 4, preprocessing=Preprocessing(16), shuffle=False, resident=False)
    with pytest.warns(BrokenPictureWarning, match="left out"):
        batches = list(loader.epoch(0))
    assert [len(x) for x, _ in batches] == [4, 4, 4]
    assert [targets.labels.tolist() for _, targets in batches] == [[0, 1, 2, 0], [4, 6, 0, 4], [1, 2, 3, 4]]
    list(loader.epoch(1))  # known by now: no second warning
    assert len(loader.broken) == 2
    loader.close()


def test_a_batch_without_any_readable_picture_is_an_error(files: Split) -> None:
    loader = DeviceLoader(files.take([3, 5]), 2, preprocessing=Preprocessing(16), resident=False)
    with pytest.warns(BrokenPictureWarning), pytest.raises(FormatError, match="none of the 2 pictures"):
        list(loader.epoch(0))
    loader.close()


@pytest.mark.slow
def test_processes_give_what_threads_give(files: Split) -> None:
    good = files.take([0, 1, 2, 4])
    options = {"preprocessing": Preprocessing(16), "augment": Augmentation(area=0.3), "resident": False}
    threads = DeviceLoader(good, 4, **options)  # type: ignore[arg-type]
    processes = DeviceLoader(good, 4, processes=True, workers=2, **options)  # type: ignore[arg-type]
    for (x, _), (x2, _) in zip(threads, processes, strict=True):
        assert torch.equal(x, x2)
    threads.close()
    processes.close()


def test_what_cannot_be_loaded_is_said(files: Split) -> None:
    with pytest.raises(InputError, match="fewer than one batch"):
        DeviceLoader(pictures(3), 4)
    with pytest.raises(InputError, match="split is empty"):
        DeviceLoader(pictures().take([]), 4, drop_last=False)
    with pytest.raises(InputError, match="rank 2 of 2"):
        DeviceLoader(pictures(), 4, rank=2, world=2)
    with pytest.raises(InputError, match="need a preprocessing"):
        DeviceLoader(files, 4)
    with pytest.raises(InputError, match="only mixup"):
        DeviceLoader(Split(vectors=np.ones((9, 2))), 4, augment=Augmentation())
    with pytest.raises(InputError, match="3 target vectors"):
        DeviceLoader(pictures(), 4, target_vectors=np.ones((3, 2)))
    with pytest.raises(InputError, match="together at most 1"):
        Augmentation(cutmix=0.7, mixup=0.7)
    with pytest.raises(InputError, match="area"):
        Augmentation(area=0.0)
