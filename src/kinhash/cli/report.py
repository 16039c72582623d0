"""`kinhash report`: the folder of a training as one page, with figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kinhash.cli.data_option import PARTS, part_of, root_option
from kinhash.cli.semantics_option import named_semantics_option, read_named_semantics, semantics_options
from kinhash.cli.talk import (
    counted,
    device_option,
    example,
    json_option,
    plain_warnings,
    print_json,
    quiet_option,
)
from kinhash.errors import InputError

if TYPE_CHECKING:
    from kinhash.data.splits import Split


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--data", help="A data set, as for `kinhash train`; the run's encoder encodes --part of it.")
@click.option("--part", type=PARTS, help="[default: test]")
@root_option
@click.option(
    "--codes", type=click.Path(path_type=Path), help="Codes with labels, from `kinhash encode --part`."
)
@click.option(
    "--outputs",
    type=click.Path(path_type=Path),
    help="FILE.npz with z and labels, maybe predictions, in place of encoding.",
)
@named_semantics_option("several get names.  [default: the encoder's own]")
@semantics_options
@click.option("--out", type=click.Path(path_type=Path), help="[default: report.html in RUN]")
@click.option(
    "--queries", default=3, show_default=True, help="How many of the best and of the worst to show."
)
@click.option("--most", default=10_000, show_default=True, help="Draw so many items where there are more.")
@click.option("--megabytes", default=20.0, show_default=True, help="The pictures take no more.")
@device_option
@quiet_option
@json_option
@example("""
kinhash report runs/photos --data photos --part all
kinhash report runs/cifar100 --data cifar100 --semantics wup=wordnet --semantics lcs=tree:cifar100
kinhash report runs/photos --out photos.html --json
""")
def command(
    run: Path,
    data: str | None,
    part: str | None,
    root: Path | None,
    specs: tuple[str, ...],
    quiet: bool,
    as_json: bool,
    measure: str | None,
    variant: str | None,
    table: str | None,
    metric: str | None,
    **options: Any,
) -> None:
    """Show a training as one page that needs nothing else: curves, metrics, mistakes, distances, bits, cost, queries.

    RUN is a folder that `kinhash train --out` wrote. The figures are written to figures/ beside the page, as png and svg.
    Without --data, --codes or --outputs only the training is shown.
    """
    import kinhash as kh

    if data is None and (part is not None or root is not None):
        raise click.UsageError("--part and --root belong to --data")
    choices = {"measure": measure, "variant": variant, "table": table, "metric": metric}
    with plain_warnings():
        split = None if data is None else _labelled(part_of(data, part or "test", root), data)
        semantics = read_named_semantics(specs, _classes(run, split), choices)
        made = kh.report_run(run, split, semantics=semantics or None, progress=not quiet, **options)
    for words in made.missing:
        click.echo(f"kinhash: not shown: {words}", err=True)
    if as_json:
        figures = [str(path) for path in made.figures]
        print_json(
            {
                "page": str(made.page),
                "figures": figures,
                "missing": made.missing,
                "metrics": _plain(made.metrics),
            }
        )
        return
    size = f"{made.page.stat().st_size / 1e6:.1f} MB"
    click.echo(f"{made.page}: {size}, {counted(len(made.figures), 'file')} in {made.page.parent / 'figures'}")


def _labelled(split: Split, data: str) -> Split:
    if not len(split):
        raise InputError(f"this part of {data} is empty: choose another with --part")
    split.targets()  # says what to do where there are no labels
    return split


def _classes(run: Path, split: Split | None) -> list[str]:
    """Those of the data set, or those that the run was trained with."""
    from kinhash.cards.run_files import read_config

    return list(split.classes if split is not None else read_config(run).get("classes", ()))


def _plain(metrics: dict[str, float]) -> dict[str, float | None]:
    return {key: None if value != value else value for key, value in metrics.items()}
