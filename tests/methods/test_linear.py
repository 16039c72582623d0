"""LSH, PCA-sign, ITQ and one-hot codes: what is fitted, against numpy and against what the codes are known to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from training import toy

import kinhash as kh
from kinhash.errors import InputError
from kinhash.methods import METHODS
from kinhash.methods.contract import Fitting, LossOptions, Problem, Seen
from kinhash.models.coders import Affine


def rows(n: int = 200, width: int = 12) -> torch.Tensor:
    """Correlated numbers around 3."""
    draw = torch.Generator().manual_seed(0)
    return torch.randn(n, width, generator=draw) @ torch.randn(width, width, generator=draw) + 3


def fitted(name: str, bits: int, seed: int = 0) -> Affine:
    fit = METHODS[name].fit
    assert fit is not None
    problem = Problem(bits=bits, options=LossOptions(), seed=seed, parameters=METHODS[name].parameters)
    coder = fit(Fitting(problem, None, lambda: Seen(rows(), None, None)))
    assert isinstance(coder, Affine)
    return coder


def test_random_planes_are_gaussian_and_pass_through_the_mean() -> None:
    coder = fitted("lsh", 4000)
    torch.testing.assert_close(coder.mean, rows().mean(0))
    assert abs(float(coder.weight.mean())) < 0.02
    assert float(coder.weight.std()) == pytest.approx(1, abs=0.02)
    signs = coder(rows(), None) >= 0
    a, b = rows()[0] - coder.mean, rows()[1] - coder.mean
    angle = torch.arccos(a @ b / a.norm() / b.norm()) / torch.pi
    assert float((signs[0] != signs[1]).float().mean()) == pytest.approx(float(angle), abs=0.03)
    assert not torch.equal(fitted("lsh", 8).weight, fitted("lsh", 8, seed=1).weight)


def test_principal_directions_are_those_of_numpy() -> None:
    coder, X = fitted("pca-sign", 5), rows().double().numpy()
    values, vectors = np.linalg.eigh(np.cov(X.T))
    leading = vectors[:, np.argsort(-values)[:5]]
    agreement = np.abs(leading.T @ coder.weight.double().numpy())
    np.testing.assert_allclose(agreement, np.eye(5), atol=1e-5)
    assert bool((coder.weight.gather(0, coder.weight.abs().argmax(0, keepdim=True)) > 0).all())


def quantisation(coder: Affine) -> float:
    made = coder(rows(), None)
    return float((made.sign() - made).square().mean())


def test_iterative_quantisation_turns_the_same_space_and_loses_less() -> None:
    plain, turned = fitted("pca-sign", 6), fitted("itq", 6)
    torch.testing.assert_close(turned.weight.T @ turned.weight, torch.eye(6), atol=1e-5, rtol=0)
    inside = plain.weight @ (plain.weight.T @ turned.weight)
    torch.testing.assert_close(inside, turned.weight, atol=1e-5, rtol=0)
    assert quantisation(turned) < quantisation(plain)


def test_the_rotation_is_the_procrustes_solution_at_every_turn() -> None:
    """One turn, written with numpy: R = U V^T of (X^T B) = U S V^T."""
    from kinhash.methods.linear import principal_directions, rotated_directions

    problem = Problem(bits=4, options=LossOptions(), parameters={"turns": 1})
    centred = rows() - rows().mean(0)
    fitting = Fitting(problem, None, lambda: Seen(rows(), None, None))
    V = principal_directions(fitting, centred).numpy()
    draw = torch.randn(4, 4, generator=problem.generator(), dtype=torch.float64)
    X, R = centred.double().numpy() @ V, torch.linalg.qr(draw)[0].numpy()
    U, _, Wt = np.linalg.svd(X.T @ np.where(X @ R >= 0, 1.0, -1.0))
    np.testing.assert_allclose(rotated_directions(fitting, centred).numpy(), V @ U @ Wt, atol=1e-8)


@pytest.mark.parametrize("name", ["pca-sign", "itq"])
def test_no_more_principal_directions_than_features(name: str) -> None:
    with pytest.raises(InputError, match=r"bits=12 or fewer, or choose 'lsh'"):
        fitted(name, 13)


def test_what_trains_nothing_needs_features() -> None:
    with pytest.raises(
        InputError, match=r"lsh works on given features: pass embeddings, a pretrained backbone"
    ):
        toy.run(toy.pictures(), method="lsh", backbone="resnet8w", batch=16)
    with pytest.raises(InputError, match=r"trains no network, and the backbone 'mlp'"):
        toy.run(method="itq", backbone="mlp")


def test_codes_of_a_trained_backbone() -> None:
    split = toy.pictures()
    trained = toy.run(split, method="class", backbone="resnet8w", epochs=2, batch=32)
    encoder = toy.run(split, method="itq", backbone=trained.network.backbone, frozen=True, bits=8)
    assert encoder.takes == "pictures"
    assert encoder.encode(split).bits == 8
    with pytest.raises(InputError, match="without classes"):
        encoder.predict(split)


def test_nothing_trained_is_still_a_run_with_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "run"
    unlabelled = kh.Split(vectors=toy.vectors().vectors)
    encoder = toy.run(unlabelled, method="lsh", semantics=None, out=out)
    assert {path.name for path in out.iterdir()} >= {"config.json", "metrics.json", "encoder"}
    assert encoder.encode(unlabelled) == kh.load_encoder(out / "encoder", device="cpu").encode(unlabelled)


def test_one_hot_codes() -> None:
    split = toy.vectors()
    encoder = toy.run(split, method="one-hot", bits=12)
    bits, guessed = encoder.encode(split).to_bits(), encoder.predict(split).argmax(1)
    assert bits.shape[1] == 12
    np.testing.assert_array_equal(bits[:, :8].argmax(1), guessed)
    np.testing.assert_array_equal(bits.sum(1), 1)
    with pytest.raises(
        InputError, match=r"one-hot codes of 8 classes have no room in 4 bits: pass bits=8 or more"
    ):
        toy.run(split, method="one-hot", bits=4)
