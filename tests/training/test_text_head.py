"""A text head learns with the pictures: sentences find what they describe, from floats and from codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fake_text import Words

import kinhash as kh
from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.methods import METHODS

COLOURS = ("red", "green", "blue", "black", "white", "grey", "pink", "brown")
THINGS = ("dog", "cat", "bird", "boat", "car", "tree", "child", "ball")


def captioned(n: int = 256, seed: int = 0, labels: bool = False) -> Split:
    """Embeddings that are sums of what the captions name, with noise."""
    rng = np.random.default_rng(seed)
    kinds = np.random.default_rng(9).normal(size=(2, 8, 16))
    colour, thing = rng.integers(0, 8, (2, n))
    vectors = kinds[0, colour] + kinds[1, thing] + 0.2 * rng.normal(size=(n, 16))
    captions = [
        [f"a {COLOURS[c]} {THINGS[t]}", f"one {THINGS[t]} in {COLOURS[c]}"][: 1 + i % 2]
        for i, (c, t) in enumerate(zip(colour, thing, strict=True))
    ]
    return Split(
        vectors=vectors.astype(np.float32),
        captions=captions,
        labels=thing if labels else None,
        classes=THINGS if labels else (),
    )


def run(split: Split | None = None, **options: Any) -> kh.HashEncoder:
    settings: dict[str, Any] = {"bits": 32, "epochs": 60, "batch": 64, "hidden": 64, "device": "cpu"}
    settings["input_dropout"] = (
        0.0  # a toy sentence has two words: without one of them it says something else
    )
    settings |= {"progress": False, "text": Words(), "mixup": 0.0} | options
    return kh.train(captioned() if split is None else split, **settings)


def asked(encoder: kh.HashEncoder, sentence: str, split: Split) -> list[str]:
    """The captions of the three nearest pictures."""
    encoder.text_encoder = encoder.text_encoder or Words()
    bits = encoder.encode(split).to_bits() != encoder.encode_text(sentence).to_bits()
    assert split.captions is not None
    return [split.captions[i][0] for i in np.argsort(bits.sum(1), kind="stable")[:3]]


@pytest.fixture(scope="module")
def encoder() -> kh.HashEncoder:
    return run()


def test_sentences_find_what_they_describe(encoder: kh.HashEncoder) -> None:
    test = captioned(200, seed=1)
    right = 0
    for colour in COLOURS[:4]:
        for thing in THINGS[:4]:
            found = asked(encoder, f"a {colour} {thing}", test)
            right += sum(thing in caption for caption in found) + sum(colour in caption for caption in found)
    assert right > 0.6 * 16 * 6  # chance: an eighth


def test_it_survives_the_disk_and_a_backbone_in_front(encoder: kh.HashEncoder, tmp_path: Path) -> None:
    encoder.text_encoder = Words()
    encoder.save(tmp_path / "enc")
    again = kh.load_encoder(tmp_path / "enc", device="cpu")
    again.text_encoder = Words()
    texts = ["a red dog", "собака", "x " * 500_000]
    np.testing.assert_array_equal(
        again.encode_text(texts, floats=True), encoder.encode_text(texts, floats=True)
    )
    assert again.network.text is not None
    assert (again.network.text.encoder, again.understands_text) == ("words", True)
    behind = encoder.after(kh.build_backbone("none", inputs=16))
    behind.text_encoder = Words()
    assert behind.encode_text(texts) == encoder.encode_text(texts)


def test_both_towers_have_the_same_layers(tmp_path: Path) -> None:
    made = run(epochs=1, hidden=24, dropout=0.25, input_dropout=0.125)
    made.save(tmp_path)
    network = kh.load_encoder(tmp_path, device="cpu").network
    assert network.text is not None
    for options in (network.backbone.options, network.text.mlp.options):
        assert (options["hidden"], options["dropout"], options["input_dropout"]) == ([24], 0.25, 0.125)


def test_resuming_gives_the_same_head(tmp_path: Path) -> None:
    whole = run(epochs=4)
    run(epochs=4, out=tmp_path / "run", stop_after=2)
    parts = run(epochs=4, out=tmp_path / "run", resume=True)
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, parts.network.state_dict()[name]), name


def test_labels_and_captions_together() -> None:
    split = captioned(labels=True)
    encoder = run(split, semantics=kh.semantics("labels", THINGS), epochs=3)
    assert encoder.method == "sim-kl-class"
    assert encoder.understands_text
    assert encoder.predict(split).shape == (256, 8)


ABLE = [name for name, method in METHODS.items() if method.matches_text and "labels" not in method.needs]


@pytest.mark.parametrize("method", ABLE)
def test_every_method_that_says_so_trains_a_head(method: str) -> None:
    assert run(captioned(128), method=method, epochs=1).understands_text


def test_what_cannot_be() -> None:
    plain = run(text=None, target_vectors=np.ones((256, 1)) * np.arange(256)[:, None], epochs=1)
    assert not plain.understands_text
    with pytest.raises(
        InputError, match="knows pictures alone, so a sentence has no code: train one on captioned"
    ):
        plain.encode_text("a dog")
    with pytest.raises(InputError, match="trains no text head: leave text='minilm' out, or use one of sim"):
        run(captioned(labels=True), method="center", text="minilm")
    with pytest.raises(InputError, match="the split has no captions"):
        run(Split(vectors=np.ones((9, 2))))
    with pytest.raises(InputError, match="train takes a split"):
        run("photos")  # type: ignore[arg-type]


def test_vectors_of_another_encoder(encoder: kh.HashEncoder) -> None:
    encoder.text_encoder = Words(5)
    with pytest.raises(InputError, match="takes vectors of 12 numbers, as 'words' makes them, got 5"):
        encoder.encode_text("a dog")
