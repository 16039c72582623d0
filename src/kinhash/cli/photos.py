"""`kinhash photos`: a folder of photos to an index that keeps in step with it, and a gallery of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from kinhash.bar import bar
from kinhash.cli.talk import device_option, example, json_option, plain_warnings, print_json, quiet_option
from kinhash.errors import require


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--encoder",
    type=click.Path(path_type=Path),
    help="Folder of a trained encoder.  [default: a pretrained network]",
)
@click.option("--bits", type=int, help="Length of the codes.  [default: 256, or what the encoder makes]")
@click.option(
    "--index",
    type=click.Path(path_type=Path),
    help="Folder to keep the index in, where FOLDER may not be written to.  [default: FOLDER/.kinhash]",
)
@click.option("--no-serve", is_flag=True, help="Bring the index up to date, and that is all.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen at; 0.0.0.0 is all of them."
)
@click.option("--port", default=8080, show_default=True, help="Port to listen at; 0 takes any free one.")
@click.option("--workers", default=0, help="Threads that decode pictures.  [default: one per core]")
@device_option
@quiet_option
@json_option
@example("""
kinhash photos ~/Pictures
kinhash photos ~/Pictures --no-serve --json
kinhash photos /mnt/archive --index ~/archive-index --encoder run/encoder
""")
def command(
    folder: Path,
    encoder: Path | None,
    bits: int | None,
    index: Path | None,
    no_serve: bool,
    host: str,
    port: int,
    workers: int,
    device: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Encode all photos below FOLDER, index them, and serve a gallery of them until Ctrl-C.

    Again, only what changed is looked at: new and edited photos are encoded, moved ones are recognised by their content,
    deleted ones removed. What was done before an interruption stays. `kinhash search` takes FOLDER for the
    index in it.
    """
    # threads of OpenMP that spin while they wait take the cores from those that decode, and from other work
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is loaded, which happens below
    import kinhash as kh
    from kinhash.data.walking import text_of
    from kinhash.serving.running import check_address
    from kinhash.serving.served import short_name

    if not no_serve:  # before the long part
        require("starlette", "serve")
        require("uvicorn", "serve")
        check_address(host, port)
    with plain_warnings(), _progress(not quiet) as progress:
        outcome = kh.photos(
            folder,
            encoder=encoder,
            index=index,
            bits=bits,
            device=device,
            workers=workers,
            progress=progress,
        )
    if as_json:
        print_json(outcome.to_dict())
    else:
        click.echo(str(outcome))
    if not no_serve:
        kh.serve(
            {short_name(folder.resolve().name): outcome.index},
            outcome.encoder if device is None else kh.load_encoder(outcome.encoder, device=device),
            host=host,
            port=port,
            pictures=folder.absolute(),
            ready=lambda url: click.echo(f"serving {text_of(str(folder))} at {url} (Ctrl-C stops)", err=True),
        )


@contextmanager
def _progress(show: bool) -> Iterator[Callable[[int, int], None]]:
    """A function of (done, to do), whose bar appears with the first batch; and a word to whoever interrupts."""
    done = 0
    with ExitStack() as stack:
        advance: Callable[[int], None] | None = None

        def tell(count: int, total: int) -> None:
            nonlocal done, advance
            if advance is None:
                advance = stack.enter_context(bar("photos", total, show))
            advance(count - done)
            done = count

        try:
            yield tell
        except KeyboardInterrupt:
            stack.close()
            click.echo(
                f"kinhash: {done:,} photos were looked at and stay so; the same command goes on from there",
                err=True,
            )
            raise
