"""Methods: what is trained on what. One file each, and one table."""

from __future__ import annotations

import difflib

from kinhash.errors import InputError
from kinhash.methods.center import CENTER
from kinhash.methods.contract import LossOptions, Method, Objective, Problem
from kinhash.methods.correlation import CORRELATION
from kinhash.methods.csq import CSQ
from kinhash.methods.dch import DCH
from kinhash.methods.devise import DEVISE
from kinhash.methods.dpn import DPN
from kinhash.methods.greedyhash import GREEDYHASH
from kinhash.methods.hashnet import HASHNET
from kinhash.methods.hierarchical import HIERARCHICAL
from kinhash.methods.kin import KIN
from kinhash.methods.label_embedding import LABEL_EMBEDDING
from kinhash.methods.linear import LINEAR
from kinhash.methods.one_hot import ONE_HOT
from kinhash.methods.orthohash import ORTHOHASH
from kinhash.methods.posterior import POSTERIOR
from kinhash.methods.shc import SHC
from kinhash.methods.spreading import SPREADING
from kinhash.methods.tie_aware import TIE_AWARE
from kinhash.methods.usdh import USDH

# name -> method; a rival adds one file and one line
METHODS: dict[str, Method] = {
    **KIN,
    # named in the paper
    "devise": DEVISE,
    "center": CENTER,
    "label-embedding": LABEL_EMBEDDING,
    **CORRELATION,
    "hierarchical": HIERARCHICAL,
    "one-hot": ONE_HOT,
    "usdh": USDH,
    "spreading": SPREADING,
    **TIE_AWARE,
    **LINEAR,
    # peers of today
    "hashnet": HASHNET,
    "dch": DCH,
    "greedyhash": GREEDYHASH,
    "csq": CSQ,
    "dpn": DPN,
    "orthohash": ORTHOHASH,
    "shc": SHC,
    "posterior": POSTERIOR,
}


def find_method(name: str) -> Method:
    """The method called `name`, in any case; an unknown name is an error that lists what there is."""
    found = METHODS.get(name.lower())
    if found is None:
        close = difflib.get_close_matches(name.lower(), METHODS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InputError(f"there is no method {name!r}{hint} Known are: {', '.join(METHODS)}")
    return found


__all__ = ["METHODS", "LossOptions", "Method", "Objective", "Problem", "find_method"]
