"""The sample of CIFAR-100 in small: what a page says with it runs in seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinhash as kh
from kinhash.data.splits import Dataset
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import build_backbone
from kinhash.training import setup


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few pictures, a small network of random weights in place of the pretrained one, two epochs."""

    def small(name: str, **options: Any) -> Backbone:
        return build_backbone("wrn10-1" if name == "efficientnet-lite0" else name, **options)

    def few(name: str) -> Dataset:
        whole = every(name)
        train = whole.train.take(np.arange(0, 2200, 10))
        return Dataset(name, train, whole.test.take(np.arange(300)), whole.classes)

    def short(*arguments: Any, **options: Any) -> Any:
        return train(*arguments, epochs=2, device="cpu", progress=False, **options)

    every, train = kh.dataset, kh.train
    monkeypatch.setattr(setup, "build_backbone", small)
    monkeypatch.setattr(kh, "dataset", few)
    monkeypatch.setattr(kh, "train", short)
