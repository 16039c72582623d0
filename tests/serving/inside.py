"""Asks an ASGI application in this process, without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        message: str = self.json["error"]["message"]
        return message


class Asker:
    """An application in an event loop of its own, from its start to its end."""

    def __init__(self, app: Starlette, host: str = "127.0.0.1:8080") -> None:
        self.app = app
        self.host = host
        self.runner = asyncio.Runner()

    def get(self, path: str, **headers: str) -> Reply:
        return self.run(self.ask("GET", path, b"", headers))

    def post(self, path: str, body: Any, **headers: str) -> Reply:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.run(self.ask("POST", path, raw, headers))

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    async def ask(
        self,
        method: str,
        path: str,
        body: bytes | Callable[[], bytes | None] = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """A request. A function as body gives part after part, None at the end: its length is not announced."""
        place, _, query = path.partition("?")
        given = {"host": self.host, **{k.replace("_", "-"): v for k, v in (headers or {}).items()}}
        if isinstance(body, bytes):
            if body:
                given.setdefault("content-length", str(len(body)))
        else:
            given["transfer-encoding"] = "chunked"
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": place,
            "raw_path": place.encode(),
            "query_string": query.encode(),
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in given.items()],
            "server": ("127.0.0.1", 8080),
            "client": ("127.0.0.1", 1),
        }
        sent: list[Any] = []
        come = False

        async def receive() -> dict[str, Any]:
            nonlocal come
            if come:
                return {"type": "http.disconnect"}
            part = body if isinstance(body, bytes) else body()
            come = isinstance(body, bytes) or part is None
            return {"type": "http.request", "body": part or b"", "more_body": not come}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        heads = {k.decode().lower(): v.decode("latin-1") for k, v in sent[0].get("headers", ())}
        return Reply(sent[0]["status"], heads, b"".join(m.get("body", b"") for m in sent[1:]))


@contextmanager
def asking(app: Starlette, **options: Any) -> Iterator[Asker]:
    """Started and ended as a server would."""
    asker = Asker(app, **options)
    lifespan = app.router.lifespan_context(app)
    try:
        asker.run(lifespan.__aenter__())  # type: ignore[arg-type]
        yield asker
        asker.run(lifespan.__aexit__(None, None, None))  # type: ignore[arg-type]
    finally:
        asker.runner.close()
