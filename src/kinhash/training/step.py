"""One training step: forward, losses in float32, backward, update. Nothing here waits for the device."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from kinhash.feeding.targets import Targets
from kinhash.losses.gather import gather, gather_targets
from kinhash.models.network import Outputs


class Trainee(nn.Module):
    """Network and objective as one module, so that everything that learns is in one place.

    The objective sees the outputs and targets of all processes: losses over pairs need every pair.
    """

    def __init__(self, network: nn.Module, objective: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.objective = objective
        self.names: tuple[str, ...] = ()  # of the terms, known after the first step

    def forward(self, inputs: Tensor, targets: Targets) -> Tensor:
        """(T,) weighted terms."""
        outputs = self.network(inputs)
        joint = Outputs(
            gather(outputs.z.float()),
            _gathered(outputs.logits),
            _gathered(outputs.regression),
            _gathered(inputs) if inputs.ndim == 2 else None,
            _gathered(self._sentences(targets)),
        )
        with torch.autocast(outputs.z.device.type, enabled=False):  # distances and centres need all digits
            terms = self.objective(joint, gather_targets(targets))
        self.names = tuple(terms)
        return torch.stack(list(terms.values()))

    def _sentences(self, targets: Targets) -> Tensor | None:
        head = getattr(self.network, "text", None)
        return None if head is None or targets.captions is None else head(targets.captions)


def _gathered(part: Tensor | None) -> Tensor | None:
    return None if part is None else gather(part.float())


class Step:
    """Trains on one batch per call, and sums up the terms of the loss on the device."""

    def __init__(
        self,
        module: nn.Module,
        optimiser: torch.optim.Optimizer,
        device: torch.device,
        *,
        loss_scale: float = 1.0,
        clip: float = 0.0,
    ) -> None:
        self.module = module  # a Trainee, or one wrapped for several processes
        self.optimiser = optimiser
        self.device = device
        self.loss_scale = loss_scale
        self.clip = clip
        self.sums: Tensor | None = None
        self.count = 0
        self._parameters = [p for p in module.parameters() if p.requires_grad]

    def __call__(self, inputs: Tensor, targets: Targets) -> None:
        self.compute(inputs, targets)
        self.count += 1

    def compute(self, inputs: Tensor, targets: Targets) -> None:
        """What a CUDA graph captures."""
        cuda = self.device.type == "cuda"
        # a cache of cast weights would outlive a captured graph; every weight is used once anyway
        with torch.autocast(self.device.type, torch.bfloat16, enabled=cuda, cache_enabled=False):
            terms = self.module(inputs, targets)
        (self.loss_scale * terms.sum()).backward()
        if self.clip:
            nn.utils.clip_grad_norm_(self._parameters, self.clip)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        if self.sums is None:
            self.sums = torch.zeros_like(terms.detach())
        self.sums += terms.detach()

    def begin(self) -> None:
        """Start to sum up anew."""
        self.count = 0
        if self.sums is not None:
            self.sums.zero_()

    def means(self) -> dict[str, float]:
        """The mean of every term since `begin`, and of their sum as "loss"; waits for the device."""
        if self.sums is None or not self.count:
            return {}
        values = (self.sums / self.count).tolist()
        return {"loss": sum(values), **dict(zip(self.trainee.names, values, strict=True))}

    @property
    def trainee(self) -> Trainee:
        return cast(Trainee, getattr(self.module, "module", self.module))
