"""The page of near-duplicates: every picture with its facts, one to keep, and a list that never leads astray."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from duplicates.scenes import scene
from reading_pages import Read, read_page

from kinhash.duplicates.facts import facts_of
from kinhash.pages import dedup_review
from kinhash.pages.dedup_review import review_page
from kinhash.pages.page import write_page

HOSTILE = "a'<img src=x onerror=y>.png"


def listed(page: Read) -> list[str]:
    """What stands in <pre>, as a shell reads it."""
    return shlex.split("".join(page.pre))


@pytest.fixture
def page(tmp_path: Path) -> Read:
    names = ["large.png", HOSTILE, "line\nbreak.png", "gone.png", "two words.png", "last.png"]
    for i, name in enumerate(names):
        if name != "gone.png":
            scene(i, 90 - i, 60).save(tmp_path / name)
    facts = [facts_of(tmp_path / name, name) for name in names]
    write_page(review_page([facts[:4], facts[4:]], "How <they> were found."), tmp_path / "page.html")
    return read_page(tmp_path / "page.html")


def test_every_picture_with_what_is_known_of_it(page: Read, tmp_path: Path) -> None:
    assert [image.size for image in page.pictures()] == [(90, 60), (89, 60), (88, 60), (86, 60), (85, 60)]
    for words in (
        "How <they> were found.",
        HOSTILE,
        "90 × 60, ",
        "not found",
        "cannot be read",
        "2 groups of 6",
    ):
        assert words in page.text
    kept = [one for one in page.all("figure") if "keep" in str(one["class"]).split()]
    assert len(kept) == 2
    assert str(page.all("img")[0]["alt"]) == "to keep: large.png"


def test_the_list_holds_all_but_the_first_quoted_for_a_shell(page: Read, tmp_path: Path) -> None:
    assert listed(page) == [str(tmp_path / name) for name in (HOSTILE, "gone.png", "last.png")]
    assert "1 names hold characters that cannot be shown" in page.text


def test_a_page_is_bounded_and_the_list_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedup_review, "SHOWN", 4)
    scene(0).save(tmp_path / "a.png")
    groups = [[facts_of(tmp_path / "a.png", f"{i}-{j}") for j in range(3)] for i in range(3)]
    write_page(review_page(groups, "How."), tmp_path / "page.html")
    page = read_page(tmp_path / "page.html")
    assert len(page.all("figure")) == 3
    assert "2 more groups are not shown, but are in the list." in page.text
    assert len(listed(page)) == 6


def test_no_groups(tmp_path: Path) -> None:
    write_page(review_page([], "How."), tmp_path / "page.html")
    page = read_page(tmp_path / "page.html")
    assert "0 groups of 0 pictures" in page.text
    assert not page.all("pre")
