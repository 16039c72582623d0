"""`HashEncoder`: everything between a picture (or an embedding) and its code, in one object."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kinhash.codes import Codes
from kinhash.data.anything import as_split
from kinhash.data.images import Broken, BrokenPictureWarning, told
from kinhash.data.preprocessing import Preprocessing
from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.feeding.sentences import EncodesTexts
from kinhash.meaning.semantics import Semantics
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import Chain, build_backbone
from kinhash.models.inference import Progress, device_of, run, stacked
from kinhash.models.network import HashNetwork
from kinhash.models.retrieval import Retrieval, Retrieves
from kinhash.report import Report

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Codes with the rows they belong to: `positions` in the input, `ids`, and what could not be read.

    `kh.evaluate` takes it as it is, and ranks as the method of the encoder wants.
    """

    floats: Floats  # (n, width), the outputs whose signs are the codes
    positions: NDArray[np.int64]
    ids: list[str]
    broken: list[Broken]
    retrieval: Retrieval = field(default_factory=Retrieval)

    @cached_property
    def codes(self) -> Codes:
        """The signs; an error where the method makes no codes."""
        self.retrieval.check_codes()
        return Codes.from_logits(self.floats)

    @property
    def representation(self) -> Codes | Floats:
        """What the method retrieves with: codes where it makes any, else floats."""
        return self.floats if self.retrieval.retrieves == "floats" else self.codes

    @property
    def metric(self) -> str:
        """How floats are compared: "l1", "l2" or "dot"."""
        return self.retrieval.distance


class HashEncoder:
    """A `HashNetwork` with its preprocessing, the names of its classes, and cards that say what it was trained for.

    `semantics` (a `Semantics` or its card) and `training` (a dictionary for json) travel with the encoder and change
    nothing in what it computes. `retrieval` says what it retrieves with: codes, floats or both, and by which metric.
    """

    def __init__(
        self,
        network: HashNetwork,
        *,
        preprocessing: Preprocessing | None = None,
        classes: Sequence[str] = (),
        semantics: Semantics | Mapping[str, Any] | None = None,
        training: Mapping[str, Any] | None = None,
        retrieval: Retrieval | None = None,
    ) -> None:
        if classes and network.classes not in (0, len(classes)):
            raise InputError(
                f"{len(classes)} class names do not fit a network with {network.classes} classes"
            )
        if preprocessing is not None and network.backbone.preprocessing is None:
            raise InputError("a network that takes embeddings has no preprocessing of pictures")
        if network.bits not in (0, network.width):
            raise InputError(
                f"codes of {network.bits} bits are the signs of as many floats, not of {network.width}"
            )
        self.network = network.eval()
        self.preprocessing = preprocessing or network.backbone.preprocessing
        self.classes = tuple(classes)
        self.semantics_card: dict[str, Any] | None = _card(semantics)
        self.training_card: dict[str, Any] = dict(training or {})
        self.retrieval = retrieval or Retrieval()
        self.text_encoder: EncodesTexts | None = (
            None  # loaded by name at the first sentence, unless it is set
        )

    @property
    def bits(self) -> int:
        """Of the codes; an error where the method makes none."""
        self.retrieval.check_codes()
        return self.network.bits

    @property
    def width(self) -> int:
        """How many floats there are of every item."""
        return self.network.width

    @property
    def method(self) -> str:
        """The method that it was trained by, as `kinhash methods` lists it; "" where that is not known."""
        return self.retrieval.method

    @property
    def retrieves(self) -> Retrieves:
        """What the method retrieves with: "codes", "floats" or "both"."""
        return self.retrieval.retrieves

    @property
    def metric(self) -> str:
        """How floats are compared, for `kh.evaluate`: "l1", "l2", or "dot" of unit vectors."""
        return self.retrieval.distance

    @property
    def takes(self) -> Literal["pictures", "embeddings"]:
        """What it encodes."""
        return "embeddings" if self.preprocessing is None else "pictures"

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return device_of(self.network)

    @property
    def semantics(self) -> Semantics | None:
        """The semantics that the encoder was trained for, where it carries them."""
        return None if self.semantics_card is None else Semantics.from_card(self.semantics_card)

    def to(self, device: torch.device | str) -> HashEncoder:
        """Itself, on `device`."""
        self.network.to(device)
        return self

    def __repr__(self) -> str:
        name = self.network.backbone.name
        made = f"{self.width} floats" if self.retrieves == "floats" else f"{self.bits} bits"
        return f"HashEncoder({self.takes} -> {name} -> {made}, {len(self.classes)} classes)"

    @overload
    def encode(self, things: Any, *, floats: Literal[False] = False, **options: Any) -> Codes: ...
    @overload
    def encode(self, things: Any, *, floats: Literal[True], **options: Any) -> Floats: ...
    def encode(self, things: Any, *, floats: bool = False, **options: Any) -> Codes | Floats:
        """The codes of `things`, or with `floats` the numbers whose signs they are (float methods have these alone).

        `things`: a path, a folder, a PIL image, pixels, embeddings, a list of them, or a `Split`. Options are those
        of `encode_all`, which also says which pictures could not be read: here they are left out with a warning.
        """
        if not floats:
            self.retrieval.check_codes()  # before the work
        encoded = self.encode_all(things, **options)
        if encoded.broken:
            warnings.warn(told(encoded.broken), BrokenPictureWarning, stacklevel=2)
        return encoded.floats if floats else encoded.codes

    def encode_all(
        self,
        things: Any,
        *,
        batch: int = 256,
        flip: bool = False,
        half: bool = False,
        workers: int = 0,
        progress: Progress = False,
    ) -> Encoded:
        """Codes with ids, positions and the list of broken pictures.

        `flip` averages the outputs of a picture and its mirror image; `half` computes in bfloat16; `progress` is
        True for a bar or a function of (rows done, rows in all).
        """
        split = as_split(things)
        broken = (
            [] if split is things else list(split.broken)
        )  # whoever made the split knows what it left out
        parts = list(self._run(split, self._z, broken, batch, flip, half, workers, progress))
        positions, floats = stacked(parts, self.width)
        return Encoded(floats, positions, [split.ids[i] for i in positions], broken, self.retrieval)

    @property
    def understands_text(self) -> bool:
        """Whether `encode_text` has a head to work with."""
        return self.network.text is not None

    @overload
    def encode_text(self, texts: str | Sequence[str], *, floats: Literal[False] = False) -> Codes: ...
    @overload
    def encode_text(self, texts: str | Sequence[str], *, floats: Literal[True]) -> Floats: ...
    def encode_text(self, texts: str | Sequence[str], *, floats: bool = False) -> Codes | Floats:
        """The codes of sentences, which lie where the codes of the pictures do that they describe."""
        from kinhash.models.asking import sentence_floats

        made = sentence_floats(self, texts)
        return made if floats else Codes.from_logits(made)

    def predict(self, things: Any, *, batch: int = 256, flip: bool = False, half: bool = False) -> Floats:
        """(n, classes) probabilities of the classes. Broken pictures are left out with a warning."""
        if self.network.classifier is None:
            raise InputError("this encoder was made without classes, so it cannot predict them")
        split, broken = as_split(things), list[Broken]()
        parts = list(self._run(split, self._posterior, broken, batch, flip, half, 0, False))
        if broken:
            warnings.warn(told(broken), BrokenPictureWarning, stacklevel=2)
        return stacked(parts, self.network.classes)[1]

    def after(self, backbone: Backbone | str) -> HashEncoder:
        """The encoder of pictures that first computes the features on which this encoder of embeddings was trained."""
        first = build_backbone(backbone) if isinstance(backbone, str) else backbone
        card = self.network.card()
        for key in ("backbone", "frozen"):
            card.pop(key)
        own = copy.deepcopy(self.network)
        network = HashNetwork(Chain(first, own.backbone), frozen=True, **card)
        for name in ("hash", "classifier", "regressor", "coder", "text"):
            setattr(network, name, getattr(own, name))
        network.to(self.device)
        return HashEncoder(
            network,
            classes=self.classes,
            semantics=self.semantics_card,
            training=self.training_card,
            retrieval=self.retrieval,
        )

    def save(self, folder: str | os.PathLike[str], *, report: Report | None = None) -> None:
        """Write `encoder.json`, the weights as safetensors, and README.md, its card, with what `report` measured."""
        from kinhash.models.storage import save_encoder

        if report is not None:
            found = report.to_dict()
            self.training_card["evaluation"] = {key: found[key] for key in ("protocol", "metrics")}
        save_encoder(self, folder)

    def export_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write an ONNX file that gives the same floats and codes; see `kinhash.models.onnx_export`."""
        from kinhash.models.onnx_export import export_onnx

        export_onnx(self, path)

    def _run(
        self,
        split: Split,
        function: Any,
        broken: list[Broken],
        batch: int,
        flip: bool,
        half: bool,
        workers: int,
        progress: Progress,
    ) -> Iterator[tuple[NDArray[np.int64], Floats]]:
        return run(
            self.network,
            function,
            split,
            self.preprocessing,
            batch=batch,
            flip=flip,
            half=half,
            workers=workers,
            progress=progress,
            broken=broken,
        )

    def _z(self, x: Tensor) -> Tensor:
        self._check_width(x)
        return self.network.floats(x)

    def _posterior(self, x: Tensor) -> Tensor:
        self._check_width(x)
        return self.network(x).logits.float().softmax(1)

    def _check_width(self, x: Tensor) -> None:
        wanted = self.network.backbone.options.get("inputs")
        if self.preprocessing is None and x.shape[1] != wanted:
            raise InputError(f"this encoder takes embeddings of {wanted} numbers, got {x.shape[1]}")


def _card(semantics: Semantics | Mapping[str, Any] | None) -> dict[str, Any] | None:
    if semantics is None:
        return None
    return semantics.to_card() if isinstance(semantics, Semantics) else dict(semantics)
