"""What goes back: json, and errors as one sentence with the name of the exception that Python would raise."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from kinhash.errors import FormatError, InputError, KinhashError, NotFoundError

ERROR_STATUS: list[tuple[type[KinhashError], int]] = [
    (NotFoundError, 404),
    (FormatError, 500),
    (InputError, 400),
]


class RefusedError(Exception):
    """A request that is turned down with a status of its own; `kind` names the exception for a client."""

    def __init__(self, status: int, message: str, kind: str = "ServerError") -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind


def to_json(content: Any) -> bytes:
    """Compact json; lone surrogates, as names of files may hold, become escapes."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def reply(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(to_json(content), status, headers, media_type="application/json")


def error_card(kind: str, message: str) -> dict[str, Any]:
    return {"error": {"kind": kind, "message": message}}


def failed(error: Exception) -> Response:
    """The reply for an exception; what is not raised on purpose stays in the server's log."""
    if isinstance(error, RefusedError):
        headers = {"Retry-After": "1"} if error.status == 503 else None
        return reply(error_card(error.kind, error.message), error.status, headers)
    if not isinstance(error, KinhashError):
        return reply(error_card("ServerError", "the server failed; its log says why"), 500)
    status = next((code for kind, code in ERROR_STATUS if isinstance(error, kind)), 503)
    return reply(error_card(type(error).__name__, str(error)), status)
