"""`kinhash photos`: how long a call takes that finds nothing to do, and how many photos a second are encoded.

The rival of the latter is the obvious loop, one photo after the other. Photos are made up (640 x 480
JPEGs), or those of --photos FOLDER. `python benchmarks/photos.py --check` prints the figures, the ratio last, and exits 1
where one misses its bar; without --check they are also written to results/photos/speed.json.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command does, before torch is loaded
sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import Check, interleaved, verdict, write_result

import kinhash as kh
from kinhash.album.encoding import encoded
from kinhash.album.place import place_of
from kinhash.album.reading import read_ahead
from kinhash.data.walking import walk
from kinhash.models.encoder import HashEncoder
from kinhash.models.pretrained import pretrained_encoder

FILES = 10_000  # of the folder in which nothing changes
LONG_AGO = 1_600_000_000
_QUIET = """
import sys
sys.argv = ["kinhash", "photos", sys.argv[1], "--no-serve", "--quiet"]
from kinhash.cli import main
main()
assert "torch" not in sys.modules
"""


def unchanged_folder(folder: Path, encoder: HashEncoder) -> None:
    """A folder of small files, and an index that knows them all, as `kh.photos` would have left it."""
    first = folder / "0000" / "0.png"
    first.parent.mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(first)
    os.utime(first, (LONG_AGO, LONG_AGO))
    encoder.save(folder.parent / "encoder")
    place = place_of(folder)
    kh.photos(folder, encoder=folder.parent / "encoder")
    content = first.read_bytes()
    for i in range(1, FILES):
        path = folder / f"{i // 500:04}" / f"{i}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (LONG_AGO, LONG_AGO))
    with kh.Index.open(place.index) as index:
        item = index.get(["0000/0.png"]).metadata[0]
        paths = [file.path for file in walk(folder).files if file.path != "0000/0.png"]
        codes = kh.Codes.from_logits(np.random.default_rng(0).normal(size=(len(paths), encoder.bits)))
        for start in range(0, len(paths), 64):
            part = slice(start, start + 64)
            index.add(paths[part], codes[part], [{**item, "path": path} for path in paths[part]])


def made_up(folder: Path, count: int) -> None:
    """JPEGs of 640 x 480 with as much detail as photos have."""
    rng = np.random.default_rng(0)
    for i in range(count):
        coarse = rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((640, 480), Image.Resampling.BICUBIC).save(
            folder / f"{i}.jpg", quality=90
        )


def seconds_of(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def computing() -> float:
    """Seconds of a processor that processes started from here have taken: other work on the machine adds nothing."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rates(folder: Path, encoder: HashEncoder, limit: int) -> dict[str, float]:
    """Photos a second: reading alone, all of it, and the obvious loop."""
    files = walk(folder).files[:limit]
    preprocessing = encoder.preprocessing
    assert preprocessing is not None
    paths = [folder / file.path for file in files]
    few = paths[: max(1, len(paths) // 4)]
    list(encoded(folder, files[:16], encoder))  # warm
    seconds = interleaved(
        {
            "reading alone": lambda: list(read_ahead(paths, preprocessing)),
            "kinhash photos": lambda: list(encoded(folder, files, encoder)),
            "one after the other": lambda: [encoder.encode(path, workers=1) for path in few],
        },
        repeats=3,
        warm=0,
    )
    seconds["one after the other"] *= len(paths) / len(few)
    return {name: len(paths) / value for name, value in seconds.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write the result")
    parser.add_argument("--photos", type=Path, help="a folder of real photos, in place of made-up ones")
    parser.add_argument("--limit", type=int, default=96, help="how many photos are encoded")
    arguments = parser.parse_args()
    encoder = pretrained_encoder(device="cpu")
    with tempfile.TemporaryDirectory() as scratch:
        still = Path(scratch) / "still"
        unchanged_folder(still, encoder)
        command = [sys.executable, "-c", _QUIET, str(still)]
        before = computing()
        unchanged = sorted(
            seconds_of(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(5)
        )[2]
        busy = (computing() - before) / 5
        print(
            f"nothing to do among {FILES:,} photos: {unchanged:.2f} s, Python's start included; {busy:.2f} s of a processor"
        )
        folder = arguments.photos or Path(scratch) / "made-up"
        if arguments.photos is None:
            folder.mkdir()
            made_up(folder, arguments.limit)
        found = rates(folder, encoder, arguments.limit)
    for name, rate in found.items():
        print(f"{name}: {rate:.1f} photos a second")
    if not arguments.check:
        rows = [{"what": name, "photos_per_second": rate} for name, rate in found.items()]
        rows.append(
            {"what": f"nothing to do among {FILES} photos", "seconds": unchanged, "processor_seconds": busy}
        )
        config = {"photos": "made up" if arguments.photos is None else "given", "limit": arguments.limit}
        print(write_result("photos", "speed", packages=("torch", "pillow"), config=config, rows=rows))
    return verdict(
        [
            Check("nothing to do, s", unchanged, 1, at_least=False),
            Check(
                "kinhash photos / one after the other",
                found["kinhash photos"] / found["one after the other"],
                1.3,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
