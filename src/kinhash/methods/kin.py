"""Kin: the losses of Arponen & Bishop (2020) in all their combinations.

`L = w_sim L_sim + w_kl L_KL + w_class L_cls + w_reg L_reg`, plus the per-bit quantile term where it has a weight.

With a text head sentences are samples like any other: L_sim sees pictures and sentences in one batch of twice the
size, L_KL and the quantile term see each kind alone, and `w_match L_match` asks every picture for its own sentence.
"""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor, nn

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.losses import (
    ClassDistances,
    ClassificationLoss,
    KLLoss,
    MarginalLoss,
    MatchingLoss,
    RegressionLoss,
    SimilarityLoss,
    VectorDistances,
    hierarchical_smoothing,
)
from kinhash.methods.contract import Method, Need, Objective, Problem
from kinhash.models.network import Outputs


class KinObjective(Objective):
    """The terms that `parts` names. Without "class", a head that only reads the codes is trained as the term "head"."""

    class_vectors: Tensor | None

    def __init__(self, problem: Problem, parts: frozenset[str]) -> None:
        super().__init__()
        o = problem.options
        self.terms = nn.ModuleDict()
        self.weights: dict[str, float] = {}
        if "sim" in parts:
            self._add("sim", SimilarityLoss(_distances(problem), o.gamma, o.rho), o.sim_weight)
        if "kl" in parts:
            self._add("kl", KLLoss(a=o.beta, neighbours=o.kl_neighbours), o.kl_weight)
        if o.marginal_weight:
            self._add("marginal", MarginalLoss(o.beta), o.marginal_weight)
        if problem.classes:
            name = "class" if "class" in parts else "head"
            self._add(name, ClassificationLoss(_smoothing(problem)), o.class_weight)
        if "reg" in parts:
            self._add("reg", RegressionLoss(), o.reg_weight)
        self.match = MatchingLoss() if problem.sentences else None
        self.match_weight = o.match_weight
        self.register_buffer("class_vectors", problem.class_vectors, persistent=False)

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Weighted terms by name."""
        targets = self._with_vectors(targets)
        seen = {"class": outputs.logits, "head": outputs.logits, "reg": outputs.regression}
        found = {
            name: weight * self.terms[name](seen.get(name, outputs.z), targets)
            for name, weight in self.weights.items()
            if outputs.text is None or name in seen
        }
        return found if outputs.text is None else found | self._with_text(outputs.z, outputs.text, targets)

    def _with_text(self, z: Tensor, text: Tensor, targets: Targets) -> dict[str, Tensor]:
        """The terms that see sentences as well."""
        found = {}
        if "sim" in self.weights:
            joint = torch.cat([z, text])
            found["sim"] = self.weights["sim"] * self.terms["sim"](joint, targets.with_sentences())
        for name in [name for name in ("kl", "marginal") if name in self.weights]:
            both = self.terms[name](z, targets) + self.terms[name](text, targets)
            found[name] = self.weights[name] * both / 2
        assert self.match is not None, "there is a text head, so the problem says so"
        return found | {"match": self.match_weight * self.match(z, text)}

    def _add(self, name: str, loss: nn.Module, weight: float) -> None:
        self.terms[name] = loss
        self.weights[name] = weight

    def _with_vectors(self, targets: Targets) -> Targets:
        if targets.vectors is not None or self.class_vectors is None:
            return targets
        vectors = targets.soft(len(self.class_vectors), self.class_vectors.dtype) @ self.class_vectors
        return dataclasses.replace(targets, vectors=vectors)


def _distances(problem: Problem) -> nn.Module:
    return VectorDistances() if problem.distances is None else ClassDistances(problem.distances)


def _smoothing(problem: Problem) -> Tensor | None:
    if not problem.options.smoothing:
        return None
    if problem.distances is None:
        raise InputError("label smoothing follows the distances between classes, and there are none here")
    table: Tensor = hierarchical_smoothing(
        torch.as_tensor(problem.distances), problem.options.smoothing, problem.options.smoothing_beta
    )
    return table


_NEEDS: dict[str, tuple[Need, ...]] = {"class": ("labels",), "sim": ("meaning",), "reg": ("meaning",)}
_FORMULAS = {
    "sim": "mean |D/mean(D) - Y/mean(Y)| w",
    "kl": "a KL(z | 2 Beta - 1)",
    "class": "b CE(W z, y)",
    "reg": "b (1 - cos(W z, v))",
}


def _method(name: str, about: str) -> Method:
    parts = frozenset(name.split("-"))
    needs = {need for part in parts for need in _NEEDS.get(part, ())}
    return Method(
        about,
        lambda problem: KinObjective(problem, parts),
        paper="Arponen & Bishop",
        year=2020,
        formula=" + ".join(_FORMULAS[part] for part in name.split("-")),
        shapes_by_class="class" in parts,
        regresses="reg" in parts,
        matches_text=True,
        needs=frozenset(needs),
    )


KIN: dict[str, Method] = {
    name: _method(name, about)
    for name, about in {
        "sim": "distances between codes follow distances between meanings",
        "class": "a classifier on the codes, nothing else",
        "kl-class": "a classifier on codes that spread over the cube",
        "sim-kl": "distances follow meanings, codes spread over the cube",
        "sim-class": "distances follow meanings, and a classifier reads the codes",
        "sim-kl-class": "distances follow meanings, codes spread, a classifier reads them (the default)",
        "reg": "the codes predict the embedding of the target",
        "kl-reg": "the codes predict the embedding of the target and spread over the cube",
        "sim-kl-reg": "distances follow meanings, codes spread and predict the embedding of the target",
    }.items()
}
