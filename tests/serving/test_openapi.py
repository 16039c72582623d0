"""The description says what the server does: every route is in it, and real requests and replies fit its shapes."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from serving.colours import Colours, content, picture
from serving.inside import Asker

from kinhash.serving.openapi import ERRORS, description

RED = Colours().encode([picture("red")]).hex()[0]
REQUESTS: list[tuple[str, str, Any, int]] = [
    ("/api/{index}/search", "", {"codes": [RED, RED], "k": 3}, 200),
    ("/api/{index}/search", "", {"base64": "3NwUFBTcAAA=", "radius": 20, "fewer": False, "k": 1}, 200),
    ("/api/{index}/search", "", {"id": "red-01.png", "items": True, "where": {"step": {"$lt": 3}}}, 200),
    ("/api/{index}/search", "", {"text": "blue", "items": True, "k": 2}, 200),
    ("/api/{index}/search", "", {"codes": [RED], "where": "step < 0", "items": True}, 200),
    ("/api/{index}/search/picture", "?k=2&items=true&where=step+%3C+5", content(picture("pink")), 200),
    (
        "/api/{index}/search/picture",
        "?where=%7B%22step%22%3A%203%7D&fewer=true&radius=40",
        content(picture("pink")),
        200,
    ),
    ("/api/{index}/items", "", {"limit": 3}, 200),
    ("/api/{index}/items", "", {"limit": 3, "after": "red-01.png", "where": "step > 2"}, 200),
    ("/api/{index}/get", "", {"ids": ["red-01.png", "nothing"], "skip_missing": True}, 200),
    ("/api/{index}/count", "", {"where": "step > 2"}, 200),
    ("/api/{index}/stats", "", None, 200),
    ("/api", "", None, 200),
    ("/health", "", None, 200),
    ("/api/{index}/thumbnail", "?id=red-01.png&size=128", None, 200),
    ("/metrics", "", None, 200),
    ("/openapi.json", "", None, 200),
    ("/api/{index}/search", "", {"codes": [RED], "k": 41, "fewer": False}, 400),
    ("/api/{index}/get", "", {"ids": ["nothing"]}, 404),
    ("/api/{index}/search/picture", "", b"no picture", 400),
    ("/api/{index}/search/picture", "", bytes(2**20 + 1), 413),
    ("/api/{index}/thumbnail", "?id=nothing", None, 404),
]


def resolved(schema: dict[str, Any], whole: dict[str, Any]) -> jsonschema.Draft202012Validator:
    found = jsonschema.Draft202012Validator({**schema, "components": whole["components"]})
    found.check_schema(found.schema)
    return found


@pytest.mark.parametrize(("path", "query", "body", "status"), REQUESTS)
def test_requests_and_replies_fit(ask: Asker, path: str, query: str, body: Any, status: int) -> None:
    whole = ask.get("/openapi.json").json
    operation = whole["paths"][path]["get" if body is None else "post"]
    address = path.replace("{index}", "colours") + query
    reply = ask.get(address) if body is None else ask.post(address, body)
    assert reply.status == status, reply.body
    if isinstance(body, dict) and status == 200:
        resolved(operation["requestBody"]["content"]["application/json"]["schema"], whole).validate(body)
    response = operation["responses"][str(status)]
    if "$ref" in response:
        response = whole["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    kind = reply.headers["content-type"].split(";")[0]
    assert kind in response["content"]
    if kind == "application/json":
        resolved(response["content"][kind]["schema"], whole).validate(reply.json)


def test_every_route_and_parameter_is_described(ask: Asker) -> None:
    paths = description()["paths"]
    routes = {(route.path, method) for route in ask.app.routes for method in route.methods - {"HEAD"}}  # type: ignore[attr-defined]
    described = {
        (path, method.upper()) for path, item in paths.items() for method in set(item) - {"parameters"}
    }
    assert routes - described == {("/", "GET"), ("/page/{file}", "GET")}  # the gallery page
    assert described <= routes
    names = [
        op["operationId"] for item in paths.values() for method, op in item.items() if method != "parameters"
    ]
    assert len(set(names)) == len(names)
    assert {path for path, _, _, _ in REQUESTS} == set(paths)


def test_references_lead_somewhere_and_unknown_fields_are_refused(ask: Asker) -> None:
    whole = description()

    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if "$ref" in part else []
            return own + [found for value in part.values() for found in references(value)]
        return [found for value in part for found in references(value)] if isinstance(part, list) else []

    for reference in references(whole):
        at: Any = whole
        for key in reference.removeprefix("#/").split("/"):
            at = at[key]
    used = {reference.rsplit("/", 1)[1] for reference in references(whole)}
    assert used == set(whole["components"]["schemas"]) | set(ERRORS)
    for name, body in (
        ("Search", {"code": RED}),
        ("Search", {"codes": [RED], "id": "a"}),
        ("Get", {"ids": 3}),
    ):
        with pytest.raises(jsonschema.ValidationError):
            resolved({"$ref": f"#/components/schemas/{name}"}, whole).validate(body)
        verb = name.lower()
        assert ask.post(f"/api/colours/{verb}", body).status == 400
