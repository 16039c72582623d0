"""What `check_wheel.py` does in the clean environment: import, search, serve, and with --demo the demo."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import kinhash as kh
from kinhash.errors import MissingDependencyError

DEMO = "--demo" in sys.argv
KINHASH = str(Path(sys.executable).with_name("kinhash"))


def main() -> None:
    assert Path(kh.__file__).is_relative_to(sys.prefix), f"this is not the wheel: {kh.__file__}"
    assert find_spec("pytest") is None, "the environment is not clean"
    for step in (names, core, commands, served, *([demo] if DEMO else [])):
        started = time.perf_counter()
        step()
        print(f"{step.__name__}: fine, {time.perf_counter() - started:.1f} s", flush=True)


def names() -> None:
    """Every public name is there, or says which extra brings it."""
    said: dict[str, str] = {}
    for name in kh.__all__:
        try:
            getattr(kh, name)
        except MissingDependencyError as error:
            said[name] = str(error)
    assert all("pip install 'kinhash[" in sentence for sentence in said.values()), said
    assert DEMO or "train" in said, "torch is here, and nothing asked for it"
    assert not said.keys() & {"Index", "Codes", "evaluate", "semantics", "dataset", "serve", "info"}, said


def core() -> None:
    """The files inside the package are found; an index is made and searched."""
    kin = kh.semantics("wordnet", "cifar100")
    assert kh.semantics("tree:cifar100").classes
    data = kh.dataset("cifar100-sample")
    pixels = data.test.images[:50].reshape(50, -1) / 255.0
    codes = kh.random_hyperplanes(pixels, 64)
    assert kh.evaluate(codes, data.test.labels[:50], semantics=kin, k=10)["mahp_sim"] > 0
    with kh.Index.create("wheel.kin", bits=64) as index:
        index.add(data.test.ids[:50], codes)
        hits = index.search(codes[:1], k=3)
    assert hits.distances[0, 0] == 0
    assert kh.info("wheel.kin").facts["items"] == 50
    assert DEMO or "torch" not in sys.modules


def commands() -> None:
    """The program is on the path and speaks."""
    for arguments in (["--version"], ["--help"], ["search", "wheel.kin", "--id", "test/00000", "-k", "2"]):
        done = subprocess.run([KINHASH, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    if not DEMO:  # there is torch, and it would train
        train = [KINHASH, "train", "cifar100-sample", "--out", "run"]
        refused = subprocess.run(train, capture_output=True, text=True, check=False)
        assert "pip install 'kinhash[" in refused.stderr, refused.stderr


def served() -> None:
    """The gallery page comes with all its files, and a search is answered."""
    command = [KINHASH, "serve", "wheel.kin", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        address = line.split(" at ")[1].split()[0]
        page = fetched(address + "/").decode()
        for name in ("main.js", "style.css", "icon.svg"):
            assert name in page
        assert json.loads(fetched(address + "/health"))
        query = urllib.request.Request(address + "/api/wheel/search", b'{"id": "test/00000", "k": 2}')
        with urllib.request.urlopen(query, timeout=60) as reply:
            assert len(json.load(reply)["answers"][0]["ids"]) == 2
    finally:
        server.terminate()
        server.wait(30)
        if server.stdout is not None:
            server.stdout.close()


def fetched(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as reply:
        content: bytes = reply.read()
        return content


def demo() -> None:
    """`kinhash demo`, as a stranger runs it."""
    subprocess.run([KINHASH, "demo"], check=True)


if __name__ == "__main__":
    main()
