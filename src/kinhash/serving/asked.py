"""Requests in json, checked: what is wrong is one sentence that names the field."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from kinhash.arrays import is_whole
from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.index.checks import checked_radius
from kinhash.index.filters import parse_filter
from kinhash.index.index import Index
from kinhash.serving.paging import Cursor, Wanted
from kinhash.serving.replies import RefusedError

MOST_K = 10_000
MOST_QUERIES = 1024
MOST_IDS = 10_000
SHAPE = ("k", "radius", "where", "after", "fewer", "items", "label")  # fields that every search understands


def read_object(body: bytes) -> dict[str, Any]:
    """The json object of a body; an empty body is an empty object."""
    try:
        found = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body of the request is not json: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"the body of the request is a json object, got {type(found).__name__}")
    return found


def check_fields(asked: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for field in asked:
        if field not in known:
            raise InputError(f"unknown field {field!r}; there are {', '.join(known)}")


def read_wanted(asked: Mapping[str, Any], index: Index) -> Wanted:
    """Which hits a search wants."""
    k = asked.get("k", 10)
    if not is_whole(k) or not 1 <= k <= MOST_K:
        raise InputError(f"k is a whole number from 1 to {MOST_K:,}, got {k!r}; `after` gives more in pages")
    radius, after = asked.get("radius"), asked.get("after")
    if radius is not None:
        checked_radius(radius, index.bits)
    cursor = None if after is None else Cursor.read(after, index.ids_kind)
    return Wanted(int(k), read_where(asked), radius, None, cursor, read_flag(asked, "fewer", True))


def read_where(asked: Mapping[str, Any]) -> Any:
    where = asked.get("where")
    if where is not None:
        parse_filter(where)
    return where


def read_flag(asked: Mapping[str, Any], field: str, default: bool) -> bool:
    value = asked.get(field, default)
    if not isinstance(value, bool):
        raise InputError(f"{field} is true or false, got {value!r}")
    return value


def read_label(asked: Mapping[str, Any]) -> str | None:
    label = asked.get("label")
    if label is not None and not isinstance(label, str):
        raise InputError(f"label is a string, got {label!r:.60}")
    return label


def read_codes(asked: Mapping[str, Any], bits: int) -> Codes:
    """Codes from `codes` (hexadecimal strings) or `base64` (their bytes in a row)."""
    if "codes" in asked:
        lines = asked["codes"]
        if not isinstance(lines, list):
            raise InputError(f"codes is a list of hexadecimal strings, got {type(lines).__name__}")
        codes = Codes.from_hex(lines, bits)
    else:
        text = asked["base64"]
        try:
            codes = Codes.from_bytes(base64.b64decode(text, validate=True), bits)
        except (TypeError, binascii.Error, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"base64 is no text in base64: {error}") from None
    if not 1 <= len(codes) <= MOST_QUERIES:
        raise RefusedError(413, f"a request holds 1 to {MOST_QUERIES} codes, got {len(codes)}", "InputError")
    return codes


def read_id(value: Any, kind: str | None) -> int | str:
    """An id of the kind that the index has; numbers may come as text, as they do in addresses."""
    if kind == "int" and isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise InputError(f"the ids of this index are integers, got {value!r:.60}") from None
    if isinstance(value, str) or is_whole(value):
        return value if isinstance(value, str) else int(value)
    raise InputError(f"an id is a string or a whole number, got {value!r:.60}")


def read_ids(asked: Mapping[str, Any]) -> list[int | str]:
    """Ids as json has them: a number in quotes is a string."""
    ids = asked.get("ids")
    if not isinstance(ids, list):
        raise InputError("ids is a list of ids")
    if len(ids) > MOST_IDS:
        raise RefusedError(413, f"a request holds at most {MOST_IDS:,} ids, got {len(ids):,}", "InputError")
    return [read_id(name, None) for name in ids]
