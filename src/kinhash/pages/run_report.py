"""`report_run`: the folder of a training as one page, and its figures as files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinhash.arrays import is_whole
from kinhash.cards.encoder_card import read_card
from kinhash.cards.names import CARD, ENCODER, LOG
from kinhash.cards.run_files import read_config, read_log, read_metrics
from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.meaning.semantics import Semantics
from kinhash.pages.figures import Drawn, figure_of
from kinhash.pages.markup import Html, tag
from kinhash.pages.page import page, section, table, write_page
from kinhash.pages.run_outputs import (
    MOST,
    Outputs,
    outputs_of_codes,
    outputs_of_data,
    outputs_of_file,
    with_pictures,
)
from kinhash.pages.run_sections import scored_sections
from kinhash.pages.thumbnails import MEGABYTES
from kinhash.plots import plot_training
from kinhash.report import format_value, title_of

Location = str | os.PathLike[str]


@dataclass
class RunReport:
    """What was written: the page, the figures, and what could not be shown for want of what."""

    page: Path
    figures: list[Path] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)


def report_run(
    run: Location,
    data: Split | None = None,
    *,
    out: Location | None = None,
    codes: Location | None = None,
    outputs: Location | None = None,
    semantics: Semantics | Mapping[str, Semantics] | None = None,
    queries: int = 3,
    most: int = MOST,
    megabytes: float = MEGABYTES,
    device: str | None = None,
    progress: bool = False,
) -> RunReport:
    """Write `out` (default: report.html in the folder `run`), and every figure as png and svg to figures/ beside it.

    `data` is a labelled split, which the run's encoder encodes; or `codes` names a folder that `kinhash encode` wrote, or
    `outputs` an npz file with z and labels, and `data` only brings the pictures. Without any of them the page shows what
    the folder holds, and says what is missing. `semantics`: as for `evaluate` (default: the encoder's own). Of more
    than `most` items so many are drawn; `queries` says how many of the best and of the worst are shown.
    """
    folder = Path(run)
    if not is_whole(most) or most < 3 or not is_whole(queries) or queries < 0:
        raise InputError(
            f"most is at least 3 and queries at least 0, both whole numbers; got {most!r} and {queries!r}"
        )
    config, metrics, log = read_config(folder), read_metrics(folder), read_log(folder / LOG)
    made = RunReport(folder / "report.html" if out is None else Path(out))
    drawn: list[Drawn] = []
    sections: list[Html | None] = [_summary(config, metrics), _training(log, drawn, made.missing)]
    found = _outputs(folder, data, codes, outputs, config, device, progress)
    if found is None:
        made.missing.append(
            "How good the codes are: give the data set (--data), codes (--codes) or stored outputs (--outputs)."
        )
        sections.append(_stored_metrics(metrics))
    else:
        named = _semantics(semantics, folder, found, made.missing)
        scored = scored_sections(found.some(most), len(found.codes), named, queries, megabytes, made.missing)
        sections += scored.sections
        drawn += scored.drawn
        made.metrics = scored.metrics
    for figure in drawn:
        made.figures += figure.save(made.page.parent / "figures")
    if made.missing:
        sections.append(section("What is missing", tag("ul", *(tag("li", words) for words in made.missing))))
    write_page(page(f"Run {folder.resolve().name}", *sections), made.page)
    return made


def _outputs(
    folder: Path,
    data: Split | None,
    codes: Location | None,
    outputs: Location | None,
    config: Mapping[str, Any],
    device: str | None,
    progress: bool,
) -> Outputs | None:
    if codes is not None and outputs is not None:
        raise InputError("give either codes or outputs: both say what the encoder made")
    if codes is not None:
        return outputs_of_codes(Path(codes), data)
    if outputs is not None:
        found = outputs_of_file(
            Path(outputs), data.classes if data is not None else config.get("classes", ())
        )
        return found if data is None else with_pictures(found, data)
    return None if data is None else outputs_of_data(folder / ENCODER, data, device=device, progress=progress)


def _semantics(
    given: Semantics | Mapping[str, Semantics] | None, folder: Path, outputs: Outputs, missing: list[str]
) -> dict[str, Semantics]:
    """By name, over the classes of the outputs; the encoder's own where nothing is given."""
    named = {"sim": given} if isinstance(given, Semantics) else dict(given or {})
    if not named:
        held = (folder / ENCODER / CARD).is_file()
        card = read_card(folder / ENCODER).get("semantics") if held else None
        if card is not None:
            named = {"sim": Semantics.from_card(card)}
        else:
            missing.append(
                "Likeness of classes: the run holds no encoder with semantics; name some (--semantics)."
            )
    return {name: one.take(list(outputs.classes)) for name, one in named.items()}


def _summary(config: Mapping[str, Any], metrics: Mapping[str, Any]) -> Html:
    """The configuration, without the names of the classes."""
    rows: list[tuple[object, ...]] = []
    for key, value in config.items():
        if key == "classes" and isinstance(value, Sequence):
            value = f"{len(value)}: {', '.join(map(str, value[:5]))}{' …' if len(value) > 5 else ''}"
        rows.append((key, value if isinstance(value, str) else json.dumps(value)))
    seconds = metrics.get("seconds", {}).get("train")
    done = f"{metrics['epochs']} epochs" if "epochs" in metrics else "The training has not ended."
    took = "" if seconds is None else f" in {seconds:,.1f} s"
    details = tag("details", tag("summary", "Configuration"), table(("option", "value"), rows))
    return section("Run", tag("p", done + took), details)


def _training(log: Sequence[Mapping[str, Any]], drawn: list[Drawn], missing: list[str]) -> Html:
    if not log:
        missing.append(f"Curves of the training: {LOG} is missing or empty.")
        return section("Training", tag("p", "No epoch was logged."))
    last = log[-1]
    losses = ", ".join(f"{name} {value:.4g}" for name, value in last["losses"].items())
    figure = Drawn(
        "training",
        plot_training(log),
        f"Terms of the loss and learning rate over {len(log)} epochs; at the end {losses}.",
    )
    drawn.append(figure)
    return section("Training", figure_of(figure))


def _stored_metrics(metrics: Mapping[str, Any]) -> Html | None:
    """What the training itself measured."""
    values, protocol = metrics.get("metrics"), metrics.get("protocol")
    if not values or not protocol:
        return None
    rows: list[tuple[object, ...]] = [
        (title_of(key, protocol), "none" if value is None else format_value(key, value))
        for key, value in values.items()
    ]
    return section("Metrics at the end of the training", table(("metric", "value"), rows))
