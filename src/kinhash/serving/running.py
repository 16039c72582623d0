"""`kh.serve`: an index as a web server, until it is interrupted."""

from __future__ import annotations

import importlib.util
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinhash.codes import Codes, width_of
from kinhash.errors import InputError, StorageError, require
from kinhash.index.index import Index
from kinhash.serving.served import Location, Served, names_of, served

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

_WARM = (1, 4, 64)  # queries at once: one for every kernel


def serve(
    path: Location | Mapping[str, Location],
    encoder: Any = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    pictures: Location | None = None,
    token: str | None = None,
    cors: Sequence[str] = (),
    max_upload: int = 32 * 2**20,
    cache: Location | None = None,
    ready: Callable[[str], object] | None = None,
) -> None:
    """Serve an index with its gallery page until interrupted (Ctrl-C).

    `path`: the index; or {name: index} for several at once, and then `encoder` may be {name: encoder}.
    `encoder`: what makes codes of uploads: a folder, an object with `encode` (and `encode_text` where sentences can be
    searched with), or a function of a list of PIL images; without one the server searches by id and by code.
    `pictures`: the folder that relative paths begin at. The picture of an item is the file that its metadata call
    `path`, else the file named by its id.
    `port`: 0 takes any free one. `ready` is called with the address when the server listens.
    """
    require("starlette", "serve")
    require("uvicorn", "serve")
    from kinhash.serving.app import Settings, create_app
    from kinhash.serving.guard import local_names

    if token == "":
        raise InputError("the token is empty: give it some letters, or leave it out")
    paths = path if isinstance(path, Mapping) else {names_of([path])[0]: path}
    if isinstance(encoder, Mapping) and (strange := set(encoder) - set(paths)):
        raise InputError(
            f"there is no index {sorted(strange)[0]!r} for its encoder; there are {', '.join(paths)}"
        )
    listening = _listen(host, port)
    opened: list[Served] = []
    try:
        for name, one in paths.items():
            own = encoder.get(name) if isinstance(encoder, Mapping) else encoder
            opened.append(served(name, one, own, pictures))
            warm_up(opened[-1].index)
        settings = Settings(
            token, cors, local_names(host), max_upload, None if cache is None else Path(cache)
        )
        server = _server(create_app(opened, settings))
        if ready is not None:
            ready(address(listening))
        with suppress(KeyboardInterrupt):
            server.run([listening])
    finally:
        listening.close()
        for each in opened:
            each.index.close()


@contextmanager
def running(app: Starlette) -> Iterator[str]:
    """The address of an application that another thread serves on a free port of this machine."""
    listening = _listen("127.0.0.1", 0)
    server = _server(app)
    thread = threading.Thread(target=server.run, args=([listening],), name="kinhash-serve")
    thread.start()
    try:
        yield address(listening)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def check_address(host: str, port: int) -> None:
    """Raise what `serve` would raise for this address, for whoever has long work to do first."""
    _listen(host, port).close()


def warm_up(index: Index) -> None:
    """Compile, or load what was compiled, before somebody waits for it; the codes come into memory on the way."""
    if len(index):
        for queries in _WARM:
            words = np.zeros((queries, width_of(index.bits)), dtype=np.uint64)
            index.search(Codes(words, index.bits), 1)


def address(listening: socket.socket) -> str:
    """As one types it into a browser."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InputError(f"a port is a number from 0 to 65535, got {port}")
    try:
        family, _, _, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InputError(f"there is no address {host!r} to listen at: {error}") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise StorageError(
            f"cannot listen at {host}, port {port}: {error.strerror}. Another server may run there: choose another port"
        ) from None
    return listening


def _server(app: Starlette) -> uvicorn.Server:
    import uvicorn

    protocol: Any = "h11"
    if importlib.util.find_spec("httptools") is not None:
        from kinhash.serving.protocol import BoundedProtocol

        protocol = BoundedProtocol
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            http=protocol,
            ws="none",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=5,
            backlog=2048,
        )
    )
