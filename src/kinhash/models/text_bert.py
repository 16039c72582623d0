"""BERT (Devlin et al. 2019, arXiv:1810.04805) as far as sentence vectors need it: no dropout, no pooler, no gradients."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from kinhash.errors import FormatError, require

_TOKENS = 1024  # in a batch, padding included


class BertSentences:
    """Vectors of texts: the mean over tokens of BERT's last layer, of unit length if `normalised`."""

    def __init__(self, folder: Path, max_tokens: int, normalised: bool, device: torch.device) -> None:
        tokenizers = require("tokenizers", "text")
        safetensors = require("safetensors.torch", "text")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            weights = safetensors.load_file(folder / "model.safetensors")
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            self._bert = Bert(config, {name: w.to(device) for name, w in weights.items()})
        except Exception as error:  # both readers have exception classes of their own
            raise FormatError(f"the text encoder in {folder} cannot be loaded: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        self._normalised, self._device = normalised, device
        self.width = int(config["hidden_size"])

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # one by one: a whole batch would start threads, which warn when the process forks later
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        out = np.empty((len(texts), self.width), np.float32)
        for rows in _batches([len(ids) for ids in tokens]):
            out[rows] = self._vectors([tokens[row] for row in rows]).cpu().numpy()
        return out

    def _vectors(self, tokens: Sequence[Sequence[int]]) -> Tensor:
        longest = max(map(len, tokens))
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in tokens], device=self._device)
        lengths = torch.tensor([[len(row)] for row in tokens], device=self._device)
        real = torch.arange(longest, device=self._device) < lengths
        hidden = self._bert(ids, real)
        mean = (hidden * real[:, :, None]).sum(1) / lengths
        return F.normalize(mean, dim=1) if self._normalised else mean


class Bert:
    """The hidden states of the last layer, computed from the tensors of a checkpoint under the names it gives them."""

    def __init__(self, config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> None:
        self._heads, self._eps = int(config["num_attention_heads"]), float(config["layer_norm_eps"])
        prefix = "" if "embeddings.word_embeddings.weight" in weights else "bert."
        w = {name.removeprefix(prefix): tensor.float() for name, tensor in weights.items()}
        self._words, self._places, kinds = (
            w[f"embeddings.{what}_embeddings.weight"] for what in ("word", "position", "token_type")
        )
        self._kind = kinds[0]  # a sentence alone is of the first kind
        self._norm = _pair(w, "embeddings.LayerNorm")
        self._layers = [_layer(w, f"encoder.layer.{i}.") for i in range(int(config["num_hidden_layers"]))]

    def __call__(self, ids: Tensor, real: Tensor) -> Tensor:
        """(B, L, width) from (B, L) numbers of tokens, of which `real` are no padding."""
        x = self._normed(self._words[ids] + self._places[: ids.shape[1]] + self._kind, self._norm)
        mask = None if bool(real.all()) else real[:, None, None, :]
        for layer in self._layers:
            x = self._normed(x + F.linear(self._attention(x, mask, layer), *layer["out"]), layer["norm"])
            inner = F.linear(F.gelu(F.linear(x, *layer["up"])), *layer["down"])
            x = self._normed(x + inner, layer["last"])
        return x

    def _attention(
        self, x: Tensor, mask: Tensor | None, layer: Mapping[str, tuple[Tensor, Tensor]]
    ) -> Tensor:
        parts = F.linear(x, *layer["qkv"]).view(*x.shape[:2], 3, self._heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (B, heads, L, width / heads)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return mixed.transpose(1, 2).flatten(2)

    def _normed(self, x: Tensor, norm: tuple[Tensor, Tensor]) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], *norm, eps=self._eps)


def _layer(w: Mapping[str, Tensor], name: str) -> dict[str, tuple[Tensor, Tensor]]:
    """The weights and biases of one layer; query, key and value in one matrix."""
    threes = [_pair(w, f"{name}attention.self.{part}") for part in ("query", "key", "value")]
    weights, biases = zip(*threes, strict=True)
    return {
        "qkv": (torch.cat(weights), torch.cat(biases)),
        "out": _pair(w, f"{name}attention.output.dense"),
        "norm": _pair(w, f"{name}attention.output.LayerNorm"),
        "up": _pair(w, f"{name}intermediate.dense"),
        "down": _pair(w, f"{name}output.dense"),
        "last": _pair(w, f"{name}output.LayerNorm"),
    }


def _pair(w: Mapping[str, Tensor], name: str) -> tuple[Tensor, Tensor]:
    return w[f"{name}.weight"], w[f"{name}.bias"]


def _batches(lengths: Sequence[int]) -> list[NDArray[np.int64]]:
    """Rows of similar length together, at most `_TOKENS` tokens with padding, or one row."""
    found, rows = [], np.argsort(lengths, kind="stable")
    start = 0
    while start < len(rows):
        stop = start + 1
        while stop < len(rows) and lengths[rows[stop]] * (stop + 1 - start) <= _TOKENS:
            stop += 1
        found.append(rows[start:stop])
        start = stop
    return found
