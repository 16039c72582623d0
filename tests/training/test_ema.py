from __future__ import annotations

import torch
from torch import nn

from kinhash.training.ema import MovingAverage


def test_the_average_is_the_one_of_the_formula() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    average = MovingAverage(net, decay=0.9)
    weight, mean = net[0].weight.detach().clone(), net[1].running_mean.clone()  # type: ignore[union-attr,operator]
    for step in range(1, 200):
        with torch.no_grad():
            net[0].weight.add_(torch.randn(2, 3))
        net(torch.randn(8, 3))
        average.update(step)
        d = min(0.9, step / (step + 9))
        weight = d * weight + (1 - d) * net[0].weight.detach()
        mean = d * mean + (1 - d) * net[1].running_mean  # type: ignore[operator]
    torch.testing.assert_close(average.network[0].weight, weight)  # type: ignore[index]
    torch.testing.assert_close(average.network[1].running_mean, mean)  # type: ignore[index]
    assert average.network[1].num_batches_tracked == 199  # type: ignore[index]
    assert not average.network.training
    assert not any(p.requires_grad for p in average.network.parameters())
