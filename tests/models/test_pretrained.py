"""The encoder that nobody trains: a projection from the classifier's weights, the same everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import kinhash as kh
from kinhash.errors import InputError
from kinhash.models.pretrained import feature_statistics, pretrained_encoder, projection

CLASSES = np.random.default_rng(0).normal(size=(40, 12)) * np.arange(1, 13)


def test_the_projection_turns_the_classifiers_strongest_directions() -> None:
    found = projection(CLASSES, 5)
    np.testing.assert_allclose(found.T @ found, np.eye(5), atol=1e-12)
    centred = CLASSES - CLASSES.mean(0)
    strongest = np.linalg.eigvalsh(centred.T @ centred)[-5:].sum()
    assert np.isclose(np.linalg.norm(centred @ found) ** 2, strongest)


def test_it_does_not_depend_on_what_a_machine_calls_positive() -> None:
    first = projection(CLASSES, 5)
    np.testing.assert_allclose(projection(CLASSES[::-1], 5), first, atol=1e-9)
    np.testing.assert_allclose(projection(CLASSES * 3, 5), first, atol=1e-9)


def test_the_encoder_is_that_projection_and_is_saved_as_any_other(tmp_path: Path) -> None:
    encoder = pretrained_encoder(24, device="cpu")
    assert (encoder.bits, encoder.takes) == (24, "pictures")
    assert feature_statistics()[0].shape == (1280,)
    features = torch.from_numpy(np.random.default_rng(0).random((3, 1280), dtype=np.float32))
    weight = encoder.network.hash.linear.weight
    expected = (features - torch.from_numpy(feature_statistics()[0]).float()) @ weight.T >= 0
    assert torch.equal(encoder.network.hash(features) >= 0, expected)

    pictures = np.random.default_rng(1).integers(0, 256, (2, 70, 60, 3), dtype=np.uint8)
    encoder.save(tmp_path)
    again = kh.load_encoder(tmp_path, device="cpu")
    np.testing.assert_array_equal(again.encode(pictures).words, encoder.encode(pictures).words)


@pytest.mark.parametrize("bits", [0, 513, 2.5, True])
def test_lengths_that_it_does_not_make(bits: int) -> None:
    with pytest.raises(InputError, match="codes of 1 to 512 bits"):
        pretrained_encoder(bits)
