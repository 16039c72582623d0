"""One of several processes that train together: `python gather_worker.py RANK WORLD FOLDER`."""

from __future__ import annotations

import gc
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassDistances, ClassificationLoss, KLLoss, MarginalLoss, SimilarityLoss
from kinhash.losses.gather import gather, gather_targets

B, D, BITS, CLASSES = 12, 5, 6, 4


def batch() -> tuple[Tensor, Targets]:
    """The joint batch, the same in every process; half of it is mixed."""
    draw = torch.Generator().manual_seed(1)
    labels, other = (torch.randint(CLASSES, (B,), generator=draw) for _ in range(2))
    weight = torch.where(torch.arange(B) % 2 == 0, 1.0, 0.7)
    return torch.randn(B, D, generator=draw), Targets(labels, other, weight)


class Model(nn.Module):
    """Codes, and a head that reads them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.codes = nn.Sequential(nn.Linear(D, BITS), nn.Tanh())
        self.head = nn.Linear(BITS, CLASSES)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        z = self.codes(x)
        return z, self.head(z)


def total_loss(z: Tensor, logits: Tensor, targets: Targets) -> Tensor:
    """SIM + KL + MARGINAL + CLASS of a joint batch; the draws of KL come from the seed."""
    D_classes = 1 - torch.eye(CLASSES)
    D_classes[0, 1] = D_classes[1, 0] = 0.25
    torch.manual_seed(
        3 + dist.get_rank() if dist.is_initialized() else 3
    )  # ranks draw differently on purpose
    losses = [SimilarityLoss(ClassDistances(D_classes)), KLLoss(neighbours="other_class"), MarginalLoss()]
    classes = ClassificationLoss()(logits, targets)
    return torch.stack([loss(z, targets) for loss in losses]).sum() + classes


def main(rank: int, world: int, folder: Path) -> None:
    meeting = f"file://{folder / 'meeting'}"
    dist.init_process_group(
        "gloo", init_method=meeting, rank=rank, world_size=world, timeout=timedelta(seconds=60)
    )
    torch.save(loss_and_gradients(rank, world), folder / f"{rank}.pt")
    gc.collect()  # the DistributedDataParallel: one that outlives its group makes the process abort at its end
    dist.destroy_process_group()


def loss_and_gradients(rank: int, world: int) -> dict[str, Any]:
    """Of the joint loss, as this process sees them."""
    x, targets = batch()
    mine = slice(rank * B // world, (rank + 1) * B // world)
    assert targets.other is not None
    assert targets.weight is not None
    own = Targets(targets.labels[mine], targets.other[mine], targets.weight[mine])
    net = nn.parallel.DistributedDataParallel(Model())
    z, logits = net(x[mine])
    loss = total_loss(gather(z), gather(logits), gather_targets(own))
    loss.backward()
    return {"loss": loss.detach(), "gradients": [p.grad for p in net.parameters()]}


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
