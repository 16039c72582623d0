"""Searches through the server: by code, item, sentence and picture, in pages, with items and meanings."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving.colours import Colours, content, picture
from serving.inside import Asker, asking

import kinhash as kh
from kinhash.serving.app import create_app
from kinhash.serving.paging import Cursor
from kinhash.serving.served import names_of, served

RED = Colours().encode([picture("red")])
SEARCH = "/api/colours/search"


def hits(ask: Asker, **asked: Any) -> dict[str, Any]:
    reply = ask.post(SEARCH, asked)
    assert reply.status == 200, reply.body
    [answer] = reply.json["answers"]
    return answer  # type: ignore[no-any-return]


def test_by_code_in_both_spellings(ask: Asker) -> None:
    by_hex = hits(ask, codes=RED.hex(), k=4)
    assert by_hex["ids"][0] == "red-00.png"
    assert by_hex["distances"][0] == 0
    assert by_hex == hits(ask, base64=base64.b64encode(RED.to_bytes().tobytes()).decode(), k=4)


def test_by_item_leaves_it_out_and_by_code_does_not(ask: Asker) -> None:
    own = hits(ask, id="red-00.png", k=39)
    assert "red-00.png" not in own["ids"]
    assert len(own["ids"]) == 39
    assert own["next"] is None
    assert hits(ask, codes=RED.hex(), k=40)["ids"][0] == "red-00.png"


@pytest.mark.parametrize("query", [{"id": "pink-05.png"}, {"codes": RED.hex()}, {"text": "green"}])
@pytest.mark.parametrize(
    "more", [{}, {"where": "step >= 4"}, {"radius": 20}, {"radius": 20, "where": "step < 7"}]
)
@pytest.mark.parametrize("k", [1, 3, 7])
def test_pages_together_are_the_whole_answer(ask: Asker, query: Any, more: Any, k: int) -> None:
    whole = hits(ask, **query, **more, k=100)
    assert whole["next"] is None
    found: list[tuple[int, str]] = []
    after = None
    while True:
        page = hits(ask, **query, **more, k=k, **({"after": after} if after else {}))
        assert len(page["ids"]) <= k
        found += zip(page["distances"], page["ids"], strict=True)
        after = page["next"]
        if after is None:
            break
    assert found == list(zip(whole["distances"], whole["ids"], strict=True))
    assert found == sorted(found)


def test_pages_go_on_where_they_were_although_items_come_and_go(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    codes = kh.Codes.from_bits(rng.random((200, 16)) < 0.5)
    with kh.Index.create(tmp_path / "a.kin", 16) as index:
        index.add(np.arange(0, 200, 2), codes[:100])
        with asking(create_app([served("a", tmp_path / "a.kin")])) as ask:
            query = {"codes": ["0000"], "k": 10}
            first = ask.post("/api/a/search", query).json["answers"][0]
            index.add(np.arange(1, 200, 2), codes[100:])  # most of them before the cursor
            second = ask.post("/api/a/search", query | {"after": first["next"]}).json["answers"][0]
            whole = index.search(kh.Codes.from_hex(["0000"], 16), 200)
            order = list(zip(whole.distances[0].tolist(), whole.ids[0].tolist(), strict=True))
            last = (first["distances"][-1], first["ids"][-1])
            wanted = [hit for hit in order if hit > last][:10]
            assert list(zip(second["distances"], second["ids"], strict=True)) == wanted


def test_a_cursor_that_lies_about_how_much_was_seen_does_not_matter(ask: Asker) -> None:
    first = hits(ask, codes=RED.hex(), k=20)
    for seen in (0, 3, 1000):
        cursor = str(Cursor(first["distances"][-1], first["ids"][-1], seen))
        second = hits(ask, codes=RED.hex(), k=5, after=cursor)
        assert second["ids"] == hits(ask, codes=RED.hex(), k=25)["ids"][20:]


def test_items_come_with_codes_metadata_and_distance_in_meaning(ask: Asker, colours: Path) -> None:
    answer = hits(ask, id="red-00.png", k=30, items=True)
    with kh.Index.open(colours / "colours.kin", read_only=True) as index:
        known = index.get(answer["ids"])
    assert [item["code"] for item in answer["items"]] == known.codes.hex()
    assert [item["metadata"] for item in answer["items"]] == known.metadata
    far = {item["metadata"]["label"]: item["semantic"] for item in answer["items"]}
    assert far == {"red": 0, "pink": 0.25, "green": 1, "blue": 1}
    assert answer["reference"] == {"label": "red", "source": "item"}
    assert hits(ask, text="pink", items=True)["reference"] == {"label": "pink", "source": "nearest"}


def test_later_pages_are_seen_from_the_label_that_is_asked_for(ask: Asker) -> None:
    first = hits(ask, text="pink", items=True, k=15)
    label = first["reference"]["label"]
    behind = {"text": "pink", "items": True, "k": 15, "after": first["next"]}
    assert hits(ask, **behind)["reference"] is None
    assert {item["semantic"] for item in hits(ask, **behind)["items"]} == {None}
    second = hits(ask, **behind, label=label)
    assert second["reference"] == {"label": "pink", "source": "asked"}
    assert {item["semantic"] for item in second["items"] if item["metadata"]["label"] == "red"} == {0.25}
    assert hits(ask, text="pink", items=True, label="strange")["reference"] == first["reference"]


def test_a_predicted_class_is_where_meaning_is_seen_from(tmp_path: Path, colours: Path) -> None:
    class Knowing(Colours):
        network = type("Network", (), {"classifier": True})

        def predict(self, pictures: Any) -> Any:
            return np.array([[0.1, 0.2, 0.6, 0.1]])

    with asking(create_app([served("a", colours / "colours.kin", Knowing())])) as ask:
        reply = ask.post("/api/a/search/picture?items=true&k=3", content(picture("red")))
        assert reply.json["answers"][0]["reference"] == {"label": "green", "source": "prediction"}
        assert [item["semantic"] for item in reply.json["answers"][0]["items"]] == [1, 1, 1]


MISTAKES: list[tuple[Any, str]] = [
    ({}, "say what to search for, with one of codes, base64, id, text"),
    ({"codes": ["00"], "text": "a"}, "say what to search for"),
    ({"codes": []}, "a request holds 1 to 1024 codes, got 0"),
    ({"codes": ["00" * 8] * 1025}, "a request holds 1 to 1024 codes, got 1025"),
    ({"codes": "00"}, "codes is a list of hexadecimal strings, got str"),
    ({"codes": ["0g"]}, "item 0 is not hexadecimal: '0g'"),
    ({"codes": ["ff" * 8]}, "row 0 has bits set past position 62"),
    ({"base64": "?"}, "base64 is no text in base64"),
    ({"base64": 3}, "base64 is no text in base64"),
    ({"base64": "AAA="}, "2 bytes are no whole number of 63-bit codes"),
    ({"id": None}, "an id is a string or a whole number, got None"),
    ({"id": True}, "an id is a string or a whole number, got True"),
    ({"id": "a"}, "id 'a' is not in the index"),
    ({"text": "  "}, "text is a sentence, got '  '"),
    ({"text": "red", "k": 0}, "k is a whole number from 1 to 10,000, got 0"),
    ({"text": "red", "k": 10001}, "`after` gives more in pages"),
    ({"text": "red", "k": 2.5}, "k is a whole number"),
    ({"text": "red", "radius": 64}, "a radius is a whole number from 0 to 63"),
    ({"text": "red", "where": "step >"}, "expected a number, a quoted string"),
    ({"text": "red", "where": [1]}, "where is a dict or a string, got list"),
    ({"text": "red", "after": "nonsense"}, "after is no cursor: 'nonsense'"),
    ({"text": "red", "after": str(Cursor(3, 7, 1))}, "after is no cursor of this index"),
    ({"text": "red", "after": str(Cursor(3, "a", 10**9))}, "pages end after 1,000,000 hits"),
    ({"codes": RED.hex() * 2, "after": str(Cursor(3, "a", 1))}, "after goes on with one query, got 2 codes"),
    ({"text": "red", "label": 3}, "label is a string, got 3"),
    ({"text": "red", "items": "yes"}, "items is true or false, got 'yes'"),
    ({"text": "red", "fewer": False, "k": 41}, "k = 41, but only 40 codes are in the database"),
    ({"text": "red", "limit": 3}, "unknown field 'limit'; there are codes, base64"),
    ({"id": "\ud800"}, "an id is not valid Unicode text"),
    ({"codes": ["\ud800"]}, "item 0 is not hexadecimal"),
    ({"text": "red", "where": "\ud800"}, "cannot read"),
    ({"\ud800": 1}, "unknown field"),
    ([1], "the body of the request is a json object, got list"),
    (b"{", "the body of the request is not json"),
    (b"[" * 100_000, "the body of the request is not json"),
    (b'{"k": ' + b"9" * 5000 + b"}", "the body of the request is not json"),
    (b"\xff", "the body of the request is not json"),
]


@pytest.mark.parametrize(("body", "said"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_are_one_sentence(ask: Asker, body: Any, said: str) -> None:
    reply = ask.post(SEARCH, body)
    assert 400 <= reply.status < 500
    assert said in reply.error


@pytest.mark.parametrize("query", ["?k=x", "?where=%7B", "?radius=-1", "?strange=1", "?after=x", "?items=3"])
def test_mistakes_in_the_address_of_an_upload(ask: Asker, query: str) -> None:
    assert ask.post(SEARCH + "/picture" + query, content(picture("red"))).status == 400


def test_ids_that_are_numbers(tmp_path: Path) -> None:
    big = 2**63 - 1
    with kh.Index.create(tmp_path / "a.kin", 8) as index:
        index.add([7, big], kh.Codes.from_hex(["00", "01"], 8))
    with asking(create_app([served("a", tmp_path / "a.kin")])) as ask:
        for name in (big, str(big)):
            assert ask.post("/api/a/search", {"id": name}).json["answers"][0]["ids"] == [7]
        assert ask.post("/api/a/items", {"after": 7}).json["ids"] == [big]
        assert (
            ask.post("/api/a/search", {"id": "seven"}).error
            == "the ids of this index are integers, got 'seven'"
        )
        assert ask.post("/api/a/search", {"id": 10**30}).status == 400


def test_an_empty_index_and_new_items(tmp_path: Path) -> None:
    with (
        kh.Index.create(tmp_path / "a.kin", 8) as index,
        asking(create_app([served("a", tmp_path / "a.kin")])) as ask,
    ):
        asked = {"codes": ["00"], "items": True}
        nothing = {"ids": [], "distances": [], "next": None, "items": [], "reference": None}
        assert ask.post("/api/a/search", asked).json["answers"] == [nothing]
        assert ask.post("/api/a/items", {}).json == {"ids": [], "codes": [], "metadata": [], "next": None}
        index.add(["new"], kh.Codes.from_hex(["01"], 8), [{"a": [1, None, "ü"]}])
        assert ask.post("/api/a/search", asked).json["answers"][0]["ids"] == ["new"]
        assert ask.post("/api/a/get", {"ids": ["new"]}).json["metadata"] == [{"a": [1, None, "ü"]}]


def test_hits_that_are_deleted_before_they_are_looked_at_are_searched_for_again(tmp_path: Path) -> None:
    with kh.Index.create(tmp_path / "a.kin", 8) as index:
        index.add(["a", "b", "c"], kh.Codes.from_hex(["00", "01", "03"], 8))
        one = served("a", tmp_path / "a.kin")
        get, asked = one.index.get, []

        def late(ids: Any) -> Any:
            if not asked:
                index.delete(["a"])
            asked.append(ids)
            return get(ids)

        one.index.get = late  # type: ignore[method-assign]
        with asking(create_app([one])) as ask:
            reply = ask.post("/api/a/search", {"codes": ["00"], "items": True})
    assert reply.json["answers"][0]["ids"] == ["b", "c"]
    assert asked == [["a", "b", "c"], ["b", "c"]]


def test_an_encoder_must_fit(tmp_path: Path, colours: Path) -> None:
    with (
        kh.Index.create(tmp_path / "a.kin", 8),
        pytest.raises(kh.KinhashError, match="makes codes of 63 bits, the index"),
    ):
        served("a", tmp_path / "a.kin", Colours())
    with pytest.raises(kh.KinhashError, match="has `encode`, or can be called; got int"):
        served("a", colours / "colours.kin", 3)
    wrong = served("a", colours / "colours.kin", lambda pictures: RED[:0])
    with asking(create_app([wrong])) as ask:
        assert (
            "gave Codes(n=0, bits=63), not one code of 63 bits"
            in ask.post("/api/a/search/picture", content(picture("red"))).error
        )
    blind = served("a", colours / "colours.kin")
    with asking(create_app([blind])) as ask:
        reply = ask.post("/api/a/search/picture", content(picture("red")))
        assert reply.error == "a is served without an encoder of pictures: search by id or by code"


def test_an_encoder_says_whether_it_understands_text_and_pictures(colours: Path) -> None:
    class Deaf(Colours):
        understands_text = False

    class Blind(Colours):
        takes = "embeddings"

    deaf, blind = (served("a", colours / "colours.kin", kind()) for kind in (Deaf, Blind))
    with asking(create_app([deaf])) as ask:
        assert ask.post("/api/a/search", {"text": "red"}).error.startswith(
            "a is served without an encoder of text"
        )
        assert not ask.get("/api").json["indexes"][0]["text"]
    with asking(create_app([blind])) as ask:
        assert ask.post("/api/a/search", {"text": "red"}).status == 200
        assert ask.post("/api/a/search/picture", content(picture("red"))).status == 400


def test_several_indexes_have_names(tmp_path: Path) -> None:
    assert names_of([tmp_path / "a.kin", tmp_path / "b" / "a.kin", "x y.kin"]) == ["a", "a-2", "x-y"]
    with pytest.raises(kh.KinhashError, match="there is nothing to serve"):
        create_app([])


def test_the_overview_tells_what_can_be_asked(ask: Asker) -> None:
    [card] = ask.get("/api").json["indexes"]
    assert card == {
        "name": "colours",
        "bits": 63,
        "items": 40,
        "ids": "str",
        "pictures": True,
        "text": True,
        "semantics": "colours",
    }
    assert json.loads(ask.get("/health").body)["status"] == "ok"


def test_a_trained_encoder_out_of_its_folder(tmp_path: Path) -> None:
    """Pictures, a predicted class and its semantics, as `kinhash serve INDEX --encoder FOLDER` opens them."""
    torch = pytest.importorskip("torch")
    from kinhash.models.catalogue import build_backbone
    from kinhash.models.encoder import HashEncoder
    from kinhash.models.network import HashNetwork

    torch.manual_seed(0)
    network = HashNetwork(build_backbone("wrn10-1"), bits=24, classes=3)
    classes = ("red", "green", "blue")
    semantics = kh.Semantics("three", np.ones((3, 3)) - np.eye(3), classes)
    encoder = HashEncoder(network, classes=classes, semantics=semantics)
    encoder.save(tmp_path / "encoder")
    images = [picture(name, step) for name in classes for step in range(4)]
    ids = [f"{name}-{step}" for name in classes for step in range(4)]
    with kh.Index.create(tmp_path / "a.kin", 24) as index:
        index.add(ids, encoder.encode(images), [{"label": name.split("-")[0]} for name in ids])
    one = served("a", tmp_path / "a.kin", tmp_path / "encoder")
    assert one.encode_text is None
    with asking(create_app([one])) as ask:
        assert ask.get("/api").json["indexes"][0]["semantics"] == "three"
        reply = ask.post("/api/a/search/picture?items=true&k=12", content(images[5])).json
        assert reply["codes"] == encoder.encode(images[5]).hex()
        answer = reply["answers"][0]
        assert answer["distances"][answer["ids"].index("green-1")] == 0
        predicted = classes[int(encoder.predict(images[5])[0].argmax())]
        assert answer["reference"] == {"label": predicted, "source": "prediction"}
        for name, item in zip(answer["ids"], answer["items"], strict=True):
            assert item["semantic"] == float(name.split("-")[0] != predicted)
