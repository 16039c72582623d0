"""NLTK and the original WordNet files for tests, which are skipped, saying why, where the machine lacks them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nltk_wordnet
import pytest


def wordnet_files() -> Path:
    """The folder of the original files."""
    try:
        return nltk_wordnet.wordnet_files()
    except nltk_wordnet.AbsentError as reason:
        pytest.skip(str(reason))


def nltk_reader() -> Any:
    """NLTK's reader over them."""
    try:
        return nltk_wordnet.nltk_wordnet()
    except nltk_wordnet.AbsentError as reason:
        pytest.skip(str(reason))
