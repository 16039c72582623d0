"""Makes docs/gallery.png: the gallery page in a headless Chromium, searching the sample's test pictures with one of them.

python tools/screenshot_gallery.py demo-output/encoder      # an encoder of pictures, such as `kinhash demo` leaves
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from pathlib import Path

import browser
from PIL import Image

import kinhash as kh
from kinhash.data.images import open_rgb
from kinhash.serving.app import Settings, create_app
from kinhash.serving.running import running
from kinhash.serving.served import served

OUT = Path(__file__).parents[1] / "docs" / "gallery.png"
MOST_BYTES = 300_000
QUERY = 12  # the picture that is searched with and is not in the index
LOADED = "[...document.images].filter(i => i.complete && i.naturalWidth).length >= 20"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("encoder", type=Path)
    options = parser.parse_args()
    program = browser.found()
    if program is None:
        sys.exit("there is no Chromium here: apt install chromium")
    with tempfile.TemporaryDirectory(prefix="kinhash-gallery-") as name:
        folder = Path(name)
        encoder = kh.load_encoder(options.encoder)
        build(folder, encoder)
        one = served("sample", folder / "sample.kin", encoder, folder / "pictures")
        with running(create_app([one], Settings(cache=folder / "cache"))) as url:
            shot = taken(program, url, folder / "query.png")
    with Image.open(io.BytesIO(shot)) as image:
        image.convert("RGB").quantize(256).save(OUT, optimize=True)
    size = OUT.stat().st_size
    print(f"{OUT}, {size:,} bytes")
    return 0 if size <= MOST_BYTES else 1


def build(folder: Path, encoder: kh.HashEncoder) -> None:
    """The test pictures as files, one of them outside, the others in an index with their classes."""
    data = kh.dataset("cifar100-sample")
    (folder / "pictures").mkdir()
    paths = []
    for place in range(len(data.test)):
        picture = open_rgb(data.test.images[place])
        label = data.classes[data.test.labels[place]]
        path = folder / "query.png" if place == QUERY else folder / "pictures" / f"{label}-{place:04}.png"
        picture.save(path)
        paths += [] if place == QUERY else [path]
    codes = encoder.encode(paths)
    with kh.Index.create(folder / "sample.kin", encoder.bits) as index:
        labels = [path.name.rpartition("-")[0] for path in paths]
        index.add([path.name for path in paths], codes, {"label": labels})


def taken(program: str, url: str, query: Path) -> bytes:
    """The window after a search with a picture."""
    page = browser.Browser(program)
    try:
        page.open(url)
        page.wait("document.querySelectorAll('.card').length > 0")
        page.give_files("#file", [query])
        page.wait(f"location.search.includes('code=') && !document.querySelector('[aria-busy]') && {LOADED}")
        return page.screenshot()
    finally:
        page.close()


if __name__ == "__main__":
    sys.exit(main())
