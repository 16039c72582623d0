"""SHC and the posterior baseline: their centres and planes, against the formula."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from methods import cases
from training import toy

from kinhash.errors import InputError
from kinhash.meaning.class_codes import class_codes, separation
from kinhash.methods import METHODS
from kinhash.methods.contract import Fitting, Seen
from kinhash.methods.posterior import spectral


def test_shc_learns_like_csq_but_to_centres_that_follow_meaning() -> None:
    shc, csq = cases.objective("shc", shc_weight=0.3), cases.objective("csq", csq_weight=0.3)
    centres = shc.centres.numpy()
    expected = class_codes(cases.DISTANCES.numpy(), 16, least=round(separation(6, 16) / 4)).signs
    np.testing.assert_array_equal(centres, expected)
    differ = (centres[:, None] != centres[None]).sum(2)
    assert differ[0, 1] < differ[0, 2] < differ[0, 5]
    csq.centres.copy_(shc.centres)
    outputs, targets = cases.outputs(16), cases.targets(mixed=True)
    for name, value in csq(outputs, targets).items():
        assert shc(outputs, targets)[name].item() == value.item()


@pytest.mark.parametrize(("share", "least"), [(0.0, 1), (0.5, 3), (1.0, 6)])
def test_centres_of_shc_keep_their_distance(share: float, least: int) -> None:
    centres = cases.objective("shc", shc_separation=share).centres
    differ = (centres[:, None] != centres[None]).sum(2) + 99 * torch.eye(6)
    assert differ.min() >= least


def test_what_shc_and_the_posterior_cannot_do() -> None:
    for name in ("shc", "posterior"):
        with pytest.raises(InputError, match="need at least 3 bits"):
            cases.problem(name, bits=2)
    with pytest.raises(InputError, match="got 1"):
        cases.problem("shc", shc_separation=1.5)
    with pytest.raises(InputError, match="posterior_planes is one of"):
        cases.problem("posterior", posterior_planes="best")


@pytest.mark.parametrize("planes", ["learned", "random"])
def test_the_posterior_cuts_the_expected_class_embedding(planes: str) -> None:
    problem = cases.problem("posterior", 32, posterior_planes=planes)
    fit = METHODS["posterior"].fit
    assert fit is not None
    coder = fit(Fitting(problem, None, lambda: Seen(torch.empty(0), None, None)))
    draw = torch.Generator().manual_seed(0)
    logits = torch.randn(7, cases.CLASSES, generator=draw)
    got = coder(torch.empty(7, 12), logits).double().numpy()
    E = spectral(cases.DISTANCES.double().numpy())
    np.testing.assert_allclose(E @ E.T, 1 - cases.DISTANCES.double().numpy(), atol=1e-6)
    if planes == "random":
        W = np.random.default_rng(0).normal(size=(E.shape[1], 32))
    else:
        codes = class_codes(cases.DISTANCES.numpy(), 32).signs
        centred = E - E.mean(0)
        gram = sum(np.outer(row, row) for row in centred)
        W = np.linalg.solve(gram + 1e-3 * np.trace(gram) / len(gram) * np.eye(len(gram)), centred.T @ codes)
    for b in range(7):
        p = np.exp(logits[b].double().numpy())
        expected = sum(p[c] / p.sum() * (E[c] - E.mean(0)) for c in range(cases.CLASSES))
        np.testing.assert_allclose(got[b], expected @ W, atol=1e-5)


def test_codes_of_the_posterior_are_those_of_its_classes_where_it_is_sure() -> None:
    """On eight classes in a row, learned planes keep the order of distances."""
    encoder = toy.run(toy.vectors(noise=0.05), method="posterior", bits=64, epochs=40)
    test = toy.vectors(64, seed=5, noise=0.05)
    signs = encoder.encode(test).to_signs()
    means = np.stack([signs[test.targets() == c].mean(0) for c in range(8)])
    apart = (1 - means @ means.T / 64)[0]
    assert (np.diff(apart[:6]) >= 0).all()
    assert apart[5] > apart[1] + 0.5
    assert dataclasses.asdict(encoder.retrieval)["metric"] == "cosine"
