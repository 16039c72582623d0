"""Methods: what is trained on what. One file each, and one table."""

from __future__ import annotations

import difflib

from kinhash.errors import InputError
from kinhash.methods.center import CENTER
from kinhash.methods.contract import LossOptions, Method, Problem
from kinhash.methods.kin import KIN

# name -> method; a rival adds one file and one line
METHODS: dict[str, Method] = {
    **KIN,
    # named in the paper
    "center": CENTER,
    # peers of today
    # zero-shot
}


def find_method(name: str) -> Method:
    """The method called `name`, in any case; an unknown name is an error that lists what there is."""
    found = METHODS.get(name.lower())
    if found is None:
        close = difflib.get_close_matches(name.lower(), METHODS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InputError(f"there is no method {name!r}{hint} Known are: {', '.join(METHODS)}")
    return found


__all__ = ["METHODS", "LossOptions", "Method", "Problem", "find_method"]
