"""Metadata as callers pass them, checked: only what JSON can say, and what can be read again, is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinhash.errors import InputError
from kinhash.index.checks import DEEPEST, too_deep

Metadata = dict[str, Any]


def checked_rows(metadata: Any, count: int) -> list[Metadata] | None:
    """One dict per item, ready for JSON; None where nothing was given. A dict of columns becomes rows."""
    if metadata is None:
        return None
    if isinstance(metadata, Mapping):
        metadata = rows_of_columns(metadata, count)
    if isinstance(metadata, str | bytes) or not isinstance(metadata, Sequence):
        raise InputError(
            f"metadata is one dict per id, or a dict of columns as long as the ids, got {type(metadata).__name__}"
        )
    if len(metadata) != count:
        raise InputError(f"{len(metadata)} dicts of metadata for {count} ids: pass one for each, or None")
    return checked_items(metadata)


def checked_items(items: Sequence[Any]) -> list[Metadata]:
    return [_checked_item(item, number) for number, item in enumerate(items)]


def rows_of_columns(columns: Mapping[str, Any], count: int) -> list[Metadata]:
    if not columns:
        return [{} for _ in range(count)]
    plain = {}
    for key, values in columns.items():
        check_key(key)
        plain[key] = values.tolist() if isinstance(values, np.ndarray) else values
        if isinstance(plain[key], str | bytes | Mapping) or not isinstance(plain[key], Sequence):
            raise InputError(f"metadata column {key!r} is no sequence; pass one dict per id, or columns")
        if len(plain[key]) != count:
            raise InputError(f"metadata column {key!r} has {len(plain[key])} values for {count} ids")
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


def _checked_item(item: Any, number: int) -> Metadata:
    if item is None:
        return {}
    if not isinstance(item, Mapping):
        raise InputError(f"metadata of item {number} is a {type(item).__name__}, not a dict")
    try:
        text = json.dumps(item, allow_nan=False, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"metadata of item {number} is not valid Unicode text ({lone_surrogate(error)}): decode it anew"
        ) from None
    except (TypeError, ValueError) as error:
        raise InputError(f"metadata of item {number} is not JSON: {error}") from None
    except RecursionError:
        raise _deep(number) from None
    back: Metadata = json.loads(text)
    if too_deep(back):
        raise _deep(number)
    if any(not isinstance(key, str) for key in item):
        raise InputError(f"metadata of item {number} has a key that is not a string")
    return back


def _deep(number: int) -> InputError:
    return InputError(
        f"metadata of item {number} is nested too deeply to be stored, more than {DEEPEST} levels: flatten it"
    )


def lone_surrogate(error: UnicodeEncodeError) -> str:
    """Which half of a surrogate pair stands alone: no encoding of Unicode can write it."""
    return f"lone surrogate {error.object[error.start : error.start + 1]!r}"


def check_key(key: Any) -> None:
    if not isinstance(key, str):
        raise InputError(f"a key of metadata is a string, got {key!r}")
    try:
        key.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"metadata key {key!r} is not valid Unicode text ({lone_surrogate(error)}): decode it anew"
        ) from None
