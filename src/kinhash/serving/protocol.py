"""HTTP by httptools, with an end to how long the head of a request may get: its parser alone would keep all of it."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 2**16  # bytes


class BoundedProtocol(HttpToolsProtocol):
    """Counts what comes before a head is complete; too much is answered as any malformed request is."""

    _open = False  # whether a head has begun and has not ended
    _seen = 0

    def on_message_begin(self) -> None:
        self._open, self._seen = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._open = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._seen += len(data)
        if self._open and self._seen > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")
