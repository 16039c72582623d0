"""HTTP by httptools, with an end to how long the head of a request may get, and how long it may take.

The parser alone would keep all of it, and a connection on which nothing is ever asked would stay open for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 2**16  # bytes
HEAD_SECONDS = 15.0  # from the connection, or the first byte of a later request, to the end of the head


class BoundedProtocol(HttpToolsProtocol):
    """Counts what comes before a head is complete; too much or too slow is answered as any malformed request is."""

    _open = False  # whether a head has begun and has not ended
    _seen = 0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._open, self._seen = True, 0
        if self._deadline is None:
            self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._open = False
        self._expect_nothing()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._seen += len(data)
        if self._open and self._seen > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self._open:
            self.send_400_response("The head of the request took too long.")
        else:
            self.transport.close()
