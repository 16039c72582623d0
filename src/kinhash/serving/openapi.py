"""The description of the server in OpenAPI 3.1; a test holds it against the routes and against real replies."""

from __future__ import annotations

from typing import Any

from kinhash import __version__
from kinhash.serving.schemas import ID, SCHEMAS, SHAPE, SIZE, Schema, ref

ERRORS = {
    "400": "Something in the request is wrong; the sentence says what.",
    "401": "The token is missing or wrong.",
    "404": "There is no such index, item or picture.",
    "408": "The request took too long to arrive.",
    "413": "The request is larger than the server takes.",
    "421": "The server does not answer to this name of a host.",
    "422": "The picture of the item cannot be read.",
    "503": "Too many queries are waiting, or the disk said no.",
}
_JSON = "application/json"
_POST = ("400", "401", "404", "408", "413", "421", "503")


def description() -> Schema:
    """The whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kinhash",
            "version": __version__,
            "description": "Exact search for similar items by short binary codes. Hits are ordered by (distance, id).",
        },
        "paths": _paths(),
        "components": {
            "schemas": SCHEMAS,
            "responses": {code: _failure(text) for code, text in ERRORS.items()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _paths() -> Schema:
    here = [{"name": "index", "in": "path", "required": True, "schema": {"type": "string"}}]
    picture = [_query(name, schema) for name, schema in SHAPE.items()]
    thumbnail = [_query("id", ID) | {"required": True}, _query("size", SIZE)]
    body = {"required": True, "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}}
    paths: dict[str, Schema] = {
        "/api/{index}/search": _posted(
            "search", "The nearest items of codes, an item or a sentence", "Search", "Hits"
        ),
        "/api/{index}/search/picture": _path(
            "post",
            _told(
                "searchPicture", "The nearest items of a picture, which is the body", _holds("Hits"), _POST
            ),
            {"parameters": picture, "requestBody": body},
        ),
        "/api/{index}/items": _posted("items", "Items in the order of their ids, in pages", "Page", "Items"),
        "/api/{index}/get": _posted("get", "Items by id", "Get", "Items"),
        "/api/{index}/count": _posted("count", "How many items pass a filter", "Filter", "Count"),
        "/api/{index}/stats": _got("stats", "Sizes and counts", "Stats", ("401", "404", "421")),
        "/api/{index}/thumbnail": _path(
            "get",
            _told(
                "thumbnail",
                "A small copy of the picture of an item",
                {
                    f"image/{kind}": {"schema": {"type": "string", "format": "binary"}}
                    for kind in ("webp", "jpeg")
                },
                ("400", "401", "404", "421", "422"),
            ),
            {"parameters": thumbnail},
        ),
    }
    for path in paths.values():
        path["parameters"] = here
    return paths | {
        "/api": _got("server", "The indexes, and the limits of requests", "Server", ("401", "421")),
        "/health": _got("health", "Whether the server can answer; needs no token", "Health", ("421", "503")),
        "/metrics": _path(
            "get",
            _told(
                "metrics",
                "Counters for Prometheus",
                {"text/plain": {"schema": {"type": "string"}}},
                ("401", "421"),
            ),
        ),
        "/openapi.json": _path(
            "get",
            _told("openapi", "This description", {_JSON: {"schema": {"type": "object"}}}, ("401", "421")),
        ),
    }


def _path(method: str, *parts: Schema) -> Schema:
    operation: Schema = {}
    for part in parts:
        operation |= part
    return {method: operation}


def _posted(name: str, summary: str, asked: str, answered: str) -> Schema:
    body = {"required": True, "content": {_JSON: {"schema": ref(asked)}}}
    return _path("post", _told(name, summary, _holds(answered), _POST), {"requestBody": body})


def _got(name: str, summary: str, answered: str, errors: tuple[str, ...]) -> Schema:
    return _path("get", _told(name, summary, _holds(answered), errors))


def _told(name: str, summary: str, content: Schema, errors: tuple[str, ...]) -> Schema:
    failures = {code: {"$ref": f"#/components/responses/{code}"} for code in errors}
    return {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": summary, "content": content}, **failures},
    }


def _holds(name: str) -> Schema:
    return {_JSON: {"schema": ref(name)}}


def _query(name: str, schema: Schema) -> Schema:
    """A parameter in the address; what is no string is written as json."""
    return {"name": name, "in": "query", "schema": schema}


def _failure(text: str) -> dict[str, Any]:
    return {"description": text, "content": _holds("Error")}
