from __future__ import annotations

import json
from pathlib import Path

import build_results
import figures
import pytest
from experiments.made_up import card
from result_files import number, read_results


def write(folder: Path, topic: str, name: str, content: dict[str, object]) -> None:
    (folder / topic).mkdir(parents=True, exist_ok=True)
    (folder / topic / f"{name}.json").write_text(json.dumps(content))


def test_the_page_is_what_the_files_say() -> None:
    text = build_results.build(build_results.ROOT / "results")
    assert build_results.PAGE.read_text() == text, "run `python tools/build_results.py` and commit RESULTS.md"


def test_ours_stand_beside_the_papers(tmp_path: Path) -> None:
    for seed, wup in enumerate((0.90, 0.92)):
        write(tmp_path, "cifar100", f"a{seed}", card(seed=seed, wup=wup))
    write(tmp_path, "cifar100", "b", card("kl-class", wup=0.6))
    write(tmp_path, "cifar100", "c", card(bits=16, wup=0.8))
    write(tmp_path, "cifar100", "d", card(backbone="wrn28-10", wup=0.95))
    write(tmp_path, "cifar100", "e", card(variant="kl0", kl_weight=0.0))
    write(tmp_path, "cifar100", "f", card("class", wup=0.7))
    page = build_results.build(tmp_path)
    row = next(line for line in page.splitlines() if line.startswith("| SIM-KL-CLASS | 100 | 2 |"))
    assert ".9100 ± .0141" in row
    assert ".8916 / .8608 | .6512 | .7199 |" in row
    assert any(line.startswith("| KL-CLASS") and ".5850 / .5413" in line for line in page.splitlines())
    assert any(line.startswith("| 16 bits") and ".7478 | .3577" in line for line in page.splitlines())
    assert "| mAHP WUP bin, under 60 s of training | .8690 | .9500 | SIM-KL-CLASS, wrn28-10 | yes |" in page
    assert "| mAHP LCS bin | .8600 | .8900 |" in page
    spread = page[page.index("entropy term") :]
    pairs = [
        line.split(" | ")[:2] for line in spread.splitlines() if line.startswith("| ") and "resnet" in line
    ]
    assert pairs == [
        ["| SIM-KL-CLASS, resnet110w, kl0", "0"],
        ["| SIM-KL-CLASS, resnet110w", "0.001"],
        ["| CLASS, resnet110w", "0"],
        ["| KL-CLASS, resnet110w", "0.001"],
    ]


def test_bars_that_are_missed_are_said_to_be_missed(tmp_path: Path) -> None:
    slow = card(wup=0.88)
    slow["seconds"] = {"train": 61.0}
    write(tmp_path, "cifar100", "slow", slow)
    page = build_results.build(tmp_path)
    assert "| mAHP WUP bin, under 60 s of training | .8690 | - | - | no |" in page
    assert "| mAHP WUP bin | .9050 | .8800 | SIM-KL-CLASS, resnet110w | no |" in page


def test_other_topics_are_shown_as_their_rows(tmp_path: Path) -> None:
    content = card() | {"rows": [{"N": 1000, "ms": 0.0004, "by": {"kinhash": 2}, "all": [1, 2]}]}
    content["metrics"] = {"recall": 1.0}
    write(tmp_path, "search", "scan", content)
    page = build_results.build(tmp_path)
    assert "| N | ms | by kinhash |" in page
    assert "| 1,000 | 0.0004 | 2 |" in page
    assert "| recall | 1.0000 |" in page
    assert build_results.build(tmp_path / "none") == build_results.HEAD + "\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.86904, ".8690"), (10000.0, "10,000"), (59.04, "59.04"), (1.0, "1.0000"), (-0.5, "-.5000")],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_figures_come_from_the_stored_curves(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write(tmp_path, "cifar100", "a", card())
    results = [result.card for result in read_results(tmp_path)]
    paths = figures.draw(results, tmp_path)  # type: ignore[arg-type]
    assert [path.name for path in paths] == ["hp-lcs.png", "hp-wup.png"]
    assert all(path.stat().st_size > 10_000 for path in paths)


def test_photos_found_by_sentences_with_seeds_and_trials(tmp_path: Path) -> None:
    recalls = {f"{way} to image R@{k}": 0.5 for way in ("text", "image") for k in (1, 5, 10)}
    recalls |= {f"image to text R@{k}": 0.4 for k in (1, 5, 10)}
    row = {"system": "ours, 128 bits", "seeds": 2, **recalls, "deviation of text to image R@10": 0.01}
    common = {key: value for key, value in card().items() if key not in ("config", "metrics", "curves")}
    write(tmp_path, "flickr8k", "text", {**common, "rows": [row], "metrics": {}})
    trials = [
        {"settings": "epochs 3", "system": "ours, 128 bits", "seeds": [0], "text to image R@10": 0.3},
        {"settings": "epochs 3", "system": "two-tower, 128 floats", "seeds": [0], "text to image R@10": 0.6},
        {"settings": "epochs 9", "system": "ours, 128 bits", "seeds": [0], "text to image R@10": 0.4},
    ]
    write(tmp_path, "flickr8k", "validation", {**common, "trials": trials})
    page = build_results.build(tmp_path)
    assert "| .5000 ± .0100 |" in page
    assert "| settings | ours, 128 bits | two-tower, 128 floats |" in page
    assert "| epochs 3 | .3000 | .6000 |" in page
    assert "| epochs 9 | .4000 | - |" in page


def zero_shot_files(folder: Path) -> None:
    """Two seeds of CLASS and SIM-KL-CLASS, and a fold."""
    cutoffs = (1, 2, 5, 10, 20)
    for seed in (0, 1):
        for method, hit in (("class", 0.3), ("sim-kl-class", 0.35 + 0.02 * seed)):
            content = card(method, seed=seed, seen=120, unseen=40)
            content["protocol"] = {"mode": "retrieval"}
            content["metrics"] = {f"hit_at_{k}_{kind}": hit for k in cutoffs for kind in ("bin", "float")}
            write(folder, "zero-shot", f"{method}-{seed}", content)
            held = content | {"config": content["config"] | {"fold": 0, "variant": "fold0-kl0.01"}}
            write(folder, "zero-shot", f"{method}-fold0-{seed}", held)
        rows = [
            {
                "classes by": "glosses",
                "method": name,
                **{f"{of}@{k}": value for of in ("hit", "hp") for k in cutoffs},
            }
            for name, value in (
                ("conse", 0.1),
                ("sync", 0.1),
                ("exem", 0.2),
                ("bzsl, 64 bits", 0.1),
                ("kin", 0.25),
                ("kin, 64 bits", 0.1),
            )
        ]
        content = card("class", seed=seed, seen=120, unseen=40) | {
            "protocol": {"mode": "class-code"},
            "rows": rows,
        }
        write(folder, "zero-shot", f"class-code-{seed}", content)


def test_zero_shot_protocols_have_a_table_each(tmp_path: Path) -> None:
    zero_shot_files(tmp_path)
    page = build_results.build(tmp_path)
    assert "### class-code: 120 seen classes, 40 unseen" in page
    assert "| glosses | kin | .2500 ± .0000 |" in page
    assert "By glosses: kin beats ConSE, SynC, EXEM and BZSL at every K: yes;" in page
    assert "its codes those of BZSL: no, not at hit@1, hit@2" in page
    assert "| SIM-KL-CLASS | 2 | .3600 ± .0100 |" in page
    assert "hit@1 of codes, over CLASS: SIM-KL-CLASS +.0600." in page
    assert "SIM-KL-CLASS, kl0.01" in page[page.index("on the folds") :]
