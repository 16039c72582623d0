from __future__ import annotations

from typing import Any

import pytest

from kinhash.data.augment import Augmentation
from kinhash.errors import InputError
from kinhash.models.catalogue import is_pretrained
from kinhash.training.recipes import Recipe, default_backbone, derive


def test_the_papers_numbers() -> None:
    cifar = derive("paper", "small", 50_000)
    assert (cifar.optimiser, cifar.lr, cifar.weight_decay, cifar.batch, cifar.epochs) == (
        "adam",
        5e-4,
        1e-4,
        512,
        500,
    )
    assert (cifar.kl_weight, cifar.class_weight, cifar.gamma, cifar.rho) == (0.01, 0.01, 0.1, 2.0)
    imagenet = derive("paper", "large", 1_281_167)
    assert (imagenet.optimiser, imagenet.momentum, imagenet.epochs, imagenet.schedule) == (
        "sgd",
        0.9,
        320,
        "steps",
    )
    assert imagenet.rate(256 * 32) == pytest.approx(0.05 * 32)
    assert imagenet.decay_every * imagenet.epochs == pytest.approx(100)
    captions = derive("paper", "large", 3_000_000, captions=True)
    assert (captions.optimiser, captions.lr, captions.epochs) == ("adam", 3e-4, 120)
    assert default_backbone("paper", "small") == "resnet110w"
    assert default_backbone("paper", "large") == "resnet50d"


def test_modern_fits_the_data() -> None:
    assert default_backbone("modern", "small") == "wrn16-8"
    assert default_backbone("modern", "vectors") == "mlp"
    assert is_pretrained(default_backbone("modern", "large"))
    assert derive("modern", "small", 50_000).batch == 512
    assert derive("modern", "small", 2000).batch == 256
    assert derive("modern", "vectors", 40).batch == 16
    assert derive("modern", "vectors", 5).batch == 5
    few, many = derive("modern", "vectors", 2000), derive("modern", "vectors", 2_000_000)
    assert few.epochs == 100
    assert many.epochs == 5
    frozen = derive("modern", "large", 2000, frozen=True)
    assert frozen.frozen
    assert not frozen.augmentation().changes_pictures


def test_the_rate_follows_the_batch() -> None:
    assert Recipe(optimiser="sgd", lr=0.1, lr_batch=512).rate(128) == pytest.approx(0.025)
    assert Recipe(optimiser="adamw", lr=0.1, lr_batch=512).rate(128) == pytest.approx(0.05)


def test_a_short_run_has_a_short_memory() -> None:
    recipe = Recipe(ema=0.999, epochs=100)
    assert recipe.ema_decay(1000) == 0.999
    assert recipe.ema_decay(10) == pytest.approx(1 - 1 / 50)
    assert Recipe(ema=0.999, epochs=1).ema_decay(1) == 0


def test_augmentation_takes_the_fields_of_its_name() -> None:
    recipe = Recipe(
        crop=3, flip=False, cutout=5, randaugment=2, magnitude=4.0, cutmix=0.25, mixup=0.5, area=0.5
    )
    assert recipe.augmentation() == Augmentation(
        crop=3, flip=False, cutout=5, randaugment=2, magnitude=4.0, cutmix=0.25, mixup=0.5, area=0.5
    )


def test_options_by_name() -> None:
    changed = Recipe().with_options({"lr": 1, "epochs": 3, "activation": "softsign"})
    assert (changed.lr, changed.epochs, changed.activation) == (1.0, 3, "softsign")
    assert isinstance(changed.lr, float)
    assert Recipe().with_options({}) == Recipe()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs is at least 1"),
        ({"epochs": 1.5}, "takes a int"),
        ({"epochs": True}, "takes a int"),
        ({"flip": 1}, "takes a bool"),
        ({"lr": -1.0}, "lr is at least"),
        ({"lr": float("nan")}, "lr is at least"),
        ({"smoothing": 2.0}, "share between 0 and 1"),
        ({"batch": 1}, "batch of one"),
        ({"optimiser": "lion"}, "optimiser is one of 'sgd', 'adam', 'adamw'"),
        ({"activation": "relu"}, "activation is one of"),
        ({"xyz": 1}, "no training option 'xyz'"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Recipe().with_options(options)
