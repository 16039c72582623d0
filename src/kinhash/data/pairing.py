"""Pictures and captions that belong together; what is left over on either side is listed, never dropped in silence."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from kinhash.data.images import Broken

NO_CAPTION = "it has no caption"
NO_PICTURE = "there is no picture for its caption"


class UnpairedWarning(UserWarning):
    """Pictures without a caption, or captions without a picture, were left out."""


def as_captions(value: object) -> list[str] | None:
    """One caption or several, stripped, the empty ones left out; None for what is no text."""
    texts = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        return None
    return [text.strip() for text in texts if text.strip()]


def warn_of(left: Sequence[Broken], where: object) -> None:
    """One warning with the number and the first of everything that has no counterpart."""
    if left:
        warnings.warn(f"{where}: {told(left)}", UnpairedWarning, stacklevel=3)


def told(left: Sequence[Broken]) -> str:
    """'2 left out because it has no caption, the first one: a.jpg; ...', by reason, the most frequent first."""
    reasons: dict[str, list[Broken]] = {}
    for one in left:
        reasons.setdefault(one.reason, []).append(one)
    parts = sorted(reasons.items(), key=lambda pair: -len(pair[1]))
    return "; ".join(
        f"{len(ones)} left out because {reason}, {'the first one: ' if len(ones) > 1 else ''}{ones[0].id}"
        for reason, ones in parts
    )
