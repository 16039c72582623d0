"""Several encoders as one: the codes of each, side by side, for pictures, sentences and from the disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from fake_text import Words

import kinhash as kh
from kinhash.errors import FormatError, InputError, NotFoundError
from kinhash.models import HashNetwork
from kinhash.models.text_head import TextHead


def encoder(bits: int, seed: int, text: bool = True) -> kh.HashEncoder:
    torch.manual_seed(seed)
    head = TextHead(12, bits, hidden=(8,), encoder="words").card() if text else None
    made = kh.HashEncoder(HashNetwork("wrn10-1", bits, text=head))
    made.text_encoder = Words()
    return made


@pytest.fixture
def pictures() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)


def test_codes_side_by_side(pictures: np.ndarray, tmp_path: Path) -> None:
    a, b = encoder(12, 0), encoder(20, 1)
    both = kh.ConcatEncoder([a, b], weights=[2, 1])
    assert both.bits == 2 * 12 + 20
    assert both.encode(pictures) == kh.concat([a.encode(pictures), b.encode(pictures)], [2, 1])
    assert both.encode_text("a dog") == kh.concat([a.encode_text("a dog"), b.encode_text("a dog")], [2, 1])
    both.save(tmp_path / "both")
    again = kh.ConcatEncoder.load(tmp_path / "both", device="cpu")
    assert again.encode(pictures) == both.encode(pictures)
    assert again.weights == [2, 1]
    with pytest.raises(NotFoundError, match=r"joined: read them with kh\.ConcatEncoder\.load"):
        kh.load_encoder(tmp_path / "both")
    assert kh.load_encoder(tmp_path / "both" / "1", device="cpu").encode(pictures) == b.encode(pictures)


def test_what_one_cannot_read_is_left_out(pictures: np.ndarray, tmp_path: Path) -> None:
    (tmp_path / "no.png").write_bytes(b"x")
    both = kh.ConcatEncoder([encoder(8, 0), encoder(8, 1)])
    made = both.encode_all([pictures[0], tmp_path / "no.png", pictures[1]])
    assert made.positions.tolist() == [0, 2]
    assert made.ids == ["0", "2"]
    assert [broken.id for broken in made.broken] == ["1"]
    assert made.codes == both.encode(pictures[:2])


def test_what_does_not_fit_together(tmp_path: Path) -> None:
    plain = encoder(8, 0, text=False)
    assert not kh.ConcatEncoder([plain, encoder(8, 1)]).understands_text
    with pytest.raises(InputError, match="knows pictures alone"):
        kh.ConcatEncoder([plain]).encode_text("a dog")
    vectors = kh.HashEncoder(HashNetwork(kh.build_backbone("none", inputs=3), 8))
    with pytest.raises(InputError, match="some of these encoders take pictures and some embeddings"):
        kh.ConcatEncoder([plain, vectors])
    with pytest.raises(InputError, match="at least one"):
        kh.ConcatEncoder([])
    with pytest.raises(InputError, match="2 parts need as many weights"):
        kh.ConcatEncoder([plain, plain], weights=[1])
    with pytest.raises(NotFoundError, match=r"concat\.json is missing"):
        kh.ConcatEncoder.load(tmp_path)
    kh.ConcatEncoder([plain]).save(tmp_path / "one")
    card = tmp_path / "one" / "concat.json"
    card.write_text(json.dumps({**json.loads(card.read_text()), "version": 9}))
    with pytest.raises(FormatError, match="version 9"):
        kh.ConcatEncoder.load(tmp_path / "one")
    card.write_text("{")
    with pytest.raises(FormatError, match="is damaged"):
        kh.ConcatEncoder.load(tmp_path / "one")
