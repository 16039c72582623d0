"""`kh.serve`: addresses, ports, several servers, and the end of it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving.colours import Colours, colour_index

import kinhash as kh
from kinhash.errors import InputError, NotFoundError, StorageError
from kinhash.serving import running
from kinhash.serving.app import create_app
from kinhash.serving.served import served


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return colour_index(tmp_path_factory.mktemp("running"))


class Stopped:
    """Runs `kh.serve` in a thread and stops it as Ctrl-C does, by asking the server to end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server: Any = None
        make = running._server

        def made(app: Any) -> Any:
            self.server = make(app)
            return self.server

        monkeypatch.setattr(running, "_server", made)

    def serve(self, look: Any, *arguments: Any, **options: Any) -> Any:
        url, found = threading.Event(), []

        def ready(address: str) -> None:
            found.append(address)
            url.set()

        thread = threading.Thread(
            target=kh.serve, args=arguments, kwargs={"ready": ready, "port": 0, **options}
        )
        thread.start()
        assert url.wait(60)
        try:
            return look(found[0])
        finally:
            self.server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


def test_it_serves_until_it_is_stopped(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(url: str) -> None:
        assert url.startswith("http://127.0.0.1:")
        with kh.Client(url) as client:
            assert client.search_text("pink", 1).ids.tolist() == [["pink-00.png"]]
            assert client.thumbnail("pink-00.png")
        assert urllib.request.urlopen(f"{url}/").headers["content-type"].startswith("text/html")

    Stopped(monkeypatch).serve(
        look, index, Colours(), pictures=index.parent / "pictures", cache=index.parent / "c"
    )


def test_two_indexes_with_an_encoder_each(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(url: str) -> None:
        cards = json.loads(urllib.request.urlopen(f"{url}/api").read())["indexes"]
        assert [(card["name"], card["pictures"]) for card in cards] == [("one", False), ("two", True)]

    Stopped(monkeypatch).serve(look, {"one": index, "two": index}, {"two": Colours()})
    with pytest.raises(InputError, match="there is no index 'three' for its encoder; there are one"):
        kh.serve({"one": index}, {"three": Colours()}, port=0)


def test_two_servers_and_a_writer_on_one_index(tmp_path: Path) -> None:
    path = colour_index(tmp_path)
    code = Colours().encode_text(["red"])
    with (
        running.running(create_app([served("a", path)])) as first,
        running.running(create_app([served("a", path)])) as second,
        kh.Client(first) as one,
        kh.Client(second) as two,
        kh.Index.open(path) as writer,
    ):
        assert one.search(code, 5).ids.tolist() == two.search(code, 5).ids.tolist()
        writer.add("a new one", code)
        assert len(one) == len(two) == 41
        writer.compact()
        writer.delete("red-00.png")
        for client in (one, two):
            assert client.search(code, 1).ids.tolist() == [["a new one"]]
            assert "red-00.png" not in client


def test_a_port_that_is_taken_is_one_sentence(index: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            StorageError, match=f"port {port}: Address already in use. Another server may run there: choose"
        ):
            kh.serve(index, port=port)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"port": 70000}, InputError, "a port is a number from 0 to 65535, got 70000"),
        (
            {"port": 0, "host": "no.such.host.invalid"},
            InputError,
            "there is no address 'no.such.host.invalid'",
        ),
        ({"port": 0, "host": "192.0.2.1"}, StorageError, "cannot listen at 192.0.2.1, port 0"),
        ({"port": 0, "token": ""}, InputError, "the token is empty"),
        ({"port": 0, "encoder": "nowhere"}, NotFoundError, "nowhere holds no encoder"),
    ],
)
def test_what_cannot_be_served(index: Path, options: dict[str, Any], kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said):
        kh.serve(index, **options)


def test_addresses_that_one_can_type() -> None:
    for family, host, wanted in (
        (socket.AF_INET, "0.0.0.0", "http://127.0.0.1:"),
        (socket.AF_INET6, "::1", "http://[::1]:"),
    ):
        with socket.socket(family) as listening:
            try:
                listening.bind((host, 0))
            except OSError:
                continue  # no IPv6 here
            assert running.address(listening).startswith(wanted)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
def test_the_command_in_a_process_of_its_own(index: Path) -> None:
    """It says where it is, memory stays flat under a large upload, Ctrl-C ends it without a word."""
    command = [
        sys.executable,
        "-c",
        "from kinhash.cli import main; main()",
        "serve",
        str(index),
        "--port",
        "0",
    ]
    process = subprocess.Popen(
        [*command, "--max-upload", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        said = process.stdout.readline()
        assert said.startswith("serving colours at http://127.0.0.1:")
        assert said.endswith("(Ctrl-C stops)\n")
        url = said.split()[3]
        with kh.Client(url) as client:
            client.search(kh.Codes(np.zeros((1, 1), np.uint64), 63), 3)
            before = memory(process.pid)
            for _ in range(2):
                with pytest.raises(InputError, match="larger than the 1 MB"):
                    client.search_picture(bytes(60 * 2**20), 1)
            assert memory(process.pid) < before + 20 * 2**20
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.communicate()


def memory(pid: int) -> int:
    """Bytes that a process has held at most."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024


def test_the_cached_kernels_are_warm_before_the_first_request(index: Path) -> None:
    seen = []
    with kh.Index.open(index, read_only=True) as opened:
        search = opened.search
        opened.search = lambda codes, k: (seen.append(len(codes)), search(codes, k))[1]  # type: ignore[method-assign]
        running.warm_up(opened)
    assert seen == [1, 4, 64]


def test_without_the_extra_the_client_works_and_the_server_says_what_to_install(index: Path) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('starlette', 'uvicorn')))\n"
        "import kinhash as kh; kh.Client\n"
        f"try:\n    kh.serve({str(index)!r})\n"
        "except kh.KinhashError as error:\n    sys.stdout.write(str(error))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert "pip install 'kinhash[serve]'" in done.stdout
