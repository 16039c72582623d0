"""The rivals that the paper names, term by term against float64 loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from methods import cases, oracles
from numpy.typing import NDArray

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.methods.contract import Objective
from kinhash.methods.correlation import unit_embeddings
from kinhash.methods.levels import class_groups
from kinhash.models.network import Outputs

Array = NDArray[np.float64]


def terms(name: str, objective: Any, outputs: Outputs, targets: Targets) -> dict[str, float]:
    return {key: float(value.detach()) for key, value in objective(outputs, targets).items()}


def array(tensor: torch.Tensor | None) -> Array:
    assert tensor is not None
    found: Array = tensor.detach().double().numpy()
    return found


def shares(targets: Targets, b: int) -> dict[int, float]:
    other = None if targets.other is None else targets.other.numpy()
    weight = None if targets.weight is None else targets.weight.double().numpy()
    return oracles.shares_of(targets.labels.numpy(), other, weight, b)


def cross_entropy(logits: Array, targets: Targets) -> float:
    return -float(
        np.mean(
            [
                sum(q * oracles.log_softmax(row, c) for c, q in shares(targets, b).items())
                for b, row in enumerate(logits)
            ]
        )
    )


@pytest.mark.parametrize("mixed", [False, True])
def test_devise(mixed: bool) -> None:
    objective, outputs = cases.objective("devise", devise_margin=0.3), cases.outputs(5)
    targets = cases.targets(mixed=mixed)
    vectors = [oracles.unit(v) for v in array(cases.problem("devise").class_vectors)]
    expected = 0.0
    for b, f in enumerate(array(outputs.z)):
        for y, q in shares(targets, b).items():
            for j in range(cases.CLASSES):
                if j != y:
                    hinge = 0.3 - oracles.dot(vectors[y], f) + oracles.dot(vectors[j], f)
                    expected += q * max(0.0, hinge) / len(targets)
    found = terms("devise", objective, outputs, targets)
    assert found["devise"] == pytest.approx(expected, rel=1e-6)
    assert found["head"] == pytest.approx(cross_entropy(array(outputs.logits), targets), rel=1e-6)


@pytest.mark.parametrize("mixed", [False, True])
def test_center(mixed: bool) -> None:
    objective, outputs = cases.objective("center", center_weight=0.2), cases.outputs(12)
    torch.nn.init.normal_(objective.centres)  # type: ignore[arg-type]
    centres, targets = array(objective.centres), cases.targets(mixed=mixed)  # type: ignore[arg-type]
    expected = 0.0
    for b, f in enumerate(array(outputs.z)):
        centre = sum(q * centres[c] for c, q in shares(targets, b).items())
        expected += 0.2 * 0.5 * oracles.euclid(f, centre) ** 2 / len(targets)
    found = terms("center", objective, outputs, targets)
    assert found["center"] == pytest.approx(expected, rel=1e-6)
    assert found["class"] == pytest.approx(cross_entropy(array(outputs.logits), targets), rel=1e-6)


def test_label_embedding() -> None:
    name = "label-embedding"
    objective: Any = cases.objective(name, label_balance=0.3, label_temperature=3.0, label_limit=0.1)
    outputs, targets = cases.outputs(12), cases.targets()
    assert torch.equal(objective.embedding, torch.eye(cases.CLASSES, dtype=torch.float64))
    torch.nn.init.normal_(objective.embedding)
    torch.nn.init.normal_(objective.second.weight)
    E, W, bias = (array(p) for p in (objective.embedding, objective.second.weight, objective.second.bias))
    o1, z, labels = array(outputs.logits), array(outputs.z), targets.labels.numpy()
    expected = dict.fromkeys(("class", "soft", "second", "embedding", "limit"), 0.0)
    right = 0
    for b, y in enumerate(labels):
        o2 = [oracles.dot(W[c], z[b]) + bias[c] for c in range(cases.CLASSES)]
        soft, p2 = oracles.softmax(list(E[y])), oracles.softmax(o2)
        expected["class"] -= 0.3 * oracles.log_softmax(list(o1[b]), y) / len(labels)
        expected["soft"] -= (
            0.7 / len(labels) * sum(p * oracles.log_softmax(list(o1[b]), c) for c, p in enumerate(soft))
        )
        expected["second"] -= oracles.log_softmax(o2, y) / len(labels)
        expected["limit"] += max(0.0, p2[y] - 0.1) / len(labels)
        if max(range(cases.CLASSES), key=lambda c: o2[c]) == y:
            right += 1
            taught = oracles.softmax([x / 3 for x in o2])
            expected["embedding"] -= sum(p * oracles.log_softmax(list(E[y]), c) for c, p in enumerate(taught))
    assert 0 < right < len(labels)
    expected["embedding"] /= right
    assert terms(name, objective, outputs, targets) == pytest.approx(expected, rel=1e-6)


def test_label_embedding_moves_what_it_should() -> None:
    """The second classifier leaves the features alone, and soft targets are no way to make the loss small."""
    objective: Any = cases.objective("label-embedding")
    outputs = cases.outputs(12)
    found = objective(outputs, cases.targets())
    for term in ("second", "limit", "embedding"):
        assert torch.autograd.grad(found[term], outputs.z, retain_graph=True, allow_unused=True)[0] is None
    assert (
        torch.autograd.grad(found["soft"], objective.embedding, allow_unused=True, retain_graph=True)[0]
        is None
    )
    assert torch.autograd.grad(found["embedding"], objective.second.weight, allow_unused=True)[0] is None


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("name", ["lcorr", "lcorr-cls"])
def test_correlation(name: str, mixed: bool) -> None:
    objective: Any = cases.objective(name)
    E, outputs, targets = array(objective.embeddings), cases.outputs(6), cases.targets(mixed=mixed)
    np.testing.assert_allclose(E @ E.T, 1 - cases.DISTANCES.double().numpy(), atol=1e-6)  # positive definite
    expected = 0.0
    for b, f in enumerate(array(outputs.z)):
        for y, q in shares(targets, b).items():
            expected += q * (1 - oracles.dot(E[y], oracles.unit(f))) / len(targets)
    found = terms(name, objective, outputs, targets)
    assert found.pop("corr") == pytest.approx(expected, rel=1e-5)
    entropy = cross_entropy(array(outputs.logits), targets)
    assert found == pytest.approx({"class": 0.1 * entropy} if name == "lcorr-cls" else {"head": entropy})


def test_correlation_in_fewer_dimensions_and_of_similarities_that_no_vectors_have() -> None:
    few: Any = cases.objective("lcorr", dimensions=3)
    assert few.embeddings.shape == (6, 3)
    np.testing.assert_allclose(few.embeddings.norm(dim=1), 1)
    with pytest.raises(InputError, match="from 1 to 6"):
        cases.problem("lcorr", dimensions=7)
    same = cases.problem("lcorr")
    same.known_distances()[0, 1] = same.known_distances()[1, 0] = 0.0  # two classes that mean the same
    E = unit_embeddings(same)
    assert E.shape == (6, 6)
    torch.testing.assert_close(E @ E.T, 1 - same.known_distances(), atol=0.06, rtol=0)


def test_hierarchical() -> None:
    objective: Any = cases.objective("hierarchical", superclasses=3, class_sigma=0.7, binary_weight=0.2)
    first, targets = cases.outputs(16, seed=1), cases.targets()
    assert set(objective.means.unique().tolist()) == {-1.0, 1.0}
    objective(first, targets)
    objective.begin_epoch(1, 3)
    labels, z = targets.labels.numpy(), array(first.z)
    means = [np.mean([z[b] for b in range(9) if labels[b] == c], axis=0) for c in range(6)]
    np.testing.assert_allclose(array(objective.means), means, rtol=1e-12)
    assert not objective.sums.any()
    outputs = cases.outputs(16)
    outputs = outputs._replace(z=(2 * outputs.z).detach())
    pairs = [np.mean([means[c], means[c + 1]], axis=0) for c in (0, 2, 4)]
    expected = dict.fromkeys(("classes", "superclasses", "bound", "binary"), 0.0)
    for b, row in enumerate(array(outputs.z)):
        near = [-0.7 / 2 * oracles.euclid(row, mean) ** 2 for mean in means]
        above = [-0.5 / 2 * oracles.euclid(row, mean) ** 2 for mean in pairs]
        expected["classes"] -= oracles.log_softmax(near, labels[b]) / 9
        expected["superclasses"] -= oracles.log_softmax(above, labels[b] // 2) / 9
        expected["bound"] += 10 * sum(max(0.0, abs(x) - 1.1) for x in row) / 16 / 9
        expected["binary"] += 0.2 * sum(((1 if x >= 0 else -1) - x) ** 2 for x in row) / 16 / 9
    found = terms("hierarchical", objective, outputs, targets)
    assert {key: found[key] for key in expected} == pytest.approx(expected, rel=1e-6)


def test_means_count_mixed_samples_by_shares_and_nothing_in_evaluation() -> None:
    objective: Any = cases.objective("hierarchical")
    outputs, targets = cases.outputs(16), cases.targets(mixed=True)
    assert isinstance(objective, Objective)
    objective.eval()(outputs, targets)
    assert not objective.shares.any()
    objective.train()(outputs, targets)
    wanted = np.zeros((6, 1))
    for b in range(9):
        for c, q in shares(targets, b).items():
            wanted[c] += q
    np.testing.assert_allclose(array(objective.shares), wanted, rtol=1e-6)


def test_groups_are_subtrees() -> None:
    np.testing.assert_array_equal(class_groups(cases.DISTANCES.numpy(), 3), [0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(class_groups(cases.DISTANCES.numpy(), 2), [0, 0, 0, 0, 1, 1])
    assert len(set(class_groups(cases.DISTANCES.numpy(), 6))) == 6
    shuffled = [4, 0, 2, 5, 1, 3]
    np.testing.assert_array_equal(
        class_groups(cases.DISTANCES.numpy()[shuffled][:, shuffled], 3), [0, 1, 2, 0, 1, 2]
    )


def test_usdh() -> None:
    objective = cases.objective("usdh", usdh_binary=0.3, usdh_balance=0.4)
    outputs, targets = cases.outputs(16), cases.targets()
    z, x = array(outputs.z), array(outputs.inputs)
    expected = {"cosine": 0.0, "binary": 0.0, "balance": 0.0}
    for i in range(9):
        for j in range(9):
            if i != j:
                cosine = oracles.dot(oracles.unit(x[i]), oracles.unit(x[j]))
                expected["cosine"] += (oracles.dot(z[i], z[j]) / 16 - cosine) ** 2 / 72
        expected["binary"] += sum(0.3 * (abs(value) - 1) ** 2 for value in z[i]) / (9 * 16)
    for k in range(16):
        expected["balance"] += 0.4 * (sum(z[:, k]) / 9) ** 2 / 16
    found = terms("usdh", objective, outputs, targets)
    assert found.pop("head") > 0
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("rank", [1, 3, 50])
def test_spreading(rank: int) -> None:
    objective = cases.objective("spreading", negative_rank=rank, spread_weight=0.05)
    outputs = cases.outputs(16)
    f, x = array(outputs.z), array(outputs.inputs)
    triplet = spread = 0.0
    for b in range(9):
        others = [i for i in range(9) if i != b]
        positive = min(others, key=lambda i: oracles.euclid(x[b], x[i]))
        ranked = sorted(others, key=lambda i: oracles.euclid(f[b], f[i]))
        negative = ranked[min(rank, 8) - 1]
        triplet += max(0.0, oracles.euclid(f[b], f[positive]) - oracles.euclid(f[b], f[negative])) / 9
        spread -= 0.05 * np.log(oracles.euclid(f[b], f[ranked[0]])) / 9
    found = terms("spreading", objective, outputs, cases.targets())
    assert found.pop("head") > 0
    assert found == pytest.approx({"triplet": triplet, "spread": spread}, rel=1e-5)


def test_unsupervised_methods_need_no_classes() -> None:
    for name in ("usdh", "spreading"):
        outputs = cases.outputs(16)._replace(logits=None)
        assert "head" not in cases.objective(name)(outputs, cases.targets())


def hamming(b: Array) -> Array:
    return np.array([[(len(u) - oracles.dot(u, v)) / 2 for v in b] for u in b])


@pytest.mark.parametrize("mixed", [False, True])
def test_tie_aware_average_precision(mixed: bool) -> None:
    objective = cases.objective("tie-aware-ap", bits=8, sharpness=1.5)
    outputs, targets = cases.outputs(8), cases.targets(mixed=mixed)
    b = 2 / (1 + np.exp(-1.5 * array(outputs.z))) - 1
    relevant = np.zeros((9, 9))
    for i in range(9):
        for j in range(9):
            relevant[i, j] = sum(
                p * q for c, p in shares(targets, i).items() for e, q in shares(targets, j).items() if c == e
            )
    expected = oracles.mean_of([oracles.average_precision(hamming(b), relevant, i, 8) for i in range(9)])
    found = terms("tie-aware-ap", objective, outputs, targets)
    assert found["ap"] == pytest.approx(1 - expected, rel=1e-5)


def test_tie_aware_ndcg() -> None:
    objective = cases.objective("tie-aware-ndcg", bits=8, grades=2.0)
    outputs, targets = cases.outputs(8), cases.targets()
    labels, D = targets.labels.numpy(), cases.DISTANCES.double().numpy()
    gains = 2.0 ** (2 * (1 - D[np.ix_(labels, labels)])) - 1
    b = np.tanh(array(outputs.z))
    expected = oracles.mean_of([oracles.ndcg(hamming(b), gains, i, 8) for i in range(9)])
    found = terms("tie-aware-ndcg", objective, outputs, targets)
    assert found["ndcg"] == pytest.approx(1 - expected, rel=1e-5)


def test_tie_aware_measures_of_codes_are_those_of_the_evaluation() -> None:
    """With real bits the closed form is the expectation over all orders of the ties, as our own metrics have it."""
    import kinhash as kh
    from kinhash.codes import Codes
    from kinhash.methods.tie_aware import average_precision, histogram

    signs = torch.where(
        torch.randn(40, 8, generator=torch.Generator().manual_seed(0)) >= 0, 1.0, -1.0
    ).double()
    labels = np.arange(40) % 4
    same = torch.as_tensor(labels[:, None] == labels).double().fill_diagonal_(0)
    others = 1 - torch.eye(40, dtype=torch.float64)
    apart = (8 - signs @ signs.T) / 2
    expected = kh.evaluate(Codes.from_logits(signs.numpy()), labels, k=10)["map_full"]
    assert float(average_precision(histogram(apart, others, 8), histogram(apart, same, 8))) == pytest.approx(
        expected, abs=0.02
    )
