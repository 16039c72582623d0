"""One served index of colours for the tests that only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from serving.colours import serve_colours
from serving.inside import Asker, asking

from kinhash.serving.app import Settings, create_app


@pytest.fixture(scope="package")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the index `colours.kin` and of `pictures`."""
    return tmp_path_factory.mktemp("colours")


@pytest.fixture(scope="package")
def ask(colours: Path) -> Iterator[Asker]:
    app = create_app([serve_colours(colours)], Settings(cache=colours / "cache", max_upload=2**20))
    with asking(app) as asker:
        yield asker
