"""The main job on the sample of pictures that ships with the package: features, a trained hash head, codes, reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinhash.codes import Codes
from kinhash.data.splits import Dataset, Split
from kinhash.evaluation import evaluate
from kinhash.hyperplanes import random_hyperplanes
from kinhash.meaning.semantics import Semantics
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import build_backbone
from kinhash.models.encoder import HashEncoder
from kinhash.models.features import extract_features
from kinhash.report import Report
from kinhash.training.train import train

SIDE = 160  # pixels that the pictures of 32 are enlarged to: 224 costs twice the time for little
K = 250


@dataclass(frozen=True)
class Learned:
    """What the demo has after training."""

    encoder: HashEncoder  # takes pictures of any kind
    codes: Codes  # of the test pictures
    reports: list[
        Report
    ]  # trained codes, their floats, hyperplanes of the same features, the features themselves


def backbone() -> Backbone:
    """The pretrained network, for small pictures."""
    net = build_backbone("efficientnet-lite0")
    assert net.preprocessing is not None
    net.preprocessing = dataclasses.replace(net.preprocessing, size=SIDE, zoom=1.0)
    return net


def learn(
    data: Dataset,
    kin: dict[str, Semantics],
    *,
    bits: int,
    seed: int,
    progress: bool,
    features: Callable[[Split], Split],
    frozen: Backbone,
) -> Learned:
    """Train a head on features of the frozen backbone and compare its codes with random hyperplanes of those features."""
    inputs, tests = features(data.train), features(data.test)
    head = train(inputs, semantics=kin["wup"], bits=bits, seed=seed, progress=progress, device="cpu")
    floats = head.encode(tests, floats=True)
    codes = Codes.from_logits(floats)
    centred = _centred(inputs, tests)
    labels = data.test.targets()
    guesses = head.predict(tests).argmax(1)
    plain = random_hyperplanes(centred, bits, seed)
    reports = [
        evaluate(codes, labels, semantics=kin, k=K, predictions=guesses, name="SIM-KL-CLASS head"),
        evaluate(floats, labels, semantics=kin, k=K, name="SIM-KL-CLASS head"),
        evaluate(plain, labels, semantics=kin, k=K, name="random hyperplanes of the features"),
        evaluate(centred, labels, semantics=kin, k=K, metric="l2", name="the features themselves"),
    ]
    return Learned(head.after(frozen), codes, reports)


def extractor(net: Backbone, progress: bool) -> Callable[[Split], Split]:
    """Features of a split by `net`."""
    return lambda split: extract_features(net, split, progress=progress)


def _centred(inputs: Split, tests: Split) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Test features scaled by what the training features say: fair to methods that look at angles."""
    assert inputs.vectors is not None
    assert tests.vectors is not None
    return (tests.vectors - inputs.vectors.mean(0)) / (inputs.vectors.std(0) + 1e-6)
