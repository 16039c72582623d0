"""The main job on the sample of pictures that ships with the package: features, a trained hash head, codes, reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.data.splits import Dataset, Split
from kinhash.evaluation import evaluate
from kinhash.hyperplanes import random_hyperplanes
from kinhash.meaning.semantics import Semantics
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import build_backbone
from kinhash.models.encoder import HashEncoder
from kinhash.report import Report
from kinhash.training.train import train

SIDE = 128  # pixels that the pictures of 32 are enlarged to: 160 costs half as much time again for little
EPOCHS = 20  # the recipe's 100 win a point, and take five times as long
K = 250
TRAINED, PLAIN = "trained head", "random hyperplanes"
MARGINS = ("mahp_wup", "mahp_lcs", "map_full")


@dataclass(frozen=True)
class Learned:
    """What the demo has after training."""

    encoder: HashEncoder  # takes pictures of any kind
    codes: Codes  # of the test pictures
    trained: Report
    plain: Report  # random hyperplanes of the same features
    floats: Report  # what the trained head gives before it is cut to bits

    def margins(self) -> dict[str, tuple[float, float]]:
        """Metric -> (trained, random hyperplanes)."""
        return {metric: (self.trained[metric], self.plain[metric]) for metric in MARGINS}


def backbone() -> Backbone:
    """The pretrained network, for small pictures."""
    net = build_backbone("efficientnet-lite0")
    assert net.preprocessing is not None
    net.preprocessing = dataclasses.replace(net.preprocessing, size=SIDE, zoom=1.0)
    return net


def learn(
    data: Dataset,
    features: tuple[Split, Split],
    frozen: Backbone,
    kin: Mapping[str, Semantics],
    *,
    bits: int,
    seed: int,
    progress: bool,
) -> Learned:
    """Train a head on the training features, and compare its codes of the test pictures with hyperplanes.

    Nothing is chosen by the test pictures: all of the recipe but the number of epochs is what `kh.train` derives.
    """
    inputs, tests = features
    head = train(
        inputs, semantics=kin["wup"], bits=bits, epochs=EPOCHS, seed=seed, progress=progress, device="cpu"
    )
    floats = head.encode(tests, floats=True)
    codes, labels = Codes.from_logits(floats), data.test.targets()
    guesses = head.predict(tests).argmax(1)
    plain = random_hyperplanes(standardised(inputs, tests), bits, seed)
    return Learned(
        head.after(frozen),
        codes,
        evaluate(codes, labels, semantics=kin, k=K, predictions=guesses, name=TRAINED),
        evaluate(plain, labels, semantics=kin, k=K, name=PLAIN),
        evaluate(floats, labels, semantics=kin, k=K, name=TRAINED),
    )


def standardised(inputs: Split, tests: Split) -> NDArray[np.float32]:
    """Test features with mean 0 and deviation 1 by the training features: hyperplanes through 0 then cut the middle."""
    assert inputs.vectors is not None
    assert tests.vectors is not None
    scaled: NDArray[np.float32] = (tests.vectors - inputs.vectors.mean(0)) / (inputs.vectors.std(0) + 1e-6)
    return scaled
