"""CSQ, DPN, OrthoHash and GreedyHash against loops; and what the centres of classes promise."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from methods import cases

import kinhash as kh
from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.methods.binary_targets import centres_of, check_centres, hadamard
from kinhash.models import HashNetwork


def aims(objective: torch.nn.Module, targets: Targets) -> np.ndarray:
    centres = objective.centres.numpy()
    return targets.soft(cases.CLASSES, torch.float64).numpy() @ centres


@pytest.mark.parametrize("mixed", [False, True])
def test_csq_is_the_cross_entropy_of_bits(mixed: bool) -> None:
    objective = cases.objective("csq", csq_weight=0.3)
    outputs, targets = cases.outputs(16), cases.targets(mixed=mixed)
    z, c = outputs.z.detach().numpy(), aims(objective, targets)
    central, quantise = 0.0, 0.0
    for b in range(9):
        for j in range(16):
            h, bit = (1 + z[b, j]) / 2, (1 + c[b, j]) / 2
            central -= bit * math.log(h) + (1 - bit) * math.log(1 - h)
            quantise += (abs(z[b, j]) - 1) ** 2
    terms = objective(outputs, targets)
    assert terms["central"].item() == pytest.approx(central / 144, rel=1e-4)
    assert terms["quantise"].item() == pytest.approx(0.3 * quantise / 144)


def test_csq_stays_finite_where_outputs_are_signs() -> None:
    objective, targets = cases.objective("csq"), cases.targets()
    signs = torch.ones(9, 16, dtype=torch.float64, requires_grad=True)
    total = sum(objective(cases.outputs(16)._replace(z=signs), targets).values())
    (gradient,) = torch.autograd.grad(total, signs)
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("mixed", [False, True])
def test_dpn_is_a_hinge_on_every_output(mixed: bool) -> None:
    objective = cases.objective("dpn", dpn_margin=0.4)
    outputs, targets = cases.outputs(16), cases.targets(mixed=mixed)
    u, t = outputs.z.detach().numpy(), aims(objective, targets)
    expected = np.mean([max(0.0, 0.4 - u[b, j] * t[b, j]) for b in range(9) for j in range(16)])
    assert objective(outputs, targets)["polar"].item() == pytest.approx(expected)


@pytest.mark.parametrize("mixed", [False, True])
def test_orthohash_is_a_cross_entropy_of_cosines_with_a_margin(mixed: bool) -> None:
    objective = cases.objective("orthohash", orthohash_scale=5.0, orthohash_margin=0.3)
    outputs, targets = cases.outputs(16), cases.targets(mixed=mixed)
    u, o = outputs.z.detach().numpy(), np.sign(objective.centres.numpy())
    shares, total = targets.soft(cases.CLASSES, torch.float64).numpy(), 0.0
    for b in range(9):
        cosines = [u[b] @ o[c] / np.linalg.norm(u[b]) / 4 for c in range(cases.CLASSES)]
        logits = [5 * (cosine - 0.3 * shares[b, c]) for c, cosine in enumerate(cosines)]
        sums = math.log(sum(math.exp(value) for value in logits))
        total += sum(shares[b, c] * (sums - logits[c]) for c in range(cases.CLASSES))
    assert objective(outputs, targets)["ortho"].item() == pytest.approx(total / 9, rel=1e-6)


def test_greedyhash_draws_outputs_to_signs_and_classifies_signs() -> None:
    objective, outputs = cases.objective("greedyhash", greedyhash_weight=0.2), cases.outputs(16)
    z = outputs.z.detach().numpy()
    away = np.mean([abs(abs(z[b, j]) - 1) ** 3 for b in range(9) for j in range(16)])
    terms = objective(outputs, cases.targets())
    assert terms["quantise"].item() == pytest.approx(0.2 * away)
    logits = outputs.logits.detach().numpy()
    expected = -np.mean(
        [math.log(math.exp(row[b % 6]) / sum(math.exp(x) for x in row)) for b, row in enumerate(logits)]
    )
    assert terms["class"].item() == pytest.approx(expected)
    network = kh.build_backbone("none", inputs=4)
    head = HashNetwork(network, 8, 3, activation="norm", reading="sign").train()
    z = torch.randn(5, 8, requires_grad=True)
    logits = head.heads(z).logits
    assert logits is not None
    torch.testing.assert_close(logits, head.heads(torch.sign(z.detach())).logits)
    torch.autograd.backward(logits.sum())
    assert z.grad is not None
    assert z.grad.abs().min() > 0  # straight through


@pytest.mark.parametrize("bits", [1, 2, 8, 64])
def test_rows_of_a_hadamard_matrix_are_orthogonal(bits: int) -> None:
    H = hadamard(bits)
    torch.testing.assert_close(H @ H.T, bits * torch.eye(bits))


@pytest.mark.parametrize(("bits", "classes"), [(16, 6), (16, 16), (16, 25), (64, 100), (64, 60)])
def test_hadamard_centres_are_far_apart_and_their_bits_balanced(bits: int, classes: int) -> None:
    asked = dataclasses.replace(cases.problem("csq", bits), classes=classes)
    centres = centres_of(asked, "hadamard")
    products = centres @ centres.T - bits * torch.eye(classes)
    assert products.max() <= 0  # half of the bits differ, or all
    assert (products < 0).sum() <= 2 * max(0, classes - bits)
    assert centres.mean(0).abs().max() < (0.9 if classes >= 16 else 1.1)
    assert torch.equal(centres_of(asked, "auto"), centres)
    other = centres_of(dataclasses.replace(asked, seed=1), "hadamard")
    assert not torch.equal(other, centres)


@pytest.mark.parametrize(("bits", "classes"), [(24, 6), (48, 100), (16, 100)])
def test_random_centres_are_distinct_and_half_set(bits: int, classes: int) -> None:
    asked = dataclasses.replace(cases.problem("csq", 16), bits=bits, classes=classes)
    centres = centres_of(asked, "auto")
    assert centres.sum(1).abs().max() == 0
    assert len({tuple(row) for row in centres.tolist()}) == classes


@pytest.mark.parametrize(
    ("kind", "bits", "classes", "told"),
    [
        ("hadamard", 48, 100, "power of two from 64 on, and 48 is not"),
        ("hadamard", 32, 100, "power of two from 64 on, and 32 is not"),
        ("hadamard", 5, 7, "power of two from 4 on"),
        ("auto", 6, 100, "need at least 7 bits"),
        ("nearest", 64, 100, "centres is one of"),
    ],
)
def test_lengths_that_cannot_be_name_what_works(kind: str, bits: int, classes: int, told: str) -> None:
    asked = dataclasses.replace(cases.problem("csq"), bits=bits, classes=classes)
    with pytest.raises(InputError, match=told):
        check_centres(asked, kind)
    check_centres(dataclasses.replace(asked, bits=64), "auto")
