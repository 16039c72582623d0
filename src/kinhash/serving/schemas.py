"""The shapes of requests and replies, as json schemas."""

from __future__ import annotations

from typing import Any

from kinhash.serving.asked import MOST_IDS, MOST_K, MOST_QUERIES
from kinhash.serving.pictures import SIZES

Schema = dict[str, Any]

ID: Schema = {
    "type": ["string", "integer"],
    "description": "A string, or an integer of up to 64 bits; one kind per index.",
}
CODE: Schema = {
    "type": "string",
    "pattern": "^[0-9a-f]*$",
    "description": "Bytes of a code in hexadecimal digits.",
}
METADATA: Schema = {"type": "object", "additionalProperties": True}
WHERE: Schema = {
    "type": ["string", "object", "null"],
    "description": "A filter over metadata, as text or as an object.",
    "examples": ["year >= 2010 and label = 'cat'", {"year": {"$gte": 2010}, "label": "cat"}],
}
COUNT: Schema = {"type": "integer", "minimum": 0}
CURSOR: Schema = {"type": ["string", "null"], "description": "Pass it as `after` to go on; null at the end."}

SHAPE: dict[str, Schema] = {
    "k": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_K,
        "default": 10,
        "description": "Hits of a query in a page.",
    },
    "radius": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "Largest Hamming distance of a hit.",
    },
    "where": WHERE,
    "after": {"type": ["string", "null"], "description": "`next` of the page before; with a single query."},
    "fewer": {
        "type": "boolean",
        "default": True,
        "description": "Whether less than k items are an answer or an error.",
    },
    "items": {
        "type": "boolean",
        "default": False,
        "description": "Codes, metadata and semantic distances of hits too.",
    },
    "label": {
        "type": ["string", "null"],
        "description": "What semantic distances are seen from; pages behind a cursor know no other but an item's.",
    },
}


def listed(item: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": item, **more}


def thing(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object with exactly these fields."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_HIT = thing(
    {"code": CODE, "metadata": METADATA, "semantic": {"type": ["number", "null"], "minimum": 0, "maximum": 1}}
)
_REFERENCE: Schema = thing(
    {
        "label": {"type": "string"},
        "source": {"type": "string", "enum": ["asked", "item", "prediction", "nearest"]},
    }
) | {"type": ["object", "null"], "description": "The label that semantic distances are seen from."}
_ANSWER = thing(
    {"ids": listed(ID), "distances": listed(COUNT), "next": CURSOR},
    {"items": listed(ref("Hit")), "reference": _REFERENCE},
)
_INDEX = thing(
    {
        "name": {"type": "string"},
        "bits": {"type": "integer", "minimum": 1},
        "items": COUNT,
        "ids": {"type": ["string", "null"], "enum": ["int", "str", None]},
        "pictures": {"type": "boolean", "description": "Whether it can be searched by a picture."},
        "text": {"type": "boolean", "description": "Whether it can be searched by a sentence."},
        "semantics": {"type": ["string", "null"]},
    }
)
_STATS = thing(
    {
        "items": COUNT,
        "bits": COUNT,
        "ids": {"type": ["string", "null"], "enum": ["int", "str", None]},
        **dict.fromkeys(("commit", "segments", "scans", "in_log", "deleted", "bytes"), COUNT),
        "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
    }
)
_LIMITS = dict.fromkeys(("max_upload", "max_k", "max_queries"), COUNT)

SCHEMAS: dict[str, Schema] = {
    "Search": {
        **thing(
            {},
            {
                "codes": listed(CODE, minItems=1, maxItems=MOST_QUERIES, description="Queries."),
                "base64": {
                    "type": "string",
                    "description": "Queries: the bytes of all codes in a row, in base64.",
                },
                "id": {**ID, "description": "The item to search from; it is left out of the answer."},
                "text": {"type": "string", "description": "The sentence to search with."},
                **SHAPE,
            },
        ),
        "oneOf": [{"required": [field]} for field in ("codes", "base64", "id", "text")],
    },
    "Hits": thing({"codes": listed(CODE), "answers": listed(ref("Answer"))}),
    "Answer": _ANSWER,
    "Hit": _HIT,
    "Page": thing(
        {},
        {
            "limit": {**COUNT, "minimum": 1, "maximum": MOST_IDS, "default": 100},
            "after": {"type": ["string", "integer", "null"]},
            "where": WHERE,
        },
    ),
    "Items": thing(
        {"ids": listed(ID), "codes": listed(CODE), "metadata": listed(METADATA)},
        {"next": {"type": ["string", "integer", "null"]}},
    ),
    "Get": thing(
        {"ids": listed(ID, maxItems=MOST_IDS)}, {"skip_missing": {"type": "boolean", "default": False}}
    ),
    "Filter": thing({}, {"where": WHERE}),
    "Count": thing({"count": COUNT}),
    "Stats": _STATS,
    "Index": _INDEX,
    "Server": thing({"kinhash": {"type": "string"}, "indexes": listed(ref("Index")), **_LIMITS}),
    "Health": thing({"status": {"type": "string", "const": "ok"}, "kinhash": {"type": "string"}}),
    "Error": thing({"error": thing({"kind": {"type": "string"}, "message": {"type": "string"}})}),
}
SIZE: Schema = {"type": "integer", "enum": list(SIZES), "default": 256}
