"""Flickr8k as vectors: features of a frozen network and sentence vectors, computed once into a folder."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kinhash as kh
from kinhash.data.decoding import Decoder
from kinhash.data.preprocessing import Preprocessing
from kinhash.data.splits import Split
from kinhash.feeding.sentences import Sentences
from kinhash.files import replacing

Floats = NDArray[np.float32]
BACKBONE = "efficientnet-lite0"
HELD_OUT = 1000  # training photos that hyper-parameters are chosen on
_BATCH = 32


@dataclass(frozen=True)
class Captioned:
    """Photos as features, of the pictures and of their mirror images, with their captions as vectors."""

    ids: list[str]
    plain: Floats  # (n, D)
    mirrored: Floats  # (n, D)
    sentences: Sentences
    captions: list[list[str]]

    def take(self, rows: NDArray[np.int64]) -> Captioned:
        return Captioned(
            [self.ids[i] for i in rows],
            self.plain[rows],
            self.mirrored[rows],
            self.sentences.take(rows),
            [self.captions[i] for i in rows],
        )

    def split(self) -> Split:
        """Every photo and its mirror image, as `kh.train` makes of pictures and a frozen backbone."""
        names = [f"{name}{tail}" for tail in ("", " mirrored") for name in self.ids]
        return Split(
            vectors=np.concatenate([self.plain, self.mirrored]), ids=names, captions=self.captions * 2
        )


class Held:
    """Sentence vectors that were computed before, under the face of a text encoder."""

    def __init__(self, data: Captioned) -> None:
        texts = [text for captions in data.captions for text in captions]
        self.name, self.width = data.sentences.encoder, data.sentences.vectors.shape[1]
        self._known = dict(zip(texts, data.sentences.vectors, strict=True))

    def encode(self, texts: list[str]) -> Floats:
        return np.stack([self._known[text] for text in texts])


def load(root: Path, work: Path, *, validation: bool) -> tuple[Captioned, Captioned]:
    """Training and test photos; with `validation` 1,000 of the training photos take the place of the test photos."""
    dataset = kh.dataset(root)
    train, test = (_captioned(split, work / f"{part}.npz") for part, split in _parts(dataset))
    if not validation:
        return train, test
    order = np.random.default_rng(0).permutation(len(train.ids))
    return train.take(np.sort(order[HELD_OUT:])), train.take(np.sort(order[:HELD_OUT]))


def _parts(dataset: kh.Dataset) -> list[tuple[str, Split]]:
    return [("train", dataset.train), ("test", dataset.test)]


def _captioned(split: Split, cache: Path) -> Captioned:
    assert split.captions is not None
    if not cache.exists():
        sentences = Sentences.of(split.captions, kh.text_encoder("minilm"))
        plain, mirrored = features(split)
        cache.parent.mkdir(parents=True, exist_ok=True)
        with replacing(cache) as new, open(new, "wb") as file:
            np.savez(
                file, plain=plain, mirrored=mirrored, sentences=sentences.vectors, ids=np.array(split.ids)
            )
    with np.load(cache, allow_pickle=False) as arrays:
        if arrays["ids"].tolist() != split.ids:
            raise SystemExit(f"{cache} was made of other photos: remove it")
        starts = np.concatenate([[0], np.cumsum([len(captions) for captions in split.captions])])
        sentences = Sentences(arrays["sentences"], starts, "minilm")
        return Captioned(list(split.ids), arrays["plain"], arrays["mirrored"], sentences, split.captions)


def features(split: Split) -> tuple[Floats, Floats]:
    """Of whole pictures and of their mirror images, through ONNX Runtime.

    On a machine with other work it is ten times as fast as PyTorch, whose threads wait for each other in every layer.
    """
    import onnxruntime

    assert isinstance(split.images, list)
    backbone = kh.build_backbone(BACKBONE).eval()
    assert backbone.preprocessing is not None
    shape = replace(backbone.preprocessing, whole=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(_exported(backbone, shape), options)
    decoder, found = Decoder(shape), ([], [])
    starts = range(0, len(split), _BATCH)
    for part in decoder.batches(
        (split.images[i : i + _BATCH], split.ids[i : i + _BATCH], None) for i in starts
    ):
        if part.broken:
            raise SystemExit(f"{part.broken[0].id} cannot be read: {part.broken[0].reason}")
        x = (part.pictures.transpose(0, 3, 1, 2) / np.float32(255) - _column(shape.mean)) / _column(shape.std)
        for rows, view in zip(found, (x, x[..., ::-1]), strict=True):
            rows.append(session.run(None, {"x": np.ascontiguousarray(view, np.float32)})[0])
    decoder.close()
    return np.concatenate(found[0]), np.concatenate(found[1])


def _exported(backbone: kh.HashEncoder, shape: Preprocessing) -> bytes:
    import io
    import warnings

    import torch

    out, example = io.BytesIO(), torch.zeros(2, 3, shape.size, shape.size)
    axes = {"x": {0: "batch"}, "y": {0: "batch"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter that needs no tracing of shapes calls itself old
        torch.onnx.export(
            backbone, (example,), out, dynamo=False, input_names=["x"], output_names=["y"], dynamic_axes=axes
        )
    return out.getvalue()


def _column(values: tuple[float, float, float]) -> Floats:
    return np.array(values, np.float32)[:, None, None]
