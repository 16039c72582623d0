"""What an encoder's outputs are for: codes, floats or both, and how floats are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from kinhash.arrays import checked_choice
from kinhash.errors import InputError

Retrieves = Literal["codes", "floats", "both"]
Metric = Literal["l1", "l2", "cosine"]


@dataclass(frozen=True)
class Retrieval:
    """How to search with what an encoder gives. `method`: the one it was trained by, if any."""

    retrieves: Retrieves = "both"
    metric: Metric = "l1"  # of floats; with "cosine" the encoder gives unit vectors, compared by dot product
    method: str = ""

    def __post_init__(self) -> None:
        checked_choice(self.retrieves, get_args(Retrieves), "retrieves")
        checked_choice(self.metric, get_args(Metric), "metric")

    @property
    def distance(self) -> str:
        """The metric for `kh.evaluate`."""
        return "dot" if self.metric == "cosine" else self.metric

    @property
    def shown(self) -> str:
        """For people: "codes", "floats (l2)" or "codes, floats (l1)"."""
        floats = f"floats ({self.metric})"
        return {"codes": "codes", "floats": floats, "both": f"codes, {floats}"}[self.retrieves]

    def check_codes(self) -> None:
        """Refuse to make codes where the method has none."""
        if self.retrieves == "floats":
            raise InputError(no_codes(self.method or "this encoder's method"))

    def card(self) -> dict[str, Any]:
        """Plain values for json."""
        return asdict(self)

    @classmethod
    def from_card(cls, card: Mapping[str, Any] | None) -> Retrieval:
        """What `card` wrote; encoders from before there were float methods have none."""
        return cls() if card is None else cls(**card)


def no_codes(method: str) -> str:
    """What to do when a float method is asked for codes."""
    return (
        f"{method} retrieves with floats and makes no codes: ask for encode(..., floats=True), or train a method that "
        "makes codes, such as 'sim-kl-class' (`kinhash methods` lists them)"
    )
