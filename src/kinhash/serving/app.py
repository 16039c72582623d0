"""The server as an ASGI application: routes, and the layers around them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kinhash.errors import InputError, KinhashError, NotFoundError
from kinhash.serving.guard import Guard, StrictHeaders
from kinhash.serving.limits import BodyLimit
from kinhash.serving.metrics import Measured, Metrics
from kinhash.serving.replies import RefusedError, failed
from kinhash.serving.routes import Routes
from kinhash.serving.searching import Searcher
from kinhash.serving.served import Served
from kinhash.serving.thumbnails import default_folder

UPLOAD = 32 * 2**20


@dataclass(frozen=True)
class Settings:
    """`hosts`: names by which the server may be called, None for any; `cors`: origins whose pages may ask it."""

    token: str | None = None
    cors: Sequence[str] = ()
    hosts: Collection[str] | None = None
    max_upload: int = UPLOAD
    cache: Path | None = None


def create_app(served: Sequence[Served], settings: Settings | None = None) -> Starlette:
    """The application for some indexes, the first of them in front; it closes them when it ends."""
    if not served:
        raise InputError("there is nothing to serve: pass at least one index")
    settings = settings or Settings()
    metrics = Metrics()
    searchers = {one.name: Searcher(one, partial(metrics.scan, one.name)) for one in served}
    routes = Routes(searchers, metrics, settings.max_upload, settings.cache or default_folder())

    @asynccontextmanager
    async def closing(_: Starlette) -> AsyncIterator[None]:
        yield
        for searcher in searchers.values():
            await asyncio.to_thread(searcher.close)

    middleware = [Middleware(Measured, metrics=metrics), Middleware(StrictHeaders)]
    if settings.cors:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(settings.cors),
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type"],
            )
        )
    middleware += [
        Middleware(Guard, token=settings.token, hosts=settings.hosts),
        Middleware(BodyLimit, most=settings.max_upload),
    ]
    handlers = dict.fromkeys((KinhashError, RefusedError, Exception), _failed) | {HTTPException: _unknown}
    listed = [_route(method, path, call) for (method, path), call in routes.table().items()]
    return Starlette(routes=listed, middleware=middleware, exception_handlers=handlers, lifespan=closing)


def _route(method: str, path: str, call: Callable[[Request], Awaitable[Response]]) -> Route:
    async def endpoint(request: Request) -> Response:
        request.scope["route_name"] = path
        return await call(request)

    return Route(path, endpoint, methods=[method])


async def _failed(_: Request, error: Exception) -> Response:
    return failed(error)


async def _unknown(request: Request, error: Exception) -> Response:
    """What Starlette refuses itself: a path or a method that is not there."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 404:
        return failed(NotFoundError(f"there is nothing at {request.url.path}; /openapi.json lists what is"))
    return failed(
        RefusedError(status, f"{request.method} does not work at {request.url.path}; see /openapi.json")
    )
