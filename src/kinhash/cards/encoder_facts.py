"""What the card of an encoder says, as plain values in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinhash.report import Report


def encoder_facts(card: Mapping[str, Any]) -> dict[str, Any]:
    """What a person asks first; what a card does not know is left out."""
    network, training = card["network"], card.get("training") or {}
    retrieval = card.get("retrieval") or {}
    makes = retrieval.get("retrieves", "both")
    facts = {
        "takes": "embeddings" if card.get("preprocessing") is None else "pictures",
        "bits": None if makes == "floats" else network.get("bits"),
        "retrieves": "codes and floats" if makes == "both" else makes,
        "float_metric": None if makes == "codes" else retrieval.get("metric", "l1"),
        "method": retrieval.get("method") or training.get("method"),
        "semantics": (card.get("semantics") or {}).get("name") or training.get("semantics"),
        "backbone": _backbone(network.get("backbone")),
        "classes": len(card.get("classes") or ()) or None,
        "trained_on": training.get("samples"),
        "recipe": training.get("recipe"),
        "epochs": training.get("epochs"),
        "seed": training.get("seed"),
        "understands_text": training.get("text"),
        "weights": card.get("weights"),
        "bytes": card.get("bytes"),
        "kinhash": card.get("kinhash"),
    }
    return {key: value for key, value in facts.items() if value is not None}


def evaluation_of(card: Mapping[str, Any]) -> Report | None:
    """The report that training or `save` wrote, if any; metrics without a value are left out."""
    found = (card.get("training") or {}).get("evaluation")
    if not found:
        return None
    known = {key: value for key, value in found["metrics"].items() if value is not None}
    return Report("test", found["protocol"], known)


def _backbone(card: Mapping[str, Any] | None) -> str | None:
    """'efficientnet-lite0 -> mlp': the networks of a chain in their order."""
    if card is None:
        return None
    parts = card.get("parts", ())
    return " -> ".join(str(_backbone(part)) for part in parts) if parts else str(card.get("name"))
