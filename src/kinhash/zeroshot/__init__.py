"""Classes of which no item was seen, known by a vector each: one face for five methods, without torch.

`fit(features, labels, vectors)` learns from items of seen classes and the vectors of these classes; then
`scores(features, vectors)` says how well items fit unseen classes, the higher the better. Methods with codes
also have `codes(features)` and `class_codes(vectors)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from numpy.typing import ArrayLike

from kinhash.zeroshot.bzsl import BZSL
from kinhash.zeroshot.conse import ConSE
from kinhash.zeroshot.exem import EXEM
from kinhash.zeroshot.inputs import Floats
from kinhash.zeroshot.kin import KinCodes
from kinhash.zeroshot.sync import SynC


class ZeroShot(Protocol):
    """What every method can do."""

    def fit(self, features: ArrayLike, labels: ArrayLike, vectors: ArrayLike, /) -> ZeroShot: ...

    def scores(self, features: ArrayLike, vectors: ArrayLike, /) -> Floats: ...


class Line(NamedTuple):
    """One line of the table."""

    make: Callable[..., ZeroShot]
    paper: str
    year: int
    formula: str


ZERO_SHOT: dict[str, Line] = {
    "conse": Line(
        ConSE, "Norouzi et al., ICLR", 2014, "cos(sum_t p_t s_t, s_u) over the 10 likeliest classes"
    ),
    "sync": Line(
        SynC, "Changpinyo et al., CVPR", 2016, "w_u = sum_r s_ur v_r, s = softmax(-|a_u - b_r|^2 / sigma^2)"
    ),
    "exem": Line(
        EXEM, "Changpinyo et al., ICCV", 2017, "nearest exemplar, predicted from a_u by RBF regressions"
    ),
    "bzsl": Line(BZSL, "Shen et al., IEEE TIP", 2019, "Hamming(sgn P x, sgn Q a_u)"),
    "kin": Line(KinCodes, "kinhash", 2026, "cos(R T x, sum_c k(a_u, a_c) b_c), T whitens within classes"),
}

__all__ = ["BZSL", "EXEM", "ZERO_SHOT", "ConSE", "KinCodes", "Line", "SynC", "ZeroShot"]
