"""The curve plot draws one line per report and refuses what it cannot draw; a log is drawn whatever it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_report import make_report

from kinhash.errors import InputError, StorageError
from kinhash.plots import plot_curves, plot_training


def test_one_line_per_report_floats_solid_codes_dashed(tmp_path: Path) -> None:
    reports = [make_report("a"), make_report("a", representation="float"), make_report("b")]
    figure = plot_curves(reports, tmp_path / "deep" / "hp.png")
    lines = figure.axes[0].lines
    assert [line.get_linestyle() for line in lines] == ["--", "-", "--"]
    assert lines[0].get_color() == lines[1].get_color() != lines[2].get_color()
    np.testing.assert_array_equal(lines[0].get_ydata(), [1.0, 0.5])
    np.testing.assert_array_equal(lines[0].get_xdata(), [1, 2])
    assert (tmp_path / "deep" / "hp.png").read_bytes().startswith(b"\x89PNG")
    assert figure.axes[0].get_title() == "wordnet wup"


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one"):
        plot_curves([])
    with pytest.raises(InputError, match="holds no curve 'hp_lcs'; it has hp_wup"):
        plot_curves([make_report()], similarity="lcs")
    with pytest.raises(InputError, match=r"hp\.nonsense"):
        plot_curves([make_report()], tmp_path / "hp.nonsense")
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageError, match="taken"):
        plot_curves([make_report()], tmp_path / "taken" / "hp.png")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"similarity": {"wup": "wordnet wup nltk"}}, "similarity is .*'wordnet wup nltk'"),
        ({"k": 100}, "k is 250 and 100"),
        ({"ties": "stable"}, "ties is 'expected' and 'stable'"),
    ],
)
def test_curves_of_unlike_protocols_are_not_drawn_together(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        plot_curves([make_report("a"), make_report("b", **changes)])


def test_a_training_is_drawn_with_and_without_epochs(tmp_path: Path) -> None:
    lines = [{"epoch": i, "lr": 0.1 / i, "losses": {"sim": 0.5, "kl": -0.1}} for i in (1, 2)]
    for name, log in (("two", lines), ("none", [])):
        plot_training(log, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
