"""What holds for every line of METHODS, whoever wrote it."""

from __future__ import annotations

import dataclasses
import functools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from losses.watch import SYNCHRONISING, Watch
from methods import cases
from torch import Tensor
from training import toy

import kinhash as kh
from kinhash.codes import Codes
from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.methods import METHODS
from kinhash.methods.contract import Objective
from kinhash.training.recipes import Recipe

TRAINED = [name for name, method in METHODS.items() if method.build is not None]
FLOATS = [name for name, method in METHODS.items() if method.retrieves == "floats"]


# methods whose gradient is not that of their value, on purpose; their own tests say what it is
NOT_SMOOTH: dict[str, str] = {
    "label-embedding": "a second classifier reads features without shaping them",
}


def wide(n: int = 256, seed: int = 0) -> Split:
    """Eight classes in a row, seen through 160 numbers: PCA has room for 128 bits."""
    split = toy.vectors(n, seed)
    assert split.vectors is not None
    turned = np.random.default_rng(1).normal(size=(16, 160)) / 4
    noise = 0.1 * np.random.default_rng(seed).normal(size=(n, 160))
    return dataclasses.replace(split, vectors=(split.vectors @ turned + noise).astype(np.float32))


def run(name: str, bits: int = 16, split: Split | None = None, **options: Any) -> kh.HashEncoder:
    """A short training of the method, by default on eight classes in a row."""
    options = {"bits": None if name in FLOATS else bits, **options}
    return toy.run(wide() if split is None else split, method=name, **options)


@functools.cache
def trained(name: str, bits: int = 16) -> kh.HashEncoder:
    """Trained once for all tests that only look."""
    return run(name, bits, epochs=2)


def map_of(encoder: kh.HashEncoder, split: Split) -> float:
    """Mean average precision by what the method retrieves with."""
    return kh.evaluate(encoder.encode_all(split), split.targets(), k=10)["map_full"]


@pytest.mark.parametrize("name", METHODS)
def test_the_line_of_the_table_is_complete(name: str) -> None:
    method = METHODS[name]
    assert method.about
    assert method.paper
    assert 1990 < method.year < 2030
    assert 0 < len(method.formula) <= 90
    assert not method.parameters.keys() & Recipe().__dict__.keys()
    Recipe().with_options(method.recipe)
    assert method.build or method.fit


@pytest.mark.parametrize("bits", [16, 128])
@pytest.mark.parametrize("name", METHODS)
def test_shapes(name: str, bits: int) -> None:
    unseen, encoder = wide(40, seed=1), trained(name, bits)
    made = encoder.encode_all(unseen)
    assert made.floats.shape == (40, encoder.width)
    assert np.isfinite(made.floats).all()
    assert (encoder.method, encoder.retrieves) == (name, METHODS[name].retrieves)
    if name in TRAINED:
        assert encoder.predict(unseen).shape == (40, 8)
    if encoder.metric == "dot":
        np.testing.assert_allclose(np.linalg.norm(made.floats, axis=1), 1, rtol=1e-4)
    if name in FLOATS:
        with pytest.raises(InputError, match=f"{name} retrieves with floats"):
            encoder.encode(unseen)
        with pytest.raises(InputError, match="makes no codes"):
            toy.run(method=name, bits=bits)
        return
    assert (encoder.bits, encoder.width) == (bits, bits)
    assert encoder.encode(unseen) == Codes.from_logits(made.floats)


@pytest.mark.parametrize("name", METHODS)
def test_a_seed_decides_everything(name: str) -> None:
    first, again = trained(name), run(name, epochs=2)
    assert toy.same(first, again)
    one, two = (e.encode(wide(20), floats=True) for e in (first, again))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", METHODS)
def test_what_is_loaded_is_what_was_saved(name: str, tmp_path: Path) -> None:
    encoder = trained(name)
    encoder.save(tmp_path)
    loaded = kh.load_encoder(tmp_path, device="cpu")
    rows = wide(20, seed=2)
    np.testing.assert_array_equal(encoder.encode(rows, floats=True), loaded.encode(rows, floats=True))
    assert (loaded.retrieval, repr(loaded)) == (encoder.retrieval, repr(encoder))
    assert {path.suffix for path in tmp_path.iterdir()} <= {
        ".json",
        ".safetensors",
        ".md",
    }  # nothing to execute
    if name in FLOATS:
        with pytest.raises(InputError, match="makes no codes"):
            kh.load_encoder(tmp_path, bits=16)


@pytest.mark.parametrize("name", [name for name in TRAINED if name not in NOT_SMOOTH])
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    objective, targets = cases.objective(name), cases.targets()
    outputs = cases.outputs(cases.problem(name).width)

    def total(z: Tensor, logits: Tensor, regression: Tensor) -> Tensor:
        torch.manual_seed(0)  # draws
        kept = {key: value.clone() for key, value in objective.named_buffers()}
        terms = objective(outputs._replace(z=z, logits=logits, regression=regression), targets)
        for key, value in objective.named_buffers():
            if not torch.equal(value, kept[key]):  # what was not touched may be needed by the backward pass
                value.copy_(kept[key])
        return torch.stack(list(terms.values())).sum()

    assert torch.autograd.gradcheck(total, (outputs.z, outputs.logits, outputs.regression))


@pytest.mark.parametrize("name", TRAINED)
def test_no_objective_waits_for_the_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_hot(labels: Tensor, classes: int) -> Tensor:
        """torch's own looks at its input on a CPU, and only there."""
        return (labels[:, None] == torch.arange(classes)).long()

    monkeypatch.setattr(torch.nn.functional, "one_hot", one_hot)
    objective = cases.objective(name)
    outputs = cases.outputs(cases.problem(name).width)
    mixes = Recipe().with_options(METHODS[name].recipe)
    targets = cases.targets(mixed=mixes.mixup > 0 or mixes.cutmix > 0)
    objective(outputs, targets)  # tables are made once
    with Watch() as watch:
        torch.stack(list(objective(outputs, targets).values())).sum().backward()
    assert not watch.names & SYNCHRONISING
    if isinstance(objective, Objective):
        tensors = [*objective.parameters(), *objective.buffers()]
        before = [tensor.data_ptr() for tensor in tensors]
        objective.begin_epoch(1, 4)
        assert before == [tensor.data_ptr() for tensor in tensors]  # where a captured graph looks for them


@pytest.mark.parametrize("name", METHODS)
def test_training_lowers_the_loss_and_beats_random_codes(
    name: str, features: tuple[Split, Split], tmp_path: Path
) -> None:
    train, test = features
    kin = kh.semantics("tree:cifar100", train.classes)
    encoder = run(name, 32, train, semantics=kin, hidden=64, batch=32, epochs=8, out=tmp_path)
    chance = 1 / len(train.classes)
    random = Codes.from_logits(np.random.default_rng(0).normal(size=(len(test), 32)))
    lost = kh.evaluate(random, test.targets(), k=10)["map_full"]
    assert lost < chance + 0.1
    assert map_of(encoder, test) > lost + 0.1
    if name in TRAINED:
        log = [line["loss"] for line in losses_of(tmp_path)]
        assert all(math.isfinite(value) for value in log)
        assert log[-1] < log[0]


def losses_of(folder: Path) -> list[dict[str, float]]:
    from kinhash.cards.run_files import read_log

    return [line["losses"] for line in read_log(folder / "log.jsonl")]


def test_what_changes_between_epochs_is_resumed(tmp_path: Path) -> None:
    """The class means of the epoch before are in the checkpoint."""
    options: dict[str, Any] = {"epochs": 4, "checkpoint_every": 1}
    whole = run("hierarchical", **options)
    run("hierarchical", out=tmp_path, stop_after=2, **options)
    assert toy.same(whole, run("hierarchical", out=tmp_path, resume=True, **options))


@pytest.mark.gpu
@pytest.mark.parametrize("name", TRAINED)
def test_a_cuda_graph_holds_every_objective(name: str) -> None:
    objective = cases.objective(name).float().cuda()
    outputs = cases.outputs(cases.problem(name).width, n=64)
    leaves = [None if x is None else x.detach().float().cuda().requires_grad_() for x in outputs]
    on_gpu, targets = type(outputs)(*leaves), cases.targets(64).map(torch.Tensor.cuda)

    def step() -> None:
        torch.stack(list(objective(on_gpu, targets).values())).sum().backward()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        step()
    graph.replay()
    torch.cuda.synchronize()
    gradients = [x.grad for x in leaves if x is not None and x.grad is not None]  # some look at logits alone
    assert gradients
    assert all(gradient.isfinite().all() for gradient in gradients)
