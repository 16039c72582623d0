from __future__ import annotations

from pathlib import Path

from training import toy

from kinhash.cards.run_files import read_log
from kinhash.training.runfolder import RunFolder


def test_the_seconds_of_a_resumed_run_go_on(tmp_path: Path) -> None:
    out = tmp_path / "run"
    toy.run(out=out, epochs=4, stop_after=2)
    before = read_log(out / "log.jsonl")[-1]["seconds"]
    toy.run(out=out, epochs=4, resume=True)
    seconds = [line["seconds"] for line in read_log(out / "log.jsonl")]
    assert len(seconds) == 4
    assert seconds == sorted(seconds)
    assert seconds[1] == before <= seconds[2]


def test_epochs_behind_the_checkpoint_are_forgotten(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, resume=True)
    assert folder.begin({}, 0) == 0.0
    for epoch in (1, 2, 3):
        folder.log({"epoch": epoch, "seconds": 10.0 * epoch})
    assert RunFolder(tmp_path, resume=True).begin({}, 2) == 20.0
    assert [line["epoch"] for line in read_log(tmp_path / "log.jsonl")] == [1, 2]
