"""What computes: our own BERT, which starts within a moment, or sentence-transformers for every other architecture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from kinhash.errors import FormatError, require
from kinhash.models.text_bert import BertSentences

_MODULES = "sentence_transformers.models."
_PLAIN = (
    [_MODULES + "Transformer", _MODULES + "Pooling"],
    [_MODULES + "Transformer", _MODULES + "Pooling", _MODULES + "Normalize"],
)


class Runner(Protocol):
    """Vectors of texts; `width` numbers each."""

    width: int

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


def make_runner(folder: Path, device: torch.device) -> Runner:
    """The leanest runner that gives this encoder's own vectors."""
    if (normalised := _plain_bert(folder)) is None:
        return SentenceTransformerRunner(folder, device)
    return BertSentences(folder, _max_tokens(folder), normalised, device)


class SentenceTransformerRunner:
    """Whatever sentence-transformers loads; a folder of transformers gets the mean over its tokens."""

    def __init__(self, folder: Path, device: torch.device) -> None:
        package = require("sentence_transformers", "text")
        try:
            self._model = package.SentenceTransformer(
                str(folder), device=str(device), model_kwargs={"use_safetensors": True}, local_files_only=True
            )
        except Exception as error:  # anything that its loaders of many architectures may raise
            raise FormatError(f"the text encoder in {folder} cannot be loaded: {error}") from error
        self.width = int(self._model.get_embedding_dimension())

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, np.float32)


def _plain_bert(folder: Path) -> bool | None:
    """Whether vectors get unit length, for a BERT whose tokens are averaged; None for any other encoder."""
    config = _read(folder / "config.json")
    if (
        config.get("model_type") != "bert"
        or config.get("hidden_act") != "gelu"
        or config.get("position_embedding_type", "absolute") != "absolute"
        or not all((folder / name).is_file() for name in ("tokenizer.json", "model.safetensors"))
    ):
        return None
    if not (folder / "modules.json").is_file():
        return False
    types = [module.get("type") for module in _read(folder / "modules.json", [])]
    pooling = _read(folder / "1_Pooling" / "config.json")
    modes = [name for name, used in pooling.items() if name.startswith("pooling_mode") and used]
    special = _read(folder / "config_sentence_transformers.json").get("default_prompt_name")
    lowered = _read(folder / "sentence_bert_config.json").get("do_lower_case")
    if types not in _PLAIN or modes != ["pooling_mode_mean_tokens"] or special or lowered:
        return None
    return len(types) == 3


def _max_tokens(folder: Path) -> int:
    positions = int(_read(folder / "config.json")["max_position_embeddings"])
    return min(positions, int(_read(folder / "sentence_bert_config.json").get("max_seq_length") or positions))


def _read(path: Path, absent: Any = None) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {} if absent is None else absent
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} is damaged: {error}") from error
