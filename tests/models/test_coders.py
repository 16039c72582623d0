"""Coders against loops, their cards, and the encoders that carry them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from kinhash.errors import FormatError, InputError
from kinhash.models import HashEncoder, HashNetwork, build_backbone, load_encoder
from kinhash.models.coders import Affine, Coder, Lookup, coder_from_card
from kinhash.models.retrieval import Retrieval

DRAW = torch.Generator().manual_seed(0)
Z, LOGITS = torch.randn(5, 3, generator=DRAW), torch.randn(5, 4, generator=DRAW)


def test_affine_of_z() -> None:
    W, mean = torch.randn(3, 6), torch.randn(3)
    torch.testing.assert_close(Affine.of(W, mean)(Z, None), (Z - mean) @ W)
    torch.testing.assert_close(Affine.of(W)(Z, None), Z @ W)


def test_affine_of_the_posterior() -> None:
    W = torch.randn(4, 2)
    expected = np.zeros((5, 2))
    for b, row in enumerate(LOGITS.double().numpy()):
        p = np.exp(row) / np.exp(row).sum()
        for c in range(4):
            expected[b] += p[c] * W[c].double().numpy()
    found = Affine.of(W, source="posterior")(Z, LOGITS)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_lookup() -> None:
    rows = torch.randn(4, 7)
    found = Lookup.of(rows)(Z, LOGITS)
    for b in range(5):
        assert torch.equal(found[b], rows[int(LOGITS[b].argmax())])


@pytest.mark.parametrize(
    "coder", [Affine(3, 6), Affine(4, 2, "posterior"), Lookup(4, 7)], ids=lambda coder: str(coder.kind)
)
def test_cards(coder: Coder) -> None:
    again = coder_from_card(coder.card())
    assert again is not None
    assert type(again) is type(coder)
    again.load_state_dict(coder.state_dict())
    assert again.card() == coder.card()


def test_cards_that_name_nothing() -> None:
    assert coder_from_card(None) is None
    with pytest.raises(InputError, match="no coder 'magic'; this kinhash knows affine, lookup"):
        coder_from_card({"kind": "magic"})


def encoder(**options: object) -> HashEncoder:
    """Embeddings of 3 numbers -> themselves -> 6 bits by an affine coder."""
    network = HashNetwork(build_backbone("none", inputs=3), activation="features", **options)  # type: ignore[arg-type]
    network.coder = Affine.of(torch.randn(3, 6, generator=torch.Generator().manual_seed(1)))
    return HashEncoder(network, retrieval=Retrieval("codes", method="mine"))


def test_an_encoder_that_only_has_a_coder_is_saved_whole(tmp_path: Path) -> None:
    own = encoder(bits=6)
    assert own.device == torch.device("cpu")  # though it has no parameters
    own.save(tmp_path)
    loaded = load_encoder(tmp_path, device="cpu")
    assert loaded.encode(Z.numpy()) == own.encode(Z.numpy())
    assert (loaded.method, loaded.retrieves, loaded.bits, loaded.width) == ("mine", "codes", 6, 6)


def test_bits_and_floats_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="codes of 5 bits are the signs of as many floats, not of 6"):
        encoder(bits=5)


def test_unit_floats() -> None:
    network = HashNetwork(build_backbone("none", inputs=3), 0, width=4, activation="linear", unit=True)
    own = HashEncoder(network, retrieval=Retrieval("floats", "cosine", "mine"))
    assert own.metric == "dot"
    lengths = np.linalg.norm(own.encode(Z.numpy(), floats=True), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-6)
    assert repr(own) == "HashEncoder(embeddings -> none -> 4 floats, 0 classes)"
    with pytest.raises(InputError, match=r"mine retrieves with floats and makes no codes: ask for encode"):
        own.encode(Z.numpy())
    with pytest.raises(InputError, match="makes no codes"):
        assert own.bits


@pytest.mark.parametrize("change", [{"retrieves": "smells"}, {"metric": "l3"}, {"colour": "red"}])
def test_a_damaged_card_of_what_retrieves(tmp_path: Path, change: dict[str, str]) -> None:
    import json

    encoder(bits=6).save(tmp_path)
    card = json.loads((tmp_path / "encoder.json").read_text())
    card["retrieval"] |= change
    (tmp_path / "encoder.json").write_text(json.dumps(card))
    with pytest.raises(FormatError, match=r"encoder\.json"):
        load_encoder(tmp_path)


def test_encoders_from_before_there_were_float_methods(tmp_path: Path) -> None:
    import json

    encoder(bits=6).save(tmp_path)
    card = json.loads((tmp_path / "encoder.json").read_text())
    del card["retrieval"]
    (tmp_path / "encoder.json").write_text(json.dumps(card))
    assert load_encoder(tmp_path).retrieval == Retrieval()
