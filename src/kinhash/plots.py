"""Figures of reports and of trainings; the one module that needs matplotlib."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinhash.comparison import check_protocols
from kinhash.errors import InputError, StorageError, require
from kinhash.report import Report, checked_reports

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_curves(
    reports: Sequence[Report], path: str | os.PathLike[str] | None = None, *, similarity: str | None = None
) -> Figure:
    """HP@1..k of every report in one picture, written to `path` (png, svg, pdf) if given.

    Float vectors are solid, codes dashed; reports that share a name share a colour, so the cost of binarising is the gap
    between two lines of one colour. `similarity` names which curve, where the reports hold several. All must be of one
    protocol, as for `compare`.
    """
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    curve = _curve_name(reports, similarity)
    check_protocols(reports)
    colours = {name: f"C{i % 10}" for i, name in enumerate(dict.fromkeys(r.name for r in reports))}
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    axes = figure.add_subplot()
    for report in reports:
        values = report.curves[curve]
        binary = report.protocol["representation"] == "bin"
        label = f"{report.name} ({report.protocol['bits']} {'bits' if binary else 'floats'})"
        axes.plot(
            np.arange(1, len(values) + 1),
            values,
            "--" if binary else "-",
            color=colours[report.name],
            label=label,
        )
    named = reports[0].protocol["similarity"]
    axes.set_title(
        next(iter(named.values())) if len(named) == 1 else named[curve.removeprefix("hp_")], fontsize=9
    )
    axes.set_xlabel("k")
    axes.set_ylabel("hierarchical precision at k")
    axes.set_ylim(top=1.005)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    if path is not None:
        _write(figure, Path(path))
    return figure


def plot_training(log: Sequence[Mapping[str, Any]], path: Path | None = None) -> Figure:
    """Every term of the loss over the epochs of a log.jsonl, and the learning rate; written to `path` if given."""
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    epochs = [line["epoch"] for line in log]
    for name in log[0]["losses"] if log else []:
        left.plot(epochs, [line["losses"][name] for line in log], label=name)
    right.plot(epochs, [line["lr"] for line in log])
    left.set(xlabel="epoch", ylabel="weighted term of the loss", yscale="symlog")
    right.set(xlabel="epoch", ylabel="learning rate")
    if log:
        left.legend(frameon=False)
    if path is not None:
        _write(figure, path)
    return figure


def _curve_name(reports: Sequence[Report], similarity: str | None) -> str:
    checked_reports(reports, "plot")
    wanted = None if similarity is None else f"hp_{similarity}"
    name = wanted or next(iter(reports[0].curves), None)
    for report in reports:
        if name is None or name not in report.curves:
            raise InputError(
                f"{report.name!r} holds no curve {name or ''!r}; it has {', '.join(report.curves) or 'none'}. "
                "Evaluate with semantics= to get one."
            )
    assert name is not None
    return name


def _write(figure: Figure, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)
    except ValueError as error:  # matplotlib: unknown suffix
        raise InputError(f"cannot draw to {path.name!r}: {error}") from error
    except OSError as error:
        raise StorageError(f"cannot write the figure to {path}: {error}") from error
