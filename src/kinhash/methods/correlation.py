"""L_CORR: outputs point to the embedding of their class, and inner products of these are the similarities of classes.

Barz & Denzler: Hierarchy-based Image Embeddings for Semantic Image Retrieval (WACV 2019). With E E^T = S, S = 1 - distances:

    L_CORR = mean_b (1 - E_{y_b} . f_b / |f_b|),   L_CORR+CLS = L_CORR + lambda CE,   lambda = .1

where the class head sees the normalised outputs through ReLU and batch norm. By default there are as many dimensions as
classes and E is exact; a similarity that is not positive definite (Wu-Palmer often is not) gets the
nearest embeddings, and so do fewer dimensions. Their rows are divided by their lengths, so that the loss ends at 0.
Search is by the inner product.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.meaning.class_embeddings import class_embeddings, similarity_of, usable_dimensions
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.models.network import Outputs


class CorrelationObjective(Objective):
    """The cosine to the embedding of the class (of a mixed sample: to the mixture), and a class head."""

    embeddings: Tensor

    def __init__(self, problem: Problem, by_class: bool) -> None:
        super().__init__()
        self.name = "class" if by_class else "head"
        self.weight = float(problem.parameters["class_share"]) if by_class else 1.0
        self.register_buffer("embeddings", unit_embeddings(problem))
        self.classify = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "corr", and "class" or "head"."""
        wanted = targets.soft(len(self.embeddings), outputs.z.dtype) @ self.embeddings
        corr = 1 - (wanted * torch.nn.functional.normalize(outputs.z)).sum(1).mean()
        return {"corr": corr, self.name: self.weight * self.classify(outputs.logits, targets)}


def unit_embeddings(problem: Problem) -> Tensor:
    """(C, dimensions) unit rows whose inner products are, or come near to, the similarities."""
    S = similarity_of(problem.known_distances().double().numpy())
    asked = int(problem.parameters["dimensions"])
    try:
        E = class_embeddings(S, asked or None)
    except InputError:
        if asked:
            raise
        near = class_embeddings(S, usable_dimensions(S))
        E = np.zeros((len(S), len(S)))  # no direction beyond those that the similarity has
        E[:, : near.shape[1]] = near
    return torch.nn.functional.normalize(torch.tensor(E, dtype=torch.float32))


def _method(name: str, about: str, by_class: bool) -> Method:
    return Method(
        about,
        lambda problem: CorrelationObjective(problem, by_class),
        paper="Barz & Denzler, WACV",
        year=2019,
        formula="1 - E_y . f/|f|" + (" + .1 CE" if by_class else ""),
        retrieves="floats",
        metric="cosine",
        needs=frozenset({"labels", "semantics"}),
        recipe={**PLAIN, "activation": "unit"},
        parameters={"dimensions": 0} | ({"class_share": 0.1} if by_class else {}),
        width=lambda problem: int(problem.parameters["dimensions"]) or problem.classes,
        reading="relu-norm",
        shapes_by_class=by_class,
        check=_check,
    )


def _check(problem: Problem) -> None:
    if not 0 <= int(problem.parameters["dimensions"]) <= problem.classes:
        raise InputError(
            f"dimensions is from 1 to {problem.classes}, the number of classes (or 0 for that), got "
            f"{problem.parameters['dimensions']}"
        )
    unit_embeddings(problem)  # says which dimensions there are


CORRELATION: dict[str, Method] = {
    "lcorr": _method("lcorr", "outputs point to the hierarchy-based embedding of their class", False),
    "lcorr-cls": _method("lcorr-cls", "as lcorr, and a classifier reads the outputs", True),
}
