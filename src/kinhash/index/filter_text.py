"""The string form of a filter, read by recursive descent.

filter   = term { "or" term }
term     = factor { "and" factor }
factor   = "not" factor | "(" filter ")" | "has" key | key operator value | key ["not"] "in" list
operator = "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "contains"
key      = a word of letters, digits, "_", "-" and ".", not beginning with a digit; or anything in `backquotes`
value    = number | string in "double" or 'single' quotes | true | false | null
list     = "(" value { "," value } ")"
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from kinhash.errors import InputError
from kinhash.index.filters import Combine, Filter, compare

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])
    | (?P<quoted>`[^`]+`)
    | (?P<word>[^\W\d][\w.\-]*)
    | (?P<sign>==|!=|<=|>=|[=<>(),])
    )""",
    re.VERBOSE,
)
_OPERATORS = {
    "=": "$eq",
    "==": "$eq",
    "!=": "$ne",
    "<": "$lt",
    "<=": "$lte",
    ">": "$gt",
    ">=": "$gte",
    "contains": "$contains",
}
_CONSTANTS = {"true": True, "false": False, "null": None}
_RESERVED = {"and", "or", "not", "in", "has", "contains", *_CONSTANTS}


def parse_text(text: str) -> Filter:
    """A filter from its string form."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0

    def parse(self) -> Filter:
        found = self._any()
        if self._next < len(self._tokens):
            raise self._error("`and`, `or` or the end")
        return found

    def _any(self) -> Filter:
        parts = [self._every()]
        while self._take_word("or"):
            parts.append(self._every())
        return parts[0] if len(parts) == 1 else Combine("or", tuple(parts))

    def _every(self) -> Filter:
        parts = [self._factor()]
        while self._take_word("and"):
            parts.append(self._factor())
        return parts[0] if len(parts) == 1 else Combine("and", tuple(parts))

    def _factor(self) -> Filter:
        if self._take_word("not"):
            return Combine("not", (self._factor(),))
        if self._take_sign("("):
            inner = self._any()
            self._expect(")")
            return inner
        if self._take_word("has"):
            return compare(self._key(), "$exists", True)
        return self._comparison(self._key())

    def _comparison(self, key: str) -> Filter:
        if self._take_word("not"):
            if not self._take_word("in"):
                raise self._error("`in`")
            return Combine("not", (compare(key, "$in", self._list()),))
        if self._take_word("in"):
            return compare(key, "$in", self._list())
        kind, token, _ = self._peek()
        if kind in ("sign", "word") and token.lower() in _OPERATORS:
            self._next += 1
            return compare(key, _OPERATORS[token.lower()], self._value())
        raise self._error("an operator")

    def _key(self) -> str:
        kind, token, _ = self._peek()
        if kind == "quoted":
            self._next += 1
            return token[1:-1]
        if kind == "word" and token.lower() not in _RESERVED:
            self._next += 1
            return token
        raise self._error("a key")

    def _list(self) -> list[Any]:
        self._expect("(")
        values = [self._value()]
        while self._take_sign(","):
            values.append(self._value())
        self._expect(")")
        return values

    def _value(self) -> Any:
        kind, token, _ = self._peek()
        if kind == "word" and token.lower() in _CONSTANTS:
            self._next += 1
            return _CONSTANTS[token.lower()]
        if kind == "number":
            self._next += 1
            return self._number(token)
        if kind == "string":
            self._next += 1
            return _unquoted(token)
        raise self._error("a number, a quoted string, true, false or null")

    def _number(self, token: str) -> int | float:
        if re.fullmatch(r"[+-]?\d+", token) is None:
            return float(token)
        try:
            return int(token)
        except ValueError:  # Python reads no more digits than this
            most = sys.get_int_max_str_digits()
            raise InputError(
                f"a number in the filter has {len(token)} digits: write it with at most {most}"
            ) from None

    def _peek(self) -> tuple[str, str, int]:
        return self._tokens[self._next] if self._next < len(self._tokens) else ("end", "", len(self._text))

    def _take_word(self, word: str) -> bool:
        kind, token, _ = self._peek()
        found = kind == "word" and token.lower() == word
        self._next += found
        return found

    def _take_sign(self, sign: str) -> bool:
        found = self._peek()[:2] == ("sign", sign)
        self._next += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._take_sign(sign):
            raise self._error(f"`{sign}`")

    def _error(self, wanted: str) -> InputError:
        kind, token, at = self._peek()
        got = "it ends" if kind == "end" else f"there is {token!r}"
        return InputError(f"filter {self._text!r}: expected {wanted} at character {at + 1}, but {got}")


def _tokens(text: str) -> list[tuple[str, str, int]]:
    found, at = [], 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            raise InputError(
                f"filter {text!r}: cannot read {text[start : start + 10]!r} at character {start + 1}"
            )
        kind = str(match.lastgroup)
        found.append((kind, match[kind], match.start(kind)))
        at = match.end()
    return found


def _unquoted(token: str) -> str:
    """Single quotes follow the rules of JSON's double ones."""
    body = token[1:-1]
    if token[0] == "'":
        body = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', body).replace("\\'", "'")
    try:
        return str(json.loads(f'"{body}"'))
    except ValueError:
        raise InputError(f"{token} is no valid string: a backslash begins an escape of JSON") from None
