"""Features of the bundled pictures, computed once."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import kinhash as kh
from kinhash.data.splits import Split
from kinhash.models import extract_features

# two flowers, two cats, two trees, two vehicles
CLASSES = ("rose", "tulip", "lion", "tiger", "oak_tree", "pine_tree", "bus", "pickup_truck")


@pytest.fixture(scope="package")
def features() -> tuple[Split, Split]:
    """Training and test features of eight classes of the sample, by the pretrained network, at 64 pixels."""
    data = kh.dataset("cifar100-sample")
    net = kh.build_backbone("efficientnet-lite0")
    assert net.preprocessing is not None
    net.preprocessing = dataclasses.replace(net.preprocessing, size=64, zoom=1.0)
    numbers = [data.classes.index(name) for name in CLASSES]

    def of(split: Split) -> Split:
        labels = split.targets()
        rows = np.flatnonzero(np.isin(labels, numbers))
        found = extract_features(net, split.take(rows), batch=16)
        own = np.searchsorted(np.sort(numbers), labels[rows])
        classes = tuple(sorted(CLASSES))
        return Split(vectors=found.vectors, labels=own, classes=classes)

    return of(data.train), of(data.test)
