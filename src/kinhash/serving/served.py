"""One index as it is served: with what turns pictures or sentences into codes, where there is such a thing."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.index.index import Index
from kinhash.meaning.semantics import Semantics

Encode = Callable[[Any], Codes]  # a list of pictures, or of sentences
Location = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Served:
    """An index with its encoder. `encode` takes a list of PIL images, `encode_text` a list of sentences."""

    name: str
    index: Index
    encode: Encode | None = None
    encode_text: Encode | None = None
    semantics: Semantics | None = None
    predict: Callable[[Any], str] | None = None  # the name of the class that a PIL image shows
    pictures: Path | None = None  # what relative paths of pictures begin at

    def picture_code(self, picture: Any) -> Codes:
        if self.encode is None:
            raise InputError(f"{self.name} is served without an encoder of pictures: search by id or by code")
        return self._checked(self.encode([picture]))

    def text_code(self, text: Any) -> Codes:
        if self.encode_text is None:
            raise InputError(
                f"{self.name} is served without an encoder of text: search by picture, id or code"
            )
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"text is a sentence, got {text!r:.60}")
        return self._checked(self.encode_text([text]))

    def _checked(self, codes: Codes) -> Codes:
        if not isinstance(codes, Codes) or len(codes) != 1 or codes.bits != self.index.bits:
            raise InputError(
                f"the encoder of {self.name} gave {codes!r:.80}, not one code of {self.index.bits} bits"
            )
        return codes


def served(name: str, path: Location, encoder: Any = None, pictures: Location | None = None) -> Served:
    """Open an index for reading, with an encoder: a folder, an object with `encode`, or a function; see `kh.serve`."""
    index = Index.open(path, read_only=True)
    try:
        if isinstance(encoder, str | os.PathLike):
            from kinhash.models.storage import load_encoder

            encoder = load_encoder(encoder)
        encode, encode_text = _functions(encoder)
        bits = getattr(encoder, "bits", index.bits)
        if bits != index.bits:
            raise InputError(
                f"the encoder makes codes of {bits} bits, the index {path} holds {index.bits} bits: "
                "use the encoder that the index was made with"
            )
    except BaseException:
        index.close()
        raise
    root = None if pictures is None else Path(pictures).absolute()
    semantics = getattr(encoder, "semantics", None)
    predict = None if semantics is None or encode is None else _predictor(encoder)
    return Served(name, index, encode, encode_text, semantics, predict, root)


def _functions(encoder: Any) -> tuple[Encode | None, Encode | None]:
    """What encodes pictures and what encodes text."""
    if encoder is None:
        return None, None
    encode, text = getattr(encoder, "encode", None), getattr(encoder, "encode_text", None)
    if not getattr(encoder, "understands_text", True):
        text = None
    if encode is None and text is None:
        if not callable(encoder):
            raise InputError(
                f"an encoder is a folder, has `encode`, or can be called; got {type(encoder).__name__}"
            )
        encode = encoder
    return (encode if getattr(encoder, "takes", "pictures") == "pictures" else None), text


def _predictor(encoder: Any) -> Callable[[Any], str] | None:
    """The most likely class of a picture, by an encoder that was trained with classes."""
    classes = getattr(encoder, "classes", ())
    if not classes or getattr(getattr(encoder, "network", None), "classifier", None) is None:
        return None
    return lambda picture: str(classes[int(encoder.predict([picture])[0].argmax())])


def names_of(paths: Sequence[Location]) -> list[str]:
    """Short names for several indexes: their folders' names without suffix, numbered where two are alike."""
    names: list[str] = []
    for path in paths:
        stem = short_name(Path(os.fsdecode(path)).absolute().stem)
        name, number = stem, 2
        while name in names:
            name, number = f"{stem}-{number}", number + 1
        names.append(name)
    return names


def short_name(text: str) -> str:
    """What stands for `text` in addresses."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in text) or "index"
