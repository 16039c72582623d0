"""Augmentation of a batch against loops over pictures and pixels, with the very numbers that were drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image, ImageEnhance

from kinhash.data.augment import COLOURS, OPERATIONS, Augmentation, draw, window_box
from kinhash.errors import InputError
from kinhash.feeding.batching import augmented, joined, mixed, window_maps
from kinhash.feeding.randaugment import change_colours, moves, resample
from kinhash.feeding.targets import Targets

N, SIZE = 12, 9
PICTURES = np.random.default_rng(0).integers(0, 256, (N, SIZE, SIZE, 3), dtype=np.uint8)
SCALE, SHIFT = torch.tensor([0.5, 1.0, 2.0]), torch.tensor([-1.0, 0.0, 1.0])


def drawn(augment: Augmentation, n: int = N, steps: int = 1) -> Any:
    return draw(augment, n, steps, SIZE, np.random.default_rng(1))


def on_device(augment: Augmentation) -> np.ndarray:
    """(N, SIZE, SIZE, 3)."""
    whole = torch.from_numpy(drawn(augment).whole)
    pictures, rows = torch.from_numpy(PICTURES), torch.arange(N)
    return augmented(pictures, rows, whole, None, None, augment, SCALE, SHIFT).permute(0, 2, 3, 1).numpy()


def by_loops(augment: Augmentation) -> np.ndarray:
    out = np.zeros((N, SIZE, SIZE, 3), dtype=np.float32)
    for n, (dy, dx, flip, top, left) in enumerate(drawn(augment).whole[:, :5]):
        for i in range(SIZE):
            for j in range(SIZE):
                y, x = i + dy, (SIZE - 1 - j if flip else j) + dx
                hole = top <= i < top + augment.cutout and left <= j < left + augment.cutout
                if 0 <= y < SIZE and 0 <= x < SIZE and not hole:
                    out[n, i, j] = PICTURES[n, y, x] * SCALE.numpy() + SHIFT.numpy()
    return out


@pytest.mark.parametrize(
    "augment",
    [
        Augmentation(crop=0, flip=False),
        Augmentation(crop=0),
        Augmentation(crop=3, flip=False),
        Augmentation(crop=2, cutout=4),
    ],
    ids=["nothing", "flip", "crop", "all"],
)
def test_crop_flip_and_cutout(augment: Augmentation) -> None:
    np.testing.assert_allclose(on_device(augment), by_loops(augment), atol=1e-5)
    if augment.changes_pictures:
        assert not np.allclose(on_device(augment), on_device(Augmentation(crop=0, flip=False)))


def test_draws_stay_in_their_ranges_and_are_used_evenly() -> None:
    whole = drawn(Augmentation(crop=2, cutout=4, cutmix=0.5, mixup=0.25), n=4000, steps=4000)
    shifts, counts = np.unique(whole.whole[:, 0], return_counts=True)
    assert shifts.tolist() == [-2, -1, 0, 1, 2]
    assert counts.min() > 600
    assert abs(whole.whole[:, 2].mean() - 0.5) < 0.05
    assert whole.whole[:, 3:5].min() == -2
    assert whole.whole[:, 3:5].max() == SIZE - 3
    np.testing.assert_allclose(np.bincount(whole.mode) / 4000, [0.25, 0.5, 0.25], atol=0.03)


def test_cutmix_pastes_the_neighbour_and_shares_the_label_by_area() -> None:
    augment = Augmentation(cutmix=1.0)
    numbers = drawn(augment)
    x = torch.from_numpy(PICTURES).float().permute(0, 3, 1, 2)
    labels = torch.arange(N)
    vectors = torch.eye(N)
    whole, weight = torch.from_numpy(numbers.whole), torch.from_numpy(numbers.weight)
    y, targets = mixed(x, Targets(labels, vectors=vectors), whole, weight, 1)
    expected = x.clone()
    for n, (top, bottom, left, right) in enumerate(numbers.whole[:, 5:]):
        expected[n, :, top:bottom, left:right] = x[n - 1, :, top:bottom, left:right]
        share = 1 - (bottom - top) * (right - left) / SIZE**2
        assert targets.weight is not None
        assert targets.weight[n].item() == pytest.approx(share)
        assert targets.soft(N)[n, (n - 1) % N].item() == pytest.approx(1 - share)
    assert torch.equal(y, expected)
    assert targets.vectors is not None
    torch.testing.assert_close(targets.vectors, targets.soft(N))


def test_mixup_blends_and_a_plain_batch_is_left_alone() -> None:
    weight = torch.from_numpy(drawn(Augmentation(mixup=1.0)).weight)
    whole = torch.zeros(N, 9, dtype=torch.int32)
    x, targets = torch.randn(N, 3, 4, 4), Targets(torch.arange(N))
    y, both = mixed(x, targets, whole, weight, 2)
    for n in range(N):
        torch.testing.assert_close(y[n], weight[n] * x[n] + (1 - weight[n]) * x[n - 1])
    assert both.weight is weight
    y, plain = mixed(x, targets, whole, weight, 0)
    assert torch.equal(y, x)
    assert torch.equal(plain.soft(N), torch.eye(N))


def strengths(**given: float) -> torch.Tensor:
    row = torch.zeros(1, len(OPERATIONS))
    for name, value in given.items():
        row[0, OPERATIONS.index(name)] = value
    return row


@pytest.mark.parametrize(
    ("name", "enhance"),
    [
        ("brightness", ImageEnhance.Brightness),
        ("saturation", ImageEnhance.Color),
        ("contrast", ImageEnhance.Contrast),
    ],
)
@pytest.mark.parametrize("strength", [-0.8, 0.5])
def test_colours_change_as_pillow_changes_them(name: str, enhance: Any, strength: float) -> None:
    x = torch.from_numpy(PICTURES[:1]).float()
    ours = change_colours(x, strengths(**{name: strength}))[0].numpy()
    theirs = np.asarray(enhance(Image.fromarray(PICTURES[0])).enhance(1 + 0.9 * strength), dtype=float)
    assert np.abs(ours - theirs).max() <= 2  # Pillow rounds on the way


def test_solarize_posterize_autocontrast_and_strength_zero() -> None:
    x = torch.from_numpy(PICTURES[:1]).float()
    assert torch.equal(change_colours(x, strengths()), x)
    solarized = change_colours(x, strengths(solarize=0.5))
    assert torch.equal(solarized, torch.where(x >= 128, 255 - x, x))
    assert torch.equal(change_colours(x, strengths(posterize=-0.5)), (x / 4).floor() * 4)
    dull = x / 4 + 50
    spread = change_colours(dull, strengths(autocontrast=0.1))
    assert spread.amin((1, 2)).tolist() == [[0.0] * 3]
    torch.testing.assert_close(spread.amax((1, 2)), torch.full((1, 3), 255.0))
    flat = torch.full((1, 4, 4, 3), 7.0)
    torch.testing.assert_close(change_colours(flat, strengths(sharpness=0.9)), flat)


def test_moves_are_turns_shears_and_shifts() -> None:
    x = torch.zeros(1, 9, 9, 3)
    x[0, 4, 4] = 1.0
    assert torch.allclose(resample(x, moves(strengths())), x, atol=1e-6)
    shifted = resample(x, moves(strengths(translate_x=1.0)))  # 0.3 of 9 pixels: content moves left by 2.7
    assert shifted[0, 4, :, 0].argmax().item() == 1
    x = torch.rand(1, 31, 31, 3)
    there = resample(x, moves(strengths(rotate=1.0)))
    back = resample(there, moves(strengths(rotate=-1.0)))
    inner = slice(10, 21)
    assert (back - x)[0, inner, inner].abs().mean() < 0.2
    assert (there - x)[0, inner, inner].abs().mean() > (back - x)[0, inner, inner].abs().mean()


def test_maps_are_applied_one_after_the_other() -> None:
    first, second = moves(torch.randn(3, len(OPERATIONS))), moves(torch.randn(3, len(OPERATIONS)))
    point = torch.randn(3, 2, 1)
    one = first[:, :, :2] @ point + first[:, :, 2:]
    two = second[:, :, :2] @ one + second[:, :, 2:]
    both = joined(first, second)
    torch.testing.assert_close(both[:, :, :2] @ point + both[:, :, 2:], two)
    assert joined(None, first) is first
    assert len(COLOURS) + 5 == len(OPERATIONS)


def test_a_random_crop_shows_the_window_that_was_drawn() -> None:
    augment = Augmentation(crop=0, flip=False, area=0.2)
    window = drawn(augment).window
    maps = window_maps(torch.from_numpy(window))
    for row, (linear, corner) in enumerate(zip(maps[:, :, :2], maps[:, :, 2], strict=True)):
        left, top, right, bottom = window_box(window[row], 1, 1)
        assert linear[0, 0].item() == pytest.approx(right - left, abs=1e-5)
        assert linear[1, 1].item() == pytest.approx(bottom - top, abs=1e-5)
        assert ((corner[0] + 1) / 2).item() == pytest.approx((left + right) / 2, abs=1e-5)
        assert ((corner[1] + 1) / 2).item() == pytest.approx((top + bottom) / 2, abs=1e-5)
        assert (right - left) * (bottom - top) * 1.0001 >= 0.2 - 1e-5
        assert min(left, top) >= 0
        assert max(right, bottom) <= 1 + 1e-6


@pytest.mark.parametrize(
    "options",
    [{"crop": -1}, {"magnitude": 11.0}, {"cutmix": 0.7, "mixup": 0.7}, {"area": 0.0}, {"alpha": 0.0}],
)
def test_options_that_cannot_be(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Augmentation(**options)
