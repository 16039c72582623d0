"""Train, encode, evaluate and export on the command line: the same results as the functions, and clear errors."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
import torch
from cli.commands import done, refused, run
from PIL import Image
from vector_files import write_vectors

import kinhash as kh
from kinhash.cli import cli

QUICK = (
    "--epochs",
    "2",
    "--bits",
    "16",
    "--device",
    "cpu",
    "--quiet",
    "--set",
    "hidden=32",
    "--set",
    "batch=32",
)
NAMES = ("cat.n.01", "dog.n.01", "car.n.01", "bus.n.01")


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Embeddings of four classes in two parts, with labels beside."""
    return write_vectors(tmp_path_factory.mktemp("vectors"), NAMES, train=128, test=40, width=12)


@pytest.fixture(scope="module")
def trained(vectors: Path) -> Path:
    done("train", vectors, "--out", vectors / "run", *QUICK)
    return vectors / "run"


def test_train_is_kh_train(vectors: Path, trained: Path) -> None:
    data = kh.dataset(vectors)
    kin = kh.semantics("wordnet", data.classes)
    options: dict[str, Any] = {"epochs": 2, "bits": 16, "device": "cpu", "hidden": 32, "batch": 32}
    expected = kh.train(data.train, semantics=kin, progress=False, **options)
    loaded = kh.load_encoder(trained / "encoder")
    assert loaded.encode(data.test) == expected.encode(data.test)
    assert loaded.training_card["batch"] == 32
    assert (trained / "log.jsonl").exists()
    assert "map_full" in json.loads((trained / "metrics.json").read_text())["metrics"]


def test_resume_goes_on_and_json_tells_the_outcome(vectors: Path, trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done("train", vectors, "--out", out, *QUICK, "--stop-after", 1)
    assert "already holds a run" in refused("train", vectors, "--out", out, *QUICK)
    outcome = json.loads(done("train", vectors, "--out", out, *QUICK, "--resume", "--json"))
    assert (outcome["epochs"], outcome["encoder"]) == (2, str(out / "encoder"))
    assert outcome["protocol"]["n_queries"] == 40
    same = kh.load_encoder(out / "encoder").network.state_dict()
    for name, value in kh.load_encoder(trained / "encoder").network.state_dict().items():
        assert torch.equal(same[name], value)


def test_progress_shows_losses_rate_and_time_left(vectors: Path, tmp_path: Path) -> None:
    arguments = [one for one in QUICK if one != "--quiet"]
    result = run("train", vectors, "--out", tmp_path / "run", *arguments)
    assert result.exit_code == 0
    for what in ("epoch 2/2", "100%", "loss ", "sim ", "samples/s", "0:00:00"):
        assert what in result.stderr
    assert "2 epochs in" in result.stdout
    assert "test part, mAP, whole ranking" in result.stdout
    assert "samples/s" not in result.stdout


def test_encode_is_encoder_encode(vectors: Path, trained: Path, tmp_path: Path) -> None:
    encoder = kh.load_encoder(trained / "encoder")
    data = kh.dataset(vectors)
    told = json.loads(done("encode", trained / "encoder", vectors, "--part", "test", "--out", tmp_path / "c",
                           "--floats", "--device", "cpu", "--json"))  # fmt: skip
    assert told == {"codes": str(tmp_path / "c"), "n": 40, "bits": 16, "broken": []}
    assert kh.Codes.load(tmp_path / "c") == encoder.encode(data.test)
    np.testing.assert_array_equal(
        np.load(tmp_path / "c" / "floats.npy"), encoder.encode(data.test, floats=True)
    )
    assert (tmp_path / "c" / "items.csv").read_text().splitlines()[:3] == [
        "id,label",
        "0,cat.n.01",
        "1,dog.n.01",
    ]
    done(
        "encode",
        trained / "encoder",
        vectors / "train.npy",
        "--out",
        tmp_path / "plain",
        "--device",
        "cpu",
        "--quiet",
    )
    assert kh.Codes.load(tmp_path / "plain") == encoder.encode(data.train)
    done(
        "encode",
        trained / "encoder",
        vectors,
        "--part",
        "all",
        "--out",
        tmp_path / "all",
        "--device",
        "cpu",
        "--quiet",
    )
    assert len(kh.Codes.load(tmp_path / "all")) == 168


def test_evaluate_is_kh_evaluate(vectors: Path, trained: Path, tmp_path: Path) -> None:
    done(
        "encode",
        trained / "encoder",
        vectors,
        "--part",
        "test",
        "--out",
        tmp_path / "c",
        "--device",
        "cpu",
        "--quiet",
    )
    data = kh.dataset(vectors)
    kin = kh.semantics("wordnet", data.classes)
    expected = kh.evaluate(kh.Codes.load(tmp_path / "c"), data.test.labels, semantics={"wup": kin}, k=20)
    for spec in (f"wup={trained / 'encoder'}", "wup=wordnet"):
        told = json.loads(done("evaluate", tmp_path / "c", "--semantics", spec, "--k", 20, "--json"))
        assert told["metrics"] == expected.to_dict()["metrics"]
        assert told["protocol"] == expected.to_dict()["protocol"]
    files = ["--out", tmp_path / "r.json", "--out", tmp_path / "r.md", "--out", tmp_path / "r.png"]
    text = done(
        "evaluate", tmp_path / "c", "--semantics", "wordnet", "--semantics", "flat=labels", "--k", 20, *files
    )
    assert "mAHP@20, flat" in text
    assert kh.Report.load(tmp_path / "r.json")["mahp_flat"] > 0
    assert (tmp_path / "r.png").read_bytes()[:4] == b"\x89PNG"
    bare = json.loads(done("evaluate", tmp_path / "c", "--k", 20, "--hits", 3, "--json"))
    assert [key for key in bare["metrics"] if key.startswith("hit_at")] == ["hit_at_3"]
    assert "mahp_sim" not in bare["metrics"]
    assert bare["metrics"]["map_full"] == expected.to_dict()["metrics"]["map_full"]


def test_evaluate_vectors_against_a_database(vectors: Path) -> None:
    data = kh.dataset(vectors)
    told = json.loads(done("evaluate", vectors / "test.npy", "--database", vectors / "train.npy", "--k", 30,
                           "--distance", "l2", "--ties", "stable", "--json"))  # fmt: skip
    expected = kh.evaluate(data.test.vectors, data.test.labels, database=data.train.vectors,
                           database_labels=data.train.labels, k=30, metric="l2", ties="stable")  # fmt: skip
    assert told["metrics"] == expected.to_dict()["metrics"]


def test_evaluate_with_other_labels_and_matrices(vectors: Path, tmp_path: Path) -> None:
    codes, data = kh.random_hyperplanes(kh.dataset(vectors).test.vectors, 16), kh.dataset(vectors)
    codes.save(tmp_path / "c")
    assert data.test.labels is not None
    matrix = np.abs(np.arange(4)[:, None] - np.arange(4)) / 3
    np.save(tmp_path / "d.npy", matrix)
    expected = kh.evaluate(codes, data.test.labels, semantics=kh.semantics(matrix, 4), k=10).to_dict()[
        "metrics"
    ]
    np.save(tmp_path / "numbers.npy", data.test.labels)
    (tmp_path / "lines.txt").write_text("\n".join("abcd"[label] for label in data.test.labels))
    (tmp_path / "classes.txt").write_text("a\nb\nc\nd\n")
    base = ("evaluate", tmp_path / "c", "--semantics", tmp_path / "d.npy", "--k", 10, "--json")
    for more in (
        ("--labels", tmp_path / "numbers.npy"),
        ("--labels", tmp_path / "lines.txt", "--classes", tmp_path / "classes.txt"),
    ):
        assert json.loads(done(*base, *more))["metrics"] == expected
    targets = np.random.default_rng(0).normal(size=(40, 6))
    np.save(tmp_path / "targets.npy", targets)
    told = json.loads(done("evaluate", tmp_path / "c", "--labels", tmp_path / "targets.npy", "--semantics", "cosine",
                           "--k", 10, "--json"))  # fmt: skip
    assert told["metrics"] == kh.evaluate(codes, targets, semantics="cosine", k=10).to_dict()["metrics"]


def test_target_vectors_take_the_place_of_classes(vectors: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.load(vectors / "train.npy"))
    np.save(tmp_path / "targets.npy", np.load(vectors / "train.npy")[:, :6])
    done(
        "train",
        tmp_path / "x.npy",
        "--target-vectors",
        tmp_path / "targets.npy",
        "--out",
        tmp_path / "run",
        *QUICK,
    )
    encoder = kh.load_encoder(tmp_path / "run" / "encoder")
    assert encoder.training_card["method"] == "sim-kl-reg"
    assert encoder.semantics is None
    both = ("--target-vectors", tmp_path / "targets.npy", "--semantics", "labels")
    assert "leave --semantics out" in refused(
        "train", tmp_path / "x.npy", *both, "--out", tmp_path / "r", *QUICK
    )


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for i in range(24):
        place = tmp_path / "photos" / NAMES[i % 4]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (9, 9 + i % 3, 3), dtype=np.uint8)).save(place / f"{i}.png")
    return tmp_path / "photos"


def test_a_folder_of_photos_with_broken_ones(photos: Path, tmp_path: Path) -> None:
    (photos / NAMES[0] / "broken.jpg").write_bytes(b"no picture")
    small = (
        "--backbone",
        "resnet8w",
        "--epochs",
        1,
        "--bits",
        8,
        "--device",
        "cpu",
        "--quiet",
        "--set",
        "batch=4",
    )
    result = run(
        "train", photos, "--out", tmp_path / "run", "--semantics", "labels", "--test-share", 0.25, *small
    )
    assert result.exit_code == 0, (result.output, result.exception)
    assert "kinhash: 1 picture was left out" in result.stderr
    assert "broken.jpg" in result.stderr
    assert ".py:" not in result.stderr
    result = run("encode", tmp_path / "run" / "encoder", photos / NAMES[0], photos / NAMES[1] / "1.png",
                 "--out", tmp_path / "c", "--device", "cpu", "--quiet", "--json")  # fmt: skip
    assert result.exit_code == 0, (result.output, result.exception)
    told = json.loads(result.stdout)
    assert told["n"] == 7
    assert told["broken"][0]["id"].endswith("broken.jpg")
    assert "left out" in result.stderr


def test_export_writes_what_runs_elsewhere(trained: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the extra `onnx` is not installed")
    told = json.loads(done("export", trained / "encoder", tmp_path / "x.onnx", "--json"))
    assert told["bits"] == 16
    assert told["bytes"] == (tmp_path / "x.onnx").stat().st_size


def test_what_cannot_be_done_is_said(vectors: Path, trained: Path, tmp_path: Path) -> None:
    new = ("--out", tmp_path / "new")
    encoder = trained / "encoder"
    np.save(tmp_path / "bare.npy", np.ones((4, 12)))
    kh.random_hyperplanes(np.eye(4), 8).save(tmp_path / "c")
    (tmp_path / "short.txt").write_text("a\nb\n")
    for arguments, message in [
        (("train", "cifar1000", *new), "no data set 'cifar1000'"),
        (("train", "nothing", "--root", tmp_path, *new), "no data set 'nothing'"),
        (("train", tmp_path / "bare.npy", *new), "no labels"),
        (("train", vectors, *new, "--set", "lr"), "NAME=VALUE"),
        (("train", vectors, *new, "--set", "learning_rate=1"), "no training option"),
        (("train", vectors, *new, "--test-share", "0.5"), "a test part of its own"),
        (("train", vectors, *new, "--semantics", encoder, "--measure", "lcs"), "--measure cannot change"),
        (("train", vectors, *new, "--semantics", "tree:nowhere.txt"), "nowhere.txt"),
        (("encode", tmp_path, vectors / "test.npy", *new), "holds no encoder"),
        (("encode", encoder, vectors / "test.npy", *new, "--bits", "32"), "codes of 16 bits, not 32"),
        (("encode", encoder, vectors / "test.npy", *new, "--root", "x"), "--part"),
        (("encode", encoder, "a.png", "b.png", *new, "--part", "all"), "one data set"),
        (("encode", encoder, "a.png", "a.png", *new), "named twice"),
        (("encode", encoder, "a.npy", "a.png", *new), "only be pictures"),
        (("evaluate", tmp_path / "nothing"), "no folder of codes"),
        (("evaluate", tmp_path / "c"), "no labels beside it"),
        (("evaluate", tmp_path / "c", "--labels", tmp_path / "short.txt"), "2 labels for 4 items"),
        (("evaluate", tmp_path / "c", "--labels", tmp_path / "none.txt"), "no file of labels"),
        (
            (
                "evaluate",
                vectors / "test.npy",
                "--k",
                10,
                "--semantics",
                "x=labels",
                "--semantics",
                "x=labels",
            ),
            "NAME=SPEC",
        ),
        (("evaluate", vectors / "test.npy", "--database-labels", "x"), "belong to a --database"),
        (("export", encoder, tmp_path / "x.pt"), "ends in .onnx"),
    ]:
        assert message in refused(*arguments), arguments
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "function", "elsewhere"),
    [
        # what the command line says in another way, or that makes no sense there
        ("train", kh.train, {"split", "progress", "test", "overrides", "text"}),  # text: --captions
        ("encode", kh.HashEncoder.encode_all, {"self", "progress"}),
        ("evaluate", kh.evaluate, {"codes_or_vectors", "metric", "semantics", "predictions"}),
    ],
)
def test_options_are_those_of_the_function(name: str, function: Any, elsewhere: set[str]) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    offered = {option.lstrip("-").replace("-", "_") for one in command.params for option in one.opts}
    assert set(inspect.signature(function).parameters) - offered == elsewhere - offered
    assert not elsewhere & offered - {"semantics", "metric"}


def test_a_method_without_codes_from_training_to_evaluation(vectors: Path, tmp_path: Path) -> None:
    options = [option for option in QUICK if option not in ("--bits", "16")]
    done("train", vectors, "--method", "center", "--semantics", "labels", "--out", tmp_path / "run", *options)
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert (metrics["protocol"]["representation"], metrics["protocol"]["metric"]) == ("float", "l2")
    out = tmp_path / "encoded"
    encode = ("encode", tmp_path / "run" / "encoder", vectors, "--part", "test", "--out", out)
    assert f"{out / 'vectors.npy'}: 40 vectors of 32 numbers" in done(*encode)
    told = json.loads(done(*encode, "--json"))
    assert (told["n"], told["width"], told["distance"]) == (40, 32, "l2")
    asked = ("evaluate", out / "vectors.npy", "--k", "39", "--distance", told["distance"], "--json")
    found = json.loads(done(*asked))["metrics"]
    assert found["map_full"] == pytest.approx(metrics["metrics"]["map_full"])
    assert "makes no codes" in refused(*encode, "--bits", "16")
