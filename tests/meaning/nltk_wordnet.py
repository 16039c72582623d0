"""NLTK's own reader over the original WordNet 3.0 files, where the machine has them."""

from __future__ import annotations

import shutil
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

FILES = Path("/usr/share/wordnet")
_NEEDED = (
    *(f"{kind}.{part}" for kind in ("data", "index") for part in ("noun", "verb", "adj", "adv")),
    *(f"{part}.exc" for part in ("noun", "verb", "adj", "adv")),
    "index.sense",
    "cntlist.rev",
)
_folder = TemporaryDirectory(prefix="kinhash-nltk-")


@cache
def nltk_wordnet() -> Any:
    """A `WordNetCorpusReader`; skips the test, saying why, where NLTK or the files are absent."""
    reader = pytest.importorskip("nltk.corpus.reader.wordnet", reason="NLTK is the oracle of this test")
    absent = [name for name in _NEEDED if not (FILES / name).exists()]
    if absent:
        pytest.skip(
            f"{FILES} lacks {', '.join(absent)}: install Debian's wordnet-base and wordnet-sense-index, "
            "so that NLTK can read the original WordNet 3.0"
        )
    folder = Path(_folder.name).resolve()
    data = pytest.importorskip("nltk.data")
    if str(folder) not in data.path:
        data.path.append(str(folder))
    for name in _NEEDED:
        shutil.copy(FILES / name, folder / name)  # NLTK follows no link out of its own folders
    # Debian leaves this file out; the names of the 45 lexicographer files play no part in similarities
    (folder / "lexnames").write_text("".join(f"{i:02d}\tfile.{i}\t1\n" for i in range(45)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no multilingual data, as intended
        # the map to other languages wants a downloaded corpus as well, and similarities do not need it
        kind = type("NounReader", (reader.WordNetCorpusReader,), {"map_wn": lambda self, version=None: None})
        return kind(str(folder), None)
