"""The card of an encoder says what is known and keeps what people wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import kinhash as kh
from kinhash.cards.readme import BEGIN, END, encoder_readme

CARD: dict[str, Any] = {
    "kinhash": "0.1.0",
    "weights": "weights-00000001.safetensors",
    "bytes": 12,
    "network": {"bits": 64, "backbone": {"name": "chain", "parts": [{"name": "a-net"}, {"name": "mlp"}]}},
    "preprocessing": {"size": 128},
    "classes": ["cat", "a|b <script>"],
    "semantics": {"name": "wordnet wup"},
    "retrieval": {"retrieves": "both", "metric": "l1", "method": "sim-kl-class"},
    "training": {
        "samples": 2200,
        "epochs": 20,
        "seed": 3,
        "recipe": "modern",
        "evaluation": {
            "protocol": {
                "database": "queries",
                "n_queries": 40,
                "representation": "bin",
                "bits": 64,
                "ties": "expected",
                "k": 20,
                "formula": "corrected",
                "similarity": {"wup": "wordnet wup"},
            },
            "metrics": {"map_full": 0.25, "map_at_k_found": None},
        },
    },
}


def test_it_says_what_is_known() -> None:
    text = encoder_readme(CARD)
    for words in (
        "pictures to codes of 64 bits",
        "| semantics | wordnet wup |",
        "| method | sim-kl-class |",
        "| network | a-net -\\> mlp |",
        "| items trained on | 2200 |",
        "40 queries",
        "ties: expected",
        "0.25",
        "kh.load_encoder(",
        "## Licence",
        "## Limits",
    ):
        assert words in text, words
    assert yaml.safe_load(text.split("---")[1])["license"] == "unknown"


def test_names_are_text_whatever_they_hold() -> None:
    assert "a\\|b \\<script\\>" in encoder_readme(CARD)


def test_what_was_not_measured_is_said() -> None:
    assert "Not measured" in encoder_readme(CARD | {"training": {}})


def test_floats_are_no_codes() -> None:
    card = CARD | {"retrieval": {"retrieves": "floats", "metric": "cosine", "method": "devise"}}
    text = encoder_readme(card)
    assert "pictures to floats" in text
    assert "floats=True" in text
    assert "bits of a code" not in text


def test_saving_again_keeps_what_people_wrote() -> None:
    first = encoder_readme(CARD)
    edited = first.replace("license: unknown", "license: mit").replace(
        "Not said yet: put", "MIT. Not said yet: put"
    )
    again = encoder_readme(CARD | {"training": {"samples": 5}}, edited)
    assert "license: mit" in again
    assert "MIT. Not said" in again
    assert "| items trained on | 5 |" in again
    assert again.count(BEGIN) == again.count(END) == 1
    assert encoder_readme(CARD, first) == first


def test_a_page_without_marks_is_left_alone() -> None:
    assert encoder_readme(CARD, "my own words") == "my own words"


def test_it_is_written_at_save(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from kinhash.models.encoder import HashEncoder
    from kinhash.models.mlp import MLP
    from kinhash.models.network import HashNetwork

    encoder = HashEncoder(HashNetwork(MLP(6, (4,)), 16))
    encoder.save(tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert "embeddings to codes of 16 bits" in text
    assert "Not measured" in text
    report = kh.evaluate(encoder.encode(np.eye(6, dtype=np.float32)), [0, 0, 1, 1, 2, 2], k=3)
    encoder.save(tmp_path, report=report)
    text = (tmp_path / "README.md").read_text()
    assert "6 queries" in text
    again = kh.load_encoder(tmp_path, device="cpu")
    assert again.training_card["evaluation"]["metrics"]["map_full"] == report["map_full"]
