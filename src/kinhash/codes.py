"""`Codes`: the one type in which training and search meet.

A code of `bits` bits is stored in `ceil(bits / 64)` unsigned 64-bit words: bit j lives in word j // 64 at
position j % 64, and the bits past the end are zero. On disk and on the wire the same code is
`ceil(bits / 8)` bytes, equal to `np.packbits(bits, axis=1, bitorder="little")`, the layout that FAISS,
Milvus and LanceDB read.
"""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array, is_whole
from kinhash.errors import FormatError, InputError, NotFoundError, StorageError
from kinhash.files import replace_file
from kinhash.frozen import frozen, handed_over

WORD = 64
CODES_CARD = "codes.json"  # the file by which a folder of codes is known
_FORMAT = "kinhash-codes"
_VERSION = 1


def width_of(bits: int) -> int:
    """Words of a code."""
    return -(-bits // WORD)


class Codes:
    """An immutable array of n binary codes, all `bits` long. Indexing gives `Codes` again.

    Words that somebody can still write to are copied; a memory map opened for reading is kept as it is.

    >>> Codes.from_logits([[0.3, -1.0, 2.0]]).hex()
    ['05']
    """

    __slots__ = ("bits", "words")

    words: NDArray[np.uint64]  # (n, ceil(bits / 64)), read-only
    bits: int

    def __init__(self, words: NDArray[np.uint64], bits: int) -> None:
        bits = _checked_bits(bits)
        width = width_of(bits)
        if not isinstance(words, np.ndarray) or words.dtype != np.uint64:
            got = getattr(words, "dtype", type(words).__name__)
            raise InputError(
                f"codes are uint64 words, got {got}; use Codes.from_bits, from_logits or from_bytes"
            )
        if words.ndim != 2 or words.shape[1] != width:
            raise InputError(f"{bits}-bit codes need an (n, {width}) array of words, got shape {words.shape}")
        if not words.flags.c_contiguous:
            words = handed_over(np.ascontiguousarray(words))
        words = frozen(words)  # before the check: what was checked must stay
        if bits % WORD and len(words):
            stray = np.flatnonzero(words[:, -1] >> np.uint64(bits % WORD))
            if len(stray):
                raise InputError(
                    f"row {stray[0]} has bits set past position {bits - 1}: these words are not {bits}-bit codes"
                )
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "bits", bits)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Codes cannot be changed, so {name!r} cannot be set; make new ones instead")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Codes cannot be changed, so {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[type[Codes], tuple[NDArray[np.uint64], int]]:
        return Codes, (self.words, self.bits)  # pickle and copy would set attributes

    # ---- making -------------------------------------------------------------------------------------

    @classmethod
    def from_logits(cls, z: ArrayLike) -> Codes:
        """Codes of real-valued outputs z (n, d): bit j is [z_j >= 0]. NaN and infinity are refused."""
        array = as_array(z, "logits")
        if array.ndim != 2 or array.dtype.kind not in "fi":
            raise InputError(
                f"logits must be a (n, bits) array of signed numbers, got shape {array.shape} of {array.dtype}; "
                "for zeros and ones use Codes.from_bits"
            )
        finite = np.isfinite(array)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise InputError(
                f"logits hold {array[row, column]}, first in row {row}, column {column}: the encoder overflowed; "
                "mend it, or leave these rows out"
            )
        return cls.from_bits(array >= 0)

    @classmethod
    def from_bits(cls, values: ArrayLike) -> Codes:
        """Codes of an (n, bits) array of booleans or of zeros and ones."""
        array = as_array(values, "bits")
        if array.ndim != 2:
            raise InputError(f"bits must be an (n, bits) array, got shape {array.shape}")
        if array.dtype != np.bool_:
            if not np.isin(array, (0, 1)).all():
                raise InputError(
                    "bits must be booleans or zeros and ones; for real values use Codes.from_logits"
                )
            array = array.astype(np.bool_)
        return cls.from_bytes(np.packbits(array, axis=1, bitorder="little"), array.shape[1])

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview | NDArray[np.uint8], bits: int) -> Codes:
        """Codes of an (n, ceil(bits / 8)) uint8 array, or of the same bytes in a row."""
        bits = _checked_bits(bits)
        width = -(-bits // 8)
        if isinstance(data, memoryview) and not data.c_contiguous:
            data = data.tobytes()
        if isinstance(data, bytes | bytearray | memoryview):
            flat = np.frombuffer(data, dtype=np.uint8)
            if len(flat) % width:
                raise InputError(
                    f"{len(flat)} bytes are no whole number of {bits}-bit codes of {width} bytes each"
                )
            data = flat.reshape(-1, width)
        if not isinstance(data, np.ndarray) or data.dtype != np.uint8:
            got = getattr(data, "dtype", type(data).__name__)
            raise InputError(f"the bytes of codes are a uint8 array or `bytes`, got {got}")
        if data.ndim != 2 or data.shape[1] != width:
            raise InputError(f"{bits}-bit codes need an (n, {width}) array of bytes, got shape {data.shape}")
        padded = np.zeros((len(data), width_of(bits) * 8), dtype=np.uint8)
        padded[:, :width] = data
        return cls(handed_over(padded.view("<u8").astype(np.uint64, copy=False)), bits)

    @classmethod
    def from_hex(cls, lines: Sequence[str], bits: int) -> Codes:
        """Codes of hexadecimal strings, one per code, as `hex` writes them."""
        bits = _checked_bits(bits)
        if isinstance(lines, str) or not isinstance(lines, Iterable):
            got = "one string" if isinstance(lines, str) else type(lines).__name__
            raise InputError(f"from_hex takes a list of strings, one per code, and got {got}")
        rows = []
        for number, line in enumerate(lines):
            try:
                row = bytes.fromhex(line)
            except (ValueError, TypeError):
                raise InputError(f"item {number} is not hexadecimal: {line!r:.40}") from None
            if len(row) != -(-bits // 8):
                raise InputError(f"item {number} has {len(row)} bytes, a {bits}-bit code has {-(-bits // 8)}")
            rows.append(row)
        return cls.from_bytes(b"".join(rows), bits)

    @classmethod
    def concat(cls, parts: Sequence[Codes]) -> Codes:
        """All codes of `parts`, one after the other; they must have the same length in bits."""
        if not isinstance(parts, Sequence | Codes):
            raise InputError(f"concat takes a list of Codes, got {type(parts).__name__}")
        if not len(parts):
            raise InputError("nothing to concatenate: pass at least one Codes")
        for place, part in enumerate(parts):
            if not isinstance(part, Codes):
                raise InputError(f"part {place} is {type(part).__name__}, not Codes; see Codes.from_logits")
        lengths = sorted({part.bits for part in parts})
        if len(lengths) > 1:
            raise InputError(f"codes of different lengths cannot be stacked: {lengths} bits")
        return cls(handed_over(np.concatenate([part.words for part in parts])), lengths[0])

    # ---- looking ------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, key: SupportsIndex | slice | ArrayLike) -> Codes:
        if isinstance(key, SupportsIndex) and not isinstance(key, np.ndarray):
            i = key.__index__()
            if not -len(self) <= i < len(self):
                raise IndexError(
                    f"code {i} of {len(self)}"
                )  # plain IndexError: the iteration protocol needs it
            i %= len(self)
            key = slice(i, i + 1)
        if isinstance(key, slice):
            return Codes(self.words[key], self.bits)
        chosen = _checked_index(key)
        try:
            return Codes(handed_over(self.words[chosen]), self.bits)
        except IndexError as error:
            raise _outside(chosen, len(self)) from error

    def __iter__(self) -> Iterator[Codes]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Codes):
            return NotImplemented
        return self.bits == other.bits and np.array_equal(self.words, other.words)

    __hash__ = None  # type: ignore[assignment]  # equality compares contents

    def __repr__(self) -> str:
        shown = ", ".join(self[:3].hex())
        return f"Codes(n={len(self)}, bits={self.bits}{': ' + shown if shown else ''}{', ...' if len(self) > 3 else ''})"

    def to_bytes(self) -> NDArray[np.uint8]:
        """(n, ceil(bits / 8)) uint8, little-endian bit order."""
        little = self.words.astype("<u8", copy=False)
        return np.ascontiguousarray(
            little.view(np.uint8).reshape(len(self), self.words.shape[1] * 8)[:, : -(-self.bits // 8)]
        )

    def to_bits(self) -> NDArray[np.bool_]:
        """(n, bits) booleans."""
        return np.unpackbits(self.to_bytes(), axis=1, count=self.bits, bitorder="little").astype(np.bool_)

    def to_signs(self) -> NDArray[np.float32]:
        """(n, bits) of -1 and +1, the corner of the cube that each code names."""
        return np.where(self.to_bits(), np.float32(1), np.float32(-1))

    def hex(self) -> list[str]:
        """One hexadecimal string per code, in the byte order of `to_bytes`."""
        return [row.tobytes().hex() for row in self.to_bytes()]

    # ---- keeping ------------------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the bytes as `codes-<checksum>.npy` and a card `codes.json` that points at them.

        The card is replaced last and in one step, so a crash leaves the old codes or the new, never a mixture.
        """
        path = Path(folder)
        buffer = io.BytesIO()
        np.save(buffer, self.to_bytes())
        raw = buffer.getbuffer()
        crc = _checksum(raw, self.bits)
        name = f"codes-{crc:08x}.npy"
        card = {
            "format": _FORMAT,
            "version": _VERSION,
            "bits": self.bits,
            "n": len(self),
            "crc32": crc,
            "data": name,
        }
        try:
            path.mkdir(parents=True, exist_ok=True)
            replace_file(path / name, raw)
            replace_file(path / CODES_CARD, (json.dumps(card, indent=1) + "\n").encode())
            for old in path.glob("codes-*.npy"):
                if old.name != name:
                    old.unlink()
        except OSError as error:
            raise StorageError(f"cannot write codes to {path}: {error}") from error

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Codes:
        """Read what `save` wrote; damage is an error, never a wrong code."""
        path = Path(folder)
        if not (path / CODES_CARD).is_file():
            raise NotFoundError(f"{path} holds no codes: {CODES_CARD} is missing")
        try:
            card: dict[str, Any] = json.loads((path / CODES_CARD).read_text())
            kind, version, bits, crc = (card[key] for key in ("format", "version", "bits", "crc32"))
            file = path / Path(card["data"]).name
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{path / CODES_CARD} is damaged: {error!r}") from error
        if kind != _FORMAT or version != _VERSION:
            raise FormatError(
                f"{path} is {kind!r} version {version}; this kinhash reads {_FORMAT!r} version {_VERSION}"
            )
        try:
            raw = file.read_bytes()
        except OSError as error:
            raise FormatError(f"{file}, which codes.json names, cannot be read: {error}") from error
        if _checksum(raw, bits) != crc:
            raise FormatError(f"{file} does not match codes.json: one of the two is damaged")
        return cls.from_bytes(np.load(io.BytesIO(raw), allow_pickle=False), bits)


def _checksum(raw: bytes | memoryview, bits: int) -> int:
    """CRC-32 of the file's bytes and of the code length, so that a flip in either is seen."""
    return zlib.crc32(raw, zlib.crc32(str(bits).encode()))


def _checked_index(key: ArrayLike) -> NDArray[Any]:
    """A row of positions or a mask; an empty list, which NumPy takes for reals, chooses nothing."""
    array = as_array(key, "an index")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iub"):
        raise InputError(
            f"codes are chosen by a number, a slice, a row of numbers or a mask; got shape {array.shape} of {array.dtype}"
        )
    return array if array.size else array.astype(np.int64)


def _outside(key: NDArray[Any], n: int) -> InputError:
    """Why a mask or a row of positions does not fit n codes."""
    if key.dtype == np.bool_:
        return InputError(f"the mask has {len(key)} entries for {n} codes; it needs one for every code")
    place = int(np.argmax((key < -n) | (key >= n)))
    return InputError(f"code {key[place]}, asked for at place {place}, does not exist: there are {n} codes")


def _checked_bits(bits: int) -> int:
    if not is_whole(bits) or bits < 1:
        raise InputError(f"a code length is a positive whole number of bits, got {bits!r}")
    return int(bits)
