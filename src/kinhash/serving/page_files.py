"""The files of the gallery page, read once; what is not among them does not exist."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from kinhash.errors import NotFoundError

FOLDER = Path(__file__).parent / "page"
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class PageFiles:
    """Contents by name, each with a tag by which a browser knows that it has not changed."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = {}
        for path in folder.iterdir():
            if path.suffix in _KINDS:
                content = path.read_bytes()
                tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
                self._files[path.name] = (content, _KINDS[path.suffix], tag)

    def reply(self, name: str, request: Request) -> Response:
        if name not in self._files:
            raise NotFoundError(f"the page has no file {name!r:.60}")
        content, kind, tag = self._files[name]
        headers = {"etag": tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=kind)
