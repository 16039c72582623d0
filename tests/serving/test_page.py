"""The gallery page in a real Chromium: what a person does with mouse, keyboard and files, and what comes of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import browser
import pytest

pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from serving.colours import BITS, Colours, content, picture, serve_colours

from kinhash.codes import Codes
from kinhash.index.index import Index
from kinhash.serving.app import Settings, create_app
from kinhash.serving.running import running
from kinhash.serving.served import served

PROGRAM = browser.found()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="NO BROWSER: the gallery page is not tested; apt install chromium"
)

IDS = "[...document.querySelectorAll('.card')].map(card => card.dataset.id)"
STATUS = "document.getElementById('status').textContent"
ERROR = "(e => e.hidden ? '' : e.textContent)(document.getElementById('error'))"


@dataclass
class Gallery:
    page: browser.Browser
    url: str
    folder: Path

    def open(self, address: str = "/") -> None:
        self.page.complaints.clear()
        self.page.open(self.url + address)
        self.settled()

    def settled(self) -> None:
        """Until results or an error are there, and no column is busy."""
        self.page.wait(
            f"document.readyState === 'complete' && ({ERROR} || ({STATUS} !== '' && {STATUS} !== 'Searching…')) "
            "&& !document.querySelector('[aria-busy]')"
        )

    def ids(self) -> list[str]:
        found: list[str] = self.page.run(IDS)
        return found

    def run(self, script: str) -> object:
        return self.page.run(script)

    def given(self) -> list[str]:
        """What the page complained of on the console."""
        return self.page.complaints


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    assert PROGRAM is not None
    folder = tmp_path_factory.mktemp("gallery")
    one = serve_colours(folder)
    with Index.open(folder / "colours.kin") as index:
        ids, codes = index.items()
        metadata = index.get(ids).metadata
    with Index.create(
        folder / "turned.kin", BITS
    ) as turned:  # every bit the other way round: the same distances
        turned.add(ids, Codes.from_bits(~codes.to_bits()), metadata)

    class Turned(Colours):
        encode = lambda self, pictures: Codes.from_bits(~Colours.encode(self, pictures).to_bits())  # noqa: E731

    other = served("turned", folder / "turned.kin", Turned(), folder / "pictures")
    app = create_app([one, other], Settings(cache=folder / "cache", max_upload=200_000))
    page = browser.Browser(PROGRAM)
    try:
        with running(app) as url:
            yield Gallery(page, url, folder)
    finally:
        page.close()


def test_all_items_are_shown_at_first_with_pictures(gallery: Gallery) -> None:
    gallery.open()
    assert gallery.ids()[:2] == ["blue-00.png", "blue-01.png"]
    assert gallery.run(STATUS) == "colours: 40 items"
    gallery.page.wait("[...document.images].filter(i => i.naturalWidth > 0).length >= 10")
    gallery.page.click(".more")
    gallery.page.wait("document.querySelectorAll('.card').length === 40")
    assert gallery.run("document.querySelector('.more').hidden")
    assert gallery.given() == []


def test_a_chosen_picture_is_searched_with(gallery: Gallery) -> None:
    gallery.open()
    file = gallery.folder / "mine.png"
    picture("red", 4).save(file)
    gallery.page.give_files("#file", [file])
    gallery.page.wait(f"{IDS}[0] === 'red-04.png'")
    gallery.settled()
    assert gallery.ids()[1] in ("red-03.png", "red-05.png")
    assert "Nearest to the picture mine.png" in str(gallery.run("document.getElementById('query').innerText"))
    assert "code=" in str(gallery.run("location.search"))
    before = gallery.ids()
    gallery.open(
        str(gallery.run("location.pathname + location.search"))
    )  # the link shows the same without the file
    assert gallery.ids() == before
    assert gallery.given() == []


@pytest.mark.parametrize("way", ["drop", "paste"])
def test_a_dropped_or_pasted_picture_is_searched_with(gallery: Gallery, way: str) -> None:
    gallery.open()
    numbers = list(content(picture("blue", 2)))
    event = (
        "new DragEvent('drop', {dataTransfer: data, bubbles: true})"
        if way == "drop"
        else "new ClipboardEvent('paste', {clipboardData: data, bubbles: true})"
    )
    gallery.run(
        "(() => { const data = new DataTransfer(); "
        f"data.items.add(new File([new Uint8Array({json.dumps(numbers)})], 'x.png', {{type: 'image/png'}})); "
        f"document.body.dispatchEvent({event}); }})()"
    )
    gallery.page.wait(f"{IDS}[0] === 'blue-02.png'")


def test_a_click_searches_from_a_result_and_back_returns(gallery: Gallery) -> None:
    gallery.open()
    gallery.page.click("[data-id='green-03.png']")
    gallery.page.wait("location.search.includes('green-03')")
    gallery.settled()
    assert gallery.ids()[0] in ("green-02.png", "green-04.png")
    assert "green-03.png" not in gallery.ids()[:3]  # the item itself is left out
    label = str(gallery.run("document.querySelector('.card').getAttribute('aria-label')"))
    assert label.startswith(f"green, {gallery.ids()[0]}, distance ")
    assert "distance in meaning 0." in label
    assert "size=1024" in str(gallery.run("document.getElementById('query-link').href"))
    gallery.page.wait("document.getElementById('query-picture').naturalWidth > 0")
    assert "of the item" in str(gallery.run("document.querySelector('.legend').textContent"))
    assert gallery.run("document.activeElement.tagName") == "H2"
    gallery.run("history.back()")
    gallery.page.wait(f"{STATUS} === 'colours: 40 items'")
    assert gallery.run("document.getElementById('query').hidden")


def test_more_results_are_coloured_like_the_first(gallery: Gallery) -> None:
    gallery.open("/?text=pink")
    gallery.page.click(".more")
    gallery.page.wait("document.querySelectorAll('.card').length === 40")
    colour = "[...document.querySelectorAll('.card')].map(c => c.dataset.id + ' ' + c.style.getPropertyValue('--far-share'))"
    shares = {str(line).split("-")[0] + str(line).split()[1] for line in gallery.run(colour)}  # type: ignore[attr-defined]
    assert shares == {"pink0%", "red25%", "green100%", "blue100%"}
    assert gallery.run("document.activeElement.className").startswith("card")  # type: ignore[attr-defined]


def test_markup_in_ids_and_metadata_stays_text(gallery: Gallery, tmp_path: Path) -> None:
    nasty = """<img src=x onerror="document.title='broken in'">'&?#%2e/../.png"""
    with Index.create(tmp_path / "nasty.kin", BITS) as index:
        index.add([nasty], Colours().encode_text(["red"]), [{"label": nasty, "x": nasty}])
    with running(create_app([served("nasty", tmp_path / "nasty.kin", Colours())])) as url:
        gallery.page.open(url)
        gallery.page.wait("document.querySelectorAll('.card').length === 1")
        assert gallery.run("document.querySelector('.name').textContent") == nasty
        gallery.page.click(".card")
        gallery.page.wait(f"{STATUS}.startsWith('nasty: 0 found')")
        assert nasty in str(gallery.run("document.getElementById('query-words').textContent"))
        assert gallery.run("document.querySelectorAll('img[src=x]').length") == 0
        assert "broken in" not in str(gallery.run("document.title.slice(0, 12)"))


def test_a_sentence_and_a_filter(gallery: Gallery) -> None:
    gallery.open()
    gallery.page.press("/")
    assert gallery.run("document.activeElement.id") == "text"
    gallery.page.do("Input.insertText", text="a pink thing")
    gallery.page.press("Enter", "\r")
    gallery.page.wait(f"{IDS}[0] === 'pink-00.png'")
    assert gallery.run("new URLSearchParams(location.search).get('text')") == "a pink thing"
    gallery.run("document.getElementById('where').focus()")
    gallery.page.do("Input.insertText", text="step >= 8")
    gallery.page.press("Enter", "\r")
    gallery.page.wait(f"{IDS}.length === 8")
    assert gallery.ids()[0] == "pink-08.png"


def test_keys_walk_through_the_results(gallery: Gallery) -> None:
    gallery.open("/?text=red")
    focused = "document.activeElement.dataset.id"
    assert gallery.run("document.querySelectorAll('.card[tabindex=\"0\"]').length") == 1
    gallery.run("document.querySelector('.card[tabindex=\"0\"]').focus()")
    ids = gallery.ids()
    gallery.page.press("ArrowRight")
    gallery.page.press("ArrowRight")
    assert gallery.run(focused) == ids[2]
    gallery.page.press("ArrowLeft")
    assert gallery.run(focused) == ids[1]
    gallery.page.press("ArrowDown")
    below = ids.index(str(gallery.run(focused)))
    assert below > 3
    gallery.page.press("ArrowUp")
    assert gallery.run(focused) == ids[1]
    gallery.page.press("End")
    assert gallery.run(focused) == ids[-1]
    gallery.page.press("Home")
    assert gallery.run(focused) == ids[0]
    gallery.page.press("Enter", "\r")
    gallery.page.wait(f"location.search.includes('{ids[0]}')")


def test_two_indexes_stand_side_by_side(gallery: Gallery) -> None:
    gallery.open("/?index=colours&other=turned&id=blue-05.png")
    columns = "[...document.querySelectorAll('.column')].map(c => [...c.querySelectorAll('.card')].map(b => b.dataset.id))"
    left, right = gallery.run(columns)  # type: ignore[misc]
    assert left == right
    assert len(left) == 24
    codes = gallery.run("[...document.querySelectorAll('#query-codes code')].map(e => e.textContent)")
    assert codes[0] != codes[1]  # type: ignore[index]
    file = gallery.folder / "both.png"
    picture("green", 1).save(file)
    gallery.page.give_files("#file", [file])
    gallery.page.wait("location.search.includes('code2=')")
    gallery.settled()
    assert gallery.ids()[0] == gallery.ids()[24] == "green-01.png"
    gallery.open(str(gallery.run("location.pathname + location.search")))
    assert gallery.ids()[0] == gallery.ids()[24] == "green-01.png"


def test_errors_are_sentences(gallery: Gallery) -> None:
    gallery.open("/?id=nothing.png")
    assert gallery.run(ERROR) == "id 'nothing.png' is not in the index"
    assert gallery.ids() == []
    gallery.open("/?where=step+>")
    assert "expected a number" in str(gallery.run(ERROR))
    gallery.open("/?text=red&where=step+>+2")
    for name, said in (
        ("broken.png", "the upload of 10 bytes cannot be read"),
        ("large.png", "is larger than the 0 MB"),
    ):
        file = gallery.folder / name
        file.write_bytes(b"no picture" if name == "broken.png" else os.urandom(300_000))
        gallery.page.give_files("#file", [file])
        gallery.page.wait(f"{ERROR}.includes({json.dumps(said)})")
        assert "where=" in str(gallery.run("location.search"))  # the filter stays
        assert "text=" not in str(
            gallery.run("location.search")
        )  # the address is no longer of the query before
    gallery.open("/?text=red&where=step+>+100")
    assert gallery.run("document.querySelector('.empty').textContent") == "Nothing passes the filter."
    assert gallery.run(ERROR) == ""


def test_a_server_that_is_gone_is_said(gallery: Gallery) -> None:
    one = served("colours", gallery.folder / "colours.kin", Colours())
    with running(create_app([one], Settings(cache=gallery.folder / "cache"))) as url:
        gallery.page.open(url)
        gallery.page.wait(f"{STATUS} === 'colours: 40 items'")
    gallery.run(
        "document.getElementById('text').value = 'red'; document.getElementById('form').requestSubmit()"
    )
    gallery.page.wait(f"{ERROR} === 'The server does not answer. Is it still running?'")


def test_every_control_has_a_name_and_the_colours_follow_the_system(gallery: Gallery) -> None:
    gallery.open("/?text=red")
    nodes = gallery.page.do("Accessibility.getFullAXTree")["nodes"]
    controls = ("button", "textbox", "searchbox", "combobox", "link")
    shown = [node for node in nodes if not node["ignored"] and node["role"]["value"] in controls]
    assert len(shown) > 25
    assert [node["role"] for node in shown if not node.get("name", {}).get("value")] == []
    paper = "getComputedStyle(document.body).backgroundColor"
    light = gallery.run(paper)
    gallery.page.do(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    assert gallery.run(paper) != light
    gallery.page.do("Emulation.setEmulatedMedia", features=[])


@pytest.mark.parametrize("allowed", [True, False])
def test_the_link_of_a_query_is_copied_or_shown(gallery: Gallery, allowed: bool) -> None:
    gallery.open("/?text=red")
    if not allowed:  # as on a page without https
        gallery.run("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    else:
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        gallery.page.do("Browser.grantPermissions", origin=gallery.url, permissions=permissions)
        gallery.page.do("Page.bringToFront")
    gallery.page.click("#copy")
    link = "document.querySelector('.link')"
    if allowed:
        gallery.page.wait(f"{STATUS} === 'The link is copied.'")
        assert gallery.run("navigator.clipboard.readText()") == gallery.run("location.href")
    else:
        gallery.page.wait(f"Boolean({link})")
        assert gallery.run(f"{link}.value") == gallery.run("location.href")
        gallery.page.click(".card")
        gallery.page.wait(f"location.search.includes('id=') && !{link}")
