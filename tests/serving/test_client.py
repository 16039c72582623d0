"""The client has the face of `Index`: the same calls on both give the same."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving.colours import Colours, content, picture, serve_colours

import kinhash as kh
from kinhash.errors import FormatError, InputError, NotFoundError, ServerError
from kinhash.serving.app import Settings, create_app
from kinhash.serving.running import running
from kinhash.serving.served import served

CALLS = {
    "bits": lambda index, q: index.bits,
    "kind": lambda index, q: index.ids_kind,
    "length": lambda index, q: len(index),
    "search": lambda index, q: index.search(q, 7),
    "search nothing": lambda index, q: index.search(q[:0], 7),
    "fewer": lambda index, q: index.search(q[:2], 900, "n < 20", fewer=True),
    "none pass": lambda index, q: index.search(q[:2], 3, "n < 0", fewer=True),
    "filter": lambda index, q: index.search(q, 3, {"n": {"$gte": 10, "$lt": 90}, "kind": "odd"}),
    "filter of NumPy": lambda index, q: index.search(q[0], 3, {"n": {"$in": np.array([3, 4, 5])}}),
    "negated": lambda index, q: index.count('not (n in (1, 2) or kind = "even") and has n'),
    "within": lambda index, q: index.within(q, 26),
    "within all": lambda index, q: index.within(q[:2], 64),
    "within filter": lambda index, q: index.within(q, 30, "n >= 1000"),
    "count": lambda index, q: index.count(),
    "get": lambda index, q: index.get(_some(index)),
    "get one": lambda index, q: index.get(_some(index)[0]),
    "get none": lambda index, q: index.get([]),
    "items": lambda index, q: index.items(),
    "items filter": lambda index, q: index.items("n < 3"),
    "page": lambda index, q: index.page(5),
    "page after": lambda index, q: index.page(5, _some(index)[2], "n > 7"),
    "stats": lambda index, q: index.stats(),
    "holds": lambda index, q: [name in index for name in (_some(index)[1], "strange", 10**6, "", 1.5, None)],
}
MISTAKES = {
    "k of 0": lambda index, q: index.search(q, 0),
    "k too large": lambda index, q: index.search(q, 3, "n < 2"),
    "k is text": lambda index, q: index.search(q, "3"),
    "no codes": lambda index, q: index.search([1, 2], 3),
    "other bits": lambda index, q: index.search(kh.Codes.from_hex(["00"], 8), 3),
    "radius": lambda index, q: index.within(q, 65),
    "filter": lambda index, q: index.search(q, 3, "n >"),
    "operator": lambda index, q: index.count({"n": {"$about": 3}}),
    "unknown": lambda index, q: index.get([_some(index)[0], 10**9 if index.ids_kind == "int" else "strange"]),
    "ids": lambda index, q: index.get({"a": 1}),
    "limit": lambda index, q: index.page(0),
}


def _some(index: Any) -> list[Any]:
    ids = index.items()[0]
    return [ids[i] if isinstance(ids[i], str) else int(ids[i]) for i in (5, 1500, 40)]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if type(a).__module__.startswith("kinhash.index.results"):
        return type(a) is type(b) and same([*vars(a).values()], [*vars(b).values()])
    return type(a) is type(b) and bool(a == b)


@pytest.fixture(scope="module", params=["int", "str"])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Any, Any]]:
    """An index, and a client of a server of it. Some codes occur often: ties across pages."""
    folder = tmp_path_factory.mktemp("pair") / "pair.kin"
    rng = np.random.default_rng(3)
    codes = kh.Codes.from_bits((rng.random((2500, 64)) < 0.5) & (np.arange(2500) % 3 > 0)[:, None])
    ids: Any = rng.permutation(2500) * 3 - 100
    if request.param == "str":
        ids = [f"{n}/ü {n % 7}.jpg" for n in ids]
    with kh.Index.create(folder, 64) as index:
        for part in (slice(0, 2000), slice(2000, 2500)):
            columns = {
                "n": np.arange(2500)[part],
                "kind": ["odd" if n % 2 else "even" for n in range(2500)][part],
            }
            index.add(ids[part], codes[part], columns)
        index.delete([ids[7] if request.param == "str" else int(ids[7])])
        with running(create_app([served("pair", folder)])) as url, kh.Client(url) as client:
            yield index, client


@pytest.fixture(scope="module")
def queries() -> kh.Codes:
    return kh.Codes.from_bits(np.random.default_rng(4).random((40, 64)) < 0.4)


@pytest.mark.parametrize("name", CALLS)
def test_the_same_call_gives_the_same(pair: tuple[Any, Any], queries: kh.Codes, name: str) -> None:
    index, client = pair
    assert same(CALLS[name](index, queries), CALLS[name](client, queries))


@pytest.mark.parametrize("name", MISTAKES)
def test_the_same_mistake_is_the_same_error(pair: tuple[Any, Any], queries: kh.Codes, name: str) -> None:
    said = []
    for one in pair:
        with pytest.raises(kh.KinhashError) as raised:
            MISTAKES[name](one, queries)
        said.append((type(raised.value), str(raised.value)))
    assert said[0][0] is said[1][0]
    if name != "limit":  # the server has a largest page
        assert said[0] == said[1]


def test_every_method_that_reads_is_there() -> None:
    writes = {"add", "replace", "delete", "compact", "create", "open", "verify", "dedup"}
    for name, method in inspect.getmembers(kh.Index, inspect.isfunction):
        if name.startswith("_") or name in writes:
            continue
        ours = inspect.signature(getattr(kh.Client, name)).parameters
        assert list(ours) == list(inspect.signature(method).parameters), name


@pytest.fixture(scope="module")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("client")
    settings = Settings(token="sesame", cache=folder / "cache", max_upload=2**20)
    with running(create_app([serve_colours(folder)], settings)) as url:
        yield folder, url


def test_what_the_encoder_adds(colours: tuple[Path, str]) -> None:
    folder, url = colours
    with kh.Client(url, "colours", token="sesame") as client:
        assert repr(client) == f"Client('{url}', 'colours': codes of 63 bits)"
        file = folder / "pictures" / "red-03.png"
        for given in (file, str(file), file.read_bytes()):
            hits = client.search_picture(given, 3)
            assert hits.ids[0, 0] == "red-03.png"
            assert hits.distances[0, 0] == 0
        assert client.search_picture(file, 3, "step >= 5").ids[0, 0] == "red-05.png"
        assert client.search_text("something blue", 2).ids[0, 0] == "blue-00.png"
        near = client.search_id("green-04.png", 4, {"label": "green"})
        assert "green-04.png" not in near.ids[0]
        assert len(client.search_id("green-04.png", 100).ids[0]) == 39
        assert client.thumbnail("green-04.png", 128)[8:12] == b"WEBP"
        with pytest.raises(InputError, match="the upload of 7 bytes cannot be read as a picture"):
            client.search_picture(b"nothing", 3)
        with pytest.raises(InputError, match="larger than the 1 MB that this server takes"):
            client.search_picture(bytes(5 * 2**20), 3)
        with pytest.raises(NotFoundError, match="cannot be read: No such file"):
            client.search_picture(folder / "absent.png", 3)
        assert client.count() == 40  # the connection works again


def test_without_the_token_or_the_name_or_the_server(colours: tuple[Path, str]) -> None:
    _, url = colours
    for token in (None, "wrong"):
        with pytest.raises(ServerError, match="this server wants its token"):
            kh.Client(url, token=token)
    with pytest.raises(NotFoundError, match=r"there is no index 'other' at .*; there are colours"):
        kh.Client(url, "other", token="sesame")
    with pytest.raises(ServerError, match=r"does not answer: .*refused"):
        kh.Client("http://127.0.0.1:9")
    with pytest.raises(InputError, match="a server has an address such as"):
        kh.Client("127.0.0.1:8080")


def test_a_connection_that_was_closed_meanwhile_is_made_anew(colours: tuple[Path, str]) -> None:
    with kh.Client(colours[1], token="sesame") as client:
        client._connection._http.sock.shutdown(2)
        assert len(client) == 40


def test_text_needs_an_encoder_of_text(tmp_path: Path) -> None:
    one = serve_colours(tmp_path, Colours().encode)
    with running(create_app([one])) as url, kh.Client(url) as client:
        assert client.search_picture(content(picture("red")), 1).ids[0, 0] == "red-00.png"
        with pytest.raises(
            InputError, match="colours is served without an encoder of text: search by picture"
        ):
            client.search_text("red", 3)


def test_a_damaged_index_is_the_error_that_it_is(tmp_path: Path) -> None:
    one = serve_colours(tmp_path)
    with running(create_app([one])) as url, kh.Client(url) as client:
        (tmp_path / "colours.kin" / "head").write_bytes(b"x" * 64)
        with pytest.raises(FormatError, match="head"):
            len(client)
