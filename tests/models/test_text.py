"""`kinhash.text_encoder` around whatever computes: order, repetitions, the cache, and texts that are none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_text import WIDTH, Words
from numpy.typing import NDArray

import kinhash as kh
from kinhash.errors import InputError
from kinhash.models.text import TextEncoder
from kinhash.models.text_cache import VectorCache


class Counted(Words):
    """Remembers what it was asked."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().__call__(texts)


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counted:
    made = Counted()
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text("{}")
    monkeypatch.setattr("kinhash.models.text.encoder_folder", lambda name: tmp_path / name)
    monkeypatch.setattr("kinhash.models.text.make_runner", lambda folder, device: made)
    return made


@pytest.fixture
def encoder(runner: Counted, tmp_path: Path) -> TextEncoder:
    return kh.text_encoder("encoder", device="cpu", cache=tmp_path / "cache")


def test_vectors_stand_in_the_order_of_the_texts(encoder: TextEncoder, runner: Counted) -> None:
    texts = [f"text number {i}" + " more" * (i % 7) for i in np.random.default_rng(0).permutation(1300)]
    vectors = encoder.encode(texts)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, Words()(texts))
    assert np.array_equal(encoder.encode(tuple(texts[::-1])), vectors[::-1])
    assert len(runner.asked) == 1300  # the second time they lay in the cache


def test_equal_texts_are_computed_once(runner: Counted) -> None:
    encoder = kh.text_encoder("encoder", cache=False)
    vectors = encoder.encode(["b", "a", "b", "b"])
    assert sorted(runner.asked) == ["a", "b"]
    assert np.array_equal(vectors, Words()(["b", "a", "b", "b"]))
    encoder.encode(["a"])
    assert sorted(runner.asked) == ["a", "a", "b"]  # without a cache nothing is kept


def test_the_cache_outlives_the_encoder_and_tells_encoders_apart(
    encoder: TextEncoder, runner: Counted, tmp_path: Path
) -> None:
    encoder.encode(["a", "b"])
    again = kh.text_encoder("encoder", device="cpu", cache=tmp_path / "cache")
    assert np.array_equal(again.encode(["c", "a"]), Words()(["c", "a"]))
    assert runner.asked == ["a", "b", "c"]
    (tmp_path / "encoder" / "config.json").write_text('{"other": 1}')
    kh.text_encoder("encoder", device="cpu", cache=tmp_path / "cache").encode(["a"])
    assert runner.asked == ["a", "b", "c", "a"]


def test_one_call_fills_no_more_than_half_of_the_cache(runner: Counted, tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "small", limit=2 * 512 * 4 * WIDTH)
    encoder = TextEncoder("encoder", tmp_path / "encoder", "cpu", cache)  # type: ignore[arg-type]
    texts = [f"{i:06d}" for i in range(2000)]
    encoder.encode(texts)
    encoder.encode(texts)
    # the parts of 512 that were stored were not asked again, and not all were stored
    assert 2 * 2000 - 1024 <= len(runner.asked) < 2 * 2000


def test_nothing_to_encode(encoder: TextEncoder) -> None:
    vectors = encoder.encode([])
    assert vectors.shape == (0, WIDTH)
    assert vectors.dtype == np.float32


def test_progress_counts_different_texts(encoder: TextEncoder) -> None:
    seen: list[tuple[int, int]] = []
    encoder.encode(["a"])
    encoder.encode(["a", "b", "b"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("two dogs", "texts are a sequence, got 'two dogs'; put a single one into a list"),
        (3, "texts are a sequence, got 3"),
        (["a", None], "text 1 is None, not a text; leave it out"),
        (["a", float("nan")], "text 1 is nan, not a text"),
        ([b"a"], "text 0 is b'a', not a text"),
        (["a", ""], "text 1 is empty, so it has no meaning; leave it out"),
        ([" \n\t\u3000"], "text 0 is empty"),
        (["\x00\x07\u200b"], "text 0 is empty"),
        (["a", "dog \ud83d"], r"text 1 holds half of a character \('\\ud83d' at position 4\)"),
    ],
)
def test_what_is_no_text(encoder: TextEncoder, texts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        encoder.encode(texts)


def test_numpy_strings_and_other_scripts_are_texts(encoder: TextEncoder) -> None:
    texts = ["猫", "собака", "🐕", "كلب"]
    assert np.array_equal(encoder.encode(np.array(texts)), encoder.encode(texts))  # type: ignore[arg-type]
