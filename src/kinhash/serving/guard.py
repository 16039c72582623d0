"""Who may ask: the right name of the host, and the token where there is one. Every reply gets the same strict headers."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kinhash.serving.replies import RefusedError, failed

LOCAL = ("127.0.0.1", "localhost", "[::1]")
OPEN = ("/health",)  # what needs no token
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]


def local_names(host: str) -> tuple[str, ...] | None:
    """By which names a server that listens at `host` may be called: any, unless it is for this machine only."""
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = host in LOCAL
    return (*LOCAL, host) if local else None


class StrictHeaders:
    """Pages load nothing from elsewhere, and nobody frames them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class Guard:
    """`hosts`: names by which the server may be called; a page from elsewhere that points its own name here is refused.

    A browser gives the token once, in `/?token=...`, and has it as a cookie from then on.
    """

    def __init__(self, app: ASGIApp, token: str | None, hosts: Collection[str] | None) -> None:
        self._app = app
        self._token = token
        self._hosts = hosts
        # any token fits into a cookie so, and a cookie that gets lost does not tell it
        made = hashlib.sha256(b"cookie of kinhash " + (token or "").encode()).hexdigest()
        self._cookie, self._proof = f"kinhash-{made[:8]}", made[8:]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (self._token is None and self._hosts is None):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if self._hosts is not None and _host(headers.get("host", "")) not in self._hosts:
            refused = RefusedError(
                421, f"this server does not answer to the host {headers.get('host', '')!r:.80}"
            )
            await failed(refused)(scope, receive, send)
        elif self._token is None or scope["path"] in OPEN or self._knows(headers):
            await self._app(scope, receive, send)
        elif scope["path"] == "/" and self._same(
            dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        ):
            await self._welcome(scope, receive, send)
        else:
            sentence = "this server wants its token: in a browser open /?token=..., else send Authorization: Bearer ..."
            reply = failed(RefusedError(401, sentence))
            reply.headers["www-authenticate"] = "Bearer"
            await reply(scope, receive, send)

    def _knows(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":  # bytes above 127 come as UTF-8 from most programs, as Latin-1 from some
            return self._same(given) or self._same(given.encode("latin-1").decode("utf-8", "replace"))
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self._proof.encode())

    def _same(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), str(self._token).encode())

    async def _welcome(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The token becomes a cookie and leaves the address."""
        left = [pair for pair in parse_qsl(scope["query_string"].decode("latin-1")) if pair[0] != "token"]
        reply = RedirectResponse("/" + ("?" + urlencode(left) if left else ""), 303)
        reply.set_cookie(self._cookie, self._proof, httponly=True, samesite="strict")
        await reply(scope, receive, send)


def _host(header: str) -> str:
    """The name without the port."""
    return header[: header.rfind("]") + 1] if header.startswith("[") else header.partition(":")[0].lower()
