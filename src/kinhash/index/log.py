"""Log entries: small writes, kept whole in the manifest until they are folded into a segment.

4 bytes    length of the JSON that follows, little-endian
JSON       {"op": "add" | "replace" | "delete", "n": items, "ids": "int" | [strings], "metadata": [objects] or absent}
n x 8      the ids, int64, where they are integers
n x w x 8  the codes, w words of 64 bits each; absent for delete
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import FormatError
from kinhash.index.ids import Ids
from kinhash.index.metadata_checks import Metadata


@dataclass(frozen=True)
class Entry:
    """One acknowledged write; `words` is None for a delete, `metadata` where no item has any."""

    op: str
    ids: Ids
    words: NDArray[np.uint64] | None = None
    metadata: list[Metadata] | None = None


def encode(entry: Entry) -> bytes:
    texts = isinstance(entry.ids, list)
    head = {"op": entry.op, "n": len(entry.ids), "ids": entry.ids if texts else "int"}
    if entry.metadata is not None:
        head["metadata"] = entry.metadata
    text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
    ids = b"" if isinstance(entry.ids, list) else entry.ids.astype("<i8", copy=False).tobytes()
    words = b"" if entry.words is None else entry.words.astype("<u8", copy=False).tobytes()
    return b"".join([struct.pack("<I", len(text)), text, ids, words])


def decode(body: bytes, width: int) -> Entry:
    (length,) = struct.unpack_from("<I", body)
    head = json.loads(body[4 : 4 + length])
    at, n = 4 + length, head["n"]
    ids: Ids = head["ids"]
    if head["ids"] == "int":
        ids = np.frombuffer(body, dtype="<i8", count=n, offset=at).astype(np.int64, copy=False)
        at += 8 * n
    words = None
    if head["op"] != "delete":
        words = np.frombuffer(body, dtype="<u8", count=n * width, offset=at).reshape(n, width)
        at += 8 * n * width
    if at != len(body) or len(ids) != n:
        raise FormatError(f"a log entry of {len(body)} bytes should have {at}: the manifest is damaged")
    return Entry(head["op"], ids, words, head.get("metadata"))
