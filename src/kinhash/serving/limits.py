"""Bodies that are too large or too slow are refused while they are sent; memory never holds more than the limit."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kinhash.serving.replies import RefusedError, failed

SECONDS = 60.0  # for a whole body
PAUSE = 10.0  # seconds in which nothing of it comes
_LINGER = 2.0  # seconds that a refused client may go on sending, so that it gets to read why
_LINGER_BYTES = 64 * 2**20


async def read_body(request: Request, most: int) -> bytes:
    """The whole body, at most `most` bytes."""
    parts, size = [], 0
    now = asyncio.get_running_loop().time
    end = now() + SECONDS
    try:
        async with asyncio.timeout(min(PAUSE, SECONDS)) as patience:
            async for part in request.stream():
                patience.reschedule(min(now() + PAUSE, end))
                size += len(part)
                if size > most:
                    raise too_large(most)
                parts.append(part)
    except TimeoutError:
        raise RefusedError(
            408, f"the request did not arrive within {SECONDS:.0f} seconds, or paused for {PAUSE:.0f}"
        ) from None
    except ClientDisconnect:
        raise RefusedError(400, "the client hung up") from None
    return b"".join(parts)


def too_large(most: int) -> RefusedError:
    return RefusedError(
        413, f"the request is larger than the {in_words(most)} that this server takes", "InputError"
    )


def in_words(size: int) -> str:
    for unit, name in ((2**20, "MB"), (2**10, "kB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"


class BodyLimit:
    """Refuses a body whose announced length is above the limit before it is read.

    Where a reply goes out although the body has not all come, the rest is received for a moment and thrown away: a
    connection that is cut while a client sends takes the reply with it.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        announced = _announced(scope) if scope["type"] == "http" else 0
        if announced == 0:
            await self._app(scope, receive, send)
            return
        body = _Body(receive, send)
        if announced is not None and announced > self._most:
            await failed(too_large(self._most))(scope, body.receive, body.send)
        else:
            await self._app(scope, body.receive, body.send)


def _announced(scope: Scope) -> int | None:
    """Bytes of the body, 0 where there is none, None where its length is not told."""
    length: int | None = 0
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
        if name == b"transfer-encoding":
            length = None
    return length


class _Body:
    """A body on its way, and the reply that may overtake it."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._whole = False
        self._early = False  # the reply began before the body had come

    async def receive(self) -> Message:
        message = await self._receive()
        self._whole = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._whole:
            self._early = True
            message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
        last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if not (last and self._early):
            await self._send(message)
            return
        await self._send({**message, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER):
                await self._discard()
        await self._send({"type": "http.response.body", "body": b""})

    async def _discard(self) -> None:
        left = _LINGER_BYTES
        while left > 0 and not self._whole:
            left -= len((await self.receive()).get("body", b""))
