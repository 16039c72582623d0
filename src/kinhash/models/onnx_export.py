"""An encoder as one ONNX file, for programs without PyTorch: pixels (or embeddings) in, floats and packed codes out."""

from __future__ import annotations

import copy
import io
import json
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from kinhash.errors import InputError, StorageError, require
from kinhash.feeding.normalising import scale_and_shift
from kinhash.files import replacing

if TYPE_CHECKING:
    from kinhash.models.encoder import HashEncoder

OPSET = 18
_EXAMPLES = 2  # a batch of one would be taken for a constant


class Exportable(nn.Module):
    """uint8 (n, S, S, 3), or float32 (n, d) embeddings -> `floats` (n, width) and `codes` uint8 (n, ceil(bits / 8)).

    The codes are the bytes of `Codes.to_bytes`: bit j of a code is bit j % 8 of byte j // 8. Methods without codes
    give floats alone.
    """

    scale: Tensor
    shift: Tensor
    powers: Tensor

    def __init__(self, encoder: HashEncoder) -> None:
        super().__init__()
        self.network = copy.deepcopy(encoder.network).to("cpu").eval()
        self.pictures = encoder.preprocessing is not None
        self.bits = encoder.network.bits
        if encoder.preprocessing is not None:
            scale, shift = scale_and_shift(encoder.preprocessing, "cpu")
            self.register_buffer("scale", scale.view(1, 3, 1, 1))
            self.register_buffer("shift", shift.view(1, 3, 1, 1))
        self.register_buffer("powers", 2.0 ** torch.arange(8))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        if self.pictures:
            x = x.permute(0, 3, 1, 2).float() * self.scale + self.shift
        z = self.network.floats(x)
        if not self.bits:
            return (z,)
        ones = nn.functional.pad((z >= 0).float(), (0, -self.bits % 8))
        return z, (ones.view(-1, ones.shape[1] // 8, 8) * self.powers).sum(2).to(torch.uint8)


def export_onnx(encoder: HashEncoder, path: str | os.PathLike[str]) -> Path:
    """Write `encoder` to `path`, with a batch of any size. The file's metadata hold bits, picture size and class names.

    A picture is resized by the caller: its shorter side to `size * zoom`, then the middle square of `size`; or, where
    `whole` says so, both sides to `size`.
    """
    path = Path(path)
    if path.suffix != ".onnx":
        raise InputError(f"an ONNX file ends in .onnx, not in {path.name!r}")
    onnx = require("onnx", "onnx")
    require("onnxscript", "onnx")
    name, example = _example(encoder)
    with _quiet():
        try:
            program = torch.onnx.export(
                Exportable(encoder).eval(),
                (example,),
                dynamo=True,
                opset_version=OPSET,
                input_names=[name],
                output_names=["floats", "codes"] if encoder.network.bits else ["floats"],
                dynamic_shapes=({0: torch.export.Dim("n", min=1)},),
            )
        except torch.onnx.errors.OnnxExporterError as error:
            backbone = encoder.network.backbone.name
            raise InputError(f"the backbone {backbone!r} cannot be exported to ONNX: {error}") from error
    assert program is not None
    model = program.model_proto
    onnx.helper.set_model_props(model, _properties(encoder))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as new:
            onnx.save(model, new)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error}") from error
    return path


@contextmanager
def _quiet() -> Iterator[None]:
    """What the exporter says about itself: its steps, torchvision that is not needed, deprecated parts of torch."""
    log = logging.getLogger("torch.onnx._internal.exporter._registration")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        log.setLevel(level)


def _example(encoder: HashEncoder) -> tuple[str, Tensor]:
    if encoder.preprocessing is None:
        width = int(encoder.network.backbone.options["inputs"])
        return "embeddings", torch.zeros(_EXAMPLES, width)
    size = encoder.preprocessing.size
    return "pictures", torch.zeros(_EXAMPLES, size, size, 3, dtype=torch.uint8)


def _properties(encoder: HashEncoder) -> dict[str, str]:
    """What a program needs to know besides the graph; all of it is text."""
    shape: dict[str, Any] = {} if encoder.preprocessing is None else encoder.preprocessing.card()
    known = {"bits": encoder.network.bits, "classes": list(encoder.classes)}
    known |= {key: shape[key] for key in ("size", "zoom", "whole") if key in shape}
    return {f"kinhash.{key}": json.dumps(value) for key, value in known.items()}
