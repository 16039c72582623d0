"""One connection to a server, kept open between requests; errors come back as the exceptions that they were."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from kinhash import errors
from kinhash.errors import InputError, KinhashError, ServerError

_STALE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


class Connection:
    """Requests over http or https, one after the other."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"a server has an address such as http://127.0.0.1:8080, got {url!r}")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.url = url
        self._base = parts.path.rstrip("/")
        self._lock = threading.Lock()
        self._http = kind(parts.hostname, parts.port, timeout=timeout)
        # the standard library writes headers in Latin-1: this way UTF-8 goes out
        spelled = None if token is None else token.encode().decode("latin-1")
        self._headers = {} if spelled is None else {"Authorization": f"Bearer {spelled}"}

    def get(self, path: str) -> Any:
        return json.loads(self._ask("GET", path))

    def post(self, path: str, fields: Mapping[str, Any]) -> Any:
        body = json.dumps({key: value for key, value in fields.items() if value is not None}).encode()
        return json.loads(self._ask("POST", path, body, "application/json"))

    def upload(self, path: str, fields: Mapping[str, Any], body: bytes) -> Any:
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in fields.items()}
        return json.loads(self._ask("POST", f"{path}?{urlencode(texts)}", body, "application/octet-stream"))

    def download(self, path: str, fields: Mapping[str, Any]) -> bytes:
        return self._ask("GET", f"{path}?{urlencode(fields)}")

    def close(self) -> None:
        with self._lock:
            self._http.close()

    def _ask(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> bytes:
        headers = self._headers | ({"Content-Type": kind} if body is not None else {})
        with self._lock:
            try:
                status, content = self._send(method, self._base + path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                self._http.close()
                raise ServerError(f"{self.url} does not answer: {error or type(error).__name__}") from error
        if status != 200:
            raise _raised(status, content, self.url)
        return content

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        """Status and content. A kept connection may have been closed meanwhile: then once more, on a new one."""
        fresh = self._http.sock is None
        try:
            return self._once(method, path, body, headers)
        except _STALE:
            self._http.close()
            if fresh:
                raise
            return self._once(method, path, body, headers)

    def _once(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        try:
            self._http.request(method, path, body, headers)
        except BrokenPipeError:  # refused while it is sent: the answer says why
            if body is None or self._http.sock is None:
                raise
        answer = self._http.getresponse()
        return answer.status, answer.read()


def _raised(status: int, content: bytes, url: str) -> KinhashError:
    """The exception that a reply names."""
    try:
        card = json.loads(content)["error"]
        kind, message = getattr(errors, card["kind"]), str(card["message"])
        if issubclass(kind, KinhashError):
            return kind(message)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    return ServerError(f"{url} answers {status}, and not as a kinhash server does: {content[:80]!r}")
