"""`kinhash train`: `kh.train` on a data set by name or path."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kinhash.cli.data_option import root_option
from kinhash.cli.semantics_option import SPEC_HELP, read_semantics, semantics_options
from kinhash.cli.talk import device_option, json_option, plain_warnings, print_json, quiet_option
from kinhash.errors import InputError

if TYPE_CHECKING:
    from kinhash.data.splits import Dataset, Split

# with every mahp_... and recall, what a person wants to see first
_SHOWN = ("map_full", "accuracy", "unique_codes", "kendall_tau")


@click.command()
@click.argument("data")
@root_option
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the run.")
@click.option("--semantics", help=f"{SPEC_HELP}.  [default: wordnet]")
@semantics_options
@click.option(
    "--target-vectors",
    type=click.Path(path_type=Path),
    help="FILE.npy, one row per training row, e.g. embeddings of captions; in place of --semantics.",
)
@click.option(
    "--captions",
    is_flag=True,
    help="Learn from captions, and to be asked by sentences.  [default: where there are captions and no labels]",
)
@click.option(
    "--text-encoder",
    default="minilm",
    show_default=True,
    help="What makes vectors of captions: a name, or a folder; see `kinhash sts`.",
)
@click.option("--bits", type=int, help="Length of the codes.  [default: 64, where the method makes any]")
@click.option(
    "--backbone", help="resnet110w, wrn16-8, efficientnet-lite0, timm:NAME, mlp ...  [default: by the data]"
)
@click.option(
    "--method", help="See `kinhash methods`.  [default: sim-kl-class; sim-kl-reg where there are no classes]"
)
@click.option(
    "--class-vectors",
    type=click.Path(path_type=Path),
    help="FILE.npy, one row per class in their order, e.g. word vectors, for methods that learn them.",
)
@click.option("--recipe", type=click.Choice(["modern", "paper"]), default="modern", show_default=True)
@click.option("--epochs", type=int, help="Passes over the data.  [default: by the recipe]")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any other value, as in --set lr=0.05",
)
@click.option("--seed", default=0, show_default=True, help="Of the first weights and all that is drawn.")
@click.option(
    "--test-share", type=float, help="Hold back this share of every class, to evaluate the codes of."
)
@click.option("--resume", is_flag=True, help="Go on from the newest checkpoint in --out.")
@click.option(
    "--checkpoint-every", type=int, help="Epochs between checkpoints.  [default: 1, but 30 s at least]"
)
@click.option("--stop-after", type=int, help="Leave after this epoch, to be resumed another time.")
@device_option
@click.option(
    "--accelerate",
    type=click.Choice(["auto", "graph", "compile", "off"]),
    default="auto",
    show_default=True,
    help="How a step runs on a GPU.",
)
@click.option("--workers", default=0, help="Threads that decode pictures.  [default: one per core]")
@click.option("--processes", is_flag=True, help="Decode in processes in place of threads.")
@quiet_option
@json_option
def command(
    data: str,
    root: Path | None,
    out: Path,
    semantics: str | None,
    target_vectors: Path | None,
    captions: bool,
    text_encoder: str,
    class_vectors: Path | None,
    test_share: float | None,
    overrides: tuple[str, ...],
    quiet: bool,
    as_json: bool,
    measure: str | None,
    variant: str | None,
    table: str | None,
    metric: str | None,
    **options: Any,
) -> None:
    """Train an encoder on DATA: the name of a data set (cifar100, imagenet ...), or your own at a path.

    \b
    photos/           a folder of pictures per class, or photos/train/CLASS and photos/test/CLASS
    list.csv          a manifest (csv, tsv, jsonl, parquet) with columns path and label, or path and caption
    shards/           WebDataset tars, or pictures with a text beside each
    vectors.npy       embeddings, with vectors_labels.npy beside; parquet with embedding and label

    The run's folder receives config.json, log.jsonl, checkpoints/, metrics.json, curves.png and encoder/. On several GPUs:

    \b
    torchrun --nproc-per-node 8 --no-python kinhash train DATA --out RUN
    """
    import kinhash as kh
    from kinhash.data.embeddings import load_array
    from kinhash.training.distributed import leads

    if target_vectors is not None and semantics is not None:
        raise InputError("--target-vectors take the place of classes: leave --semantics out, or them")
    if captions and (target_vectors is not None or semantics is not None):
        raise InputError(
            "--captions say what pictures mean: leave --semantics and --target-vectors out, or them"
        )
    with plain_warnings():
        dataset = kh.dataset(data) if root is None else kh.dataset(data, root)
        by_captions = captions
        if target_vectors is None and semantics is None and dataset.train.labels is None:
            by_captions = captions or dataset.train.captions is not None
        train, test = _parts(
            dataset, test_share, options["seed"], target_vectors is not None, by_captions=by_captions
        )
        meaning = None
        if target_vectors is None and not by_captions and train.labels is not None:
            choices = {"measure": measure, "variant": variant, "table": table, "metric": metric}
            meaning = read_semantics(semantics or "wordnet", train.classes, choices)
        kh.train(
            train,
            semantics=meaning,
            target_vectors=None if target_vectors is None else load_array(target_vectors),
            class_vectors=None if class_vectors is None else load_array(class_vectors),
            text=text_encoder if by_captions else None,
            test=test,
            out=out,
            progress=not quiet,
            **options,
            **parsed(overrides),
        )
    if leads():
        _report(out, as_json)


def parsed(pairs: Sequence[str]) -> dict[str, Any]:
    """('lr=0.2', 'optimiser=adam') -> {'lr': 0.2, 'optimiser': 'adam'}."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"--set takes NAME=VALUE, got {pair!r}")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def _parts(
    dataset: Dataset, share: float | None, seed: int, by_vectors: bool, *, by_captions: bool = False
) -> tuple[Split, Split | None]:
    """What to train on, and what to evaluate in the end, if anything."""
    if share is not None and (len(dataset.test) or by_vectors):
        reason = "target vectors belong to all rows" if by_vectors else "it has a test part of its own"
        raise InputError(f"--test-share cannot divide {dataset.name}: {reason}")
    if share is not None:
        return dataset.train.divide(share, seed)
    told = dataset.test.captions if by_captions else dataset.test.labels
    usable = len(dataset.test) and told is not None and not by_vectors
    return dataset.train, dataset.test if usable else None


def _report(out: Path, as_json: bool) -> None:
    """What the run's own files say."""
    from kinhash.cards.run_files import read_metrics
    from kinhash.report import format_value, title_of

    outcome = read_metrics(out)
    if as_json:
        print_json({"encoder": str(out / "encoder"), **outcome})
        return
    losses = ", ".join(f"{name} {value:.4f}" for name, value in outcome["losses"].items())
    click.echo(f"{outcome['epochs']} epochs in {outcome['seconds']['train']:.1f} s: {losses}")
    for name, value in outcome.get("metrics", {}).items():
        if name in _SHOWN or name.startswith(("mahp", "text_to_image")):
            shown = "none" if value is None else format_value(name, value)  # nothing of its class to be found
            click.echo(f"test part, {title_of(name, outcome['protocol'])}: {shown}")
    click.echo(f"{out / 'encoder'}: the encoder")
