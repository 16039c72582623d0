"""What a method fits in closed form once the training is over, attached to the network."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from kinhash.data.splits import Split
from kinhash.methods.contract import Fitting, Method, Problem, Seen
from kinhash.models.inference import device_of, run, stacked
from kinhash.models.network import HashNetwork

_ROWS = (
    100_000  # of the training rows, at most: more change a closed form by less than the choice of the seed
)


def fit_coder(
    method: Method, network: HashNetwork, objective: nn.Module | None, problem: Problem, split: Split
) -> None:
    """Give the network the coder of the method, where it has one."""
    if method.fit is None:
        return
    device = device_of(network)
    network.coder = method.fit(Fitting(problem, objective, lambda: _seen(network, split, problem)))
    network.to(device)


def _seen(network: HashNetwork, split: Split, problem: Problem) -> Seen:
    if len(split) > _ROWS:
        split = split.take(
            torch.randperm(len(split), generator=problem.generator())[:_ROWS].sort()[0].numpy()
        )

    def all_of_it(x: Tensor) -> Tensor:
        out = network(x)
        return out.z if out.logits is None else torch.cat([out.z, out.logits.float()], dim=1)

    width = network.hash.width
    parts = run(network, all_of_it, split, network.backbone.preprocessing, broken=[])
    positions, values = stacked(parts, width + network.classes)
    labels = None if split.labels is None else torch.as_tensor(np.asarray(split.labels)[positions])
    logits = torch.from_numpy(values[:, width:]) if network.classes else None
    return Seen(torch.from_numpy(values[:, :width]), logits, labels)
