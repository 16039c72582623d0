"""Reads a page as a browser would: is it whole, does it need anything else, what pictures and words does it hold."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from PIL import Image

_VOID = {"br", "hr", "img", "meta"}
_LOADS = ("src", "href", "srcset", "data", "action", "poster", "background")


@dataclass
class Read(HTMLParser):
    """Every element with its attributes, and all text outside <style>."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    pre: list[str] = field(default_factory=list)  # of these, what stands in <pre>
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.words.append(data)
        if self.open and self.open[-1] == "pre":
            self.pre.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    def pictures(self) -> list[Image.Image]:
        """Every embedded picture that is no drawing, decoded."""
        found = []
        for attributes in self.all("img"):
            kind, _, data = str(attributes["src"]).partition(";base64,")
            raw = base64.b64decode(data, validate=True)
            if kind == "data:image/svg+xml":
                assert b"<svg" in raw
                continue
            image = Image.open(io.BytesIO(raw))
            image.load()
            assert kind == f"data:image/{str(image.format).lower()}"
            found.append(image)
        return found


def read_page(path: Path) -> Read:
    """The page, after checks that every page has to pass."""
    page = Read()
    page.feed(path.read_text("utf-8"))
    page.close()
    assert page.open == []
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == len(page.all("title")) == 1
    assert not page.all("script")
    assert not page.all("link")
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        for name in _LOADS:
            if (place := attributes.get(name)) is not None:
                assert place.startswith(("data:image/", "#")), (tag, place[:80])
    assert all(image.get("alt") for image in page.all("img"))
    [policy] = [m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in str(policy)
    assert "url(" not in path.read_text("utf-8").split("</style>")[0]
    return page
