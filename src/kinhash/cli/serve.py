"""`kinhash serve`: an index as a web server with a gallery page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kinhash.cli.talk import example
from kinhash.errors import InputError


@click.command()
@click.argument("indexes", metavar="INDEX...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Folder of the encoder that the index was made with; one for each INDEX, or one for all.",
)
@click.option(
    "--pictures", type=click.Path(path_type=Path), help="Folder that relative paths of pictures begin at."
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen at; 0.0.0.0 is all of them."
)
@click.option("--port", default=8080, show_default=True, help="Port to listen at; 0 takes any free one.")
@click.option(
    "--token", envvar="KINHASH_TOKEN", show_envvar=True, help="A secret that every request must bring."
)
@click.option("--cors", multiple=True, metavar="ORIGIN", help="A web site whose pages may ask this server.")
@click.option("--max-upload", default=32.0, show_default=True, metavar="MB", help="Largest request.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for small copies of pictures.")
@example("""
kinhash serve photos.kin --encoder run/encoder
kinhash serve photos.kin other.kin --encoder run/encoder --encoder other/encoder --port 8081
""")
def command(
    indexes: tuple[Path, ...],
    encoders: tuple[Path, ...],
    pictures: Path | None,
    host: str,
    port: int,
    token: str | None,
    cors: tuple[str, ...],
    max_upload: float,
    cache: Path | None,
) -> None:
    """Serve INDEX with a gallery page until Ctrl-C; several indexes stand side by side in it.

    Without --encoder, searches are by item and by code. Only this machine can ask, unless --host says otherwise. A folder
    of photos stands for the index that `kinhash photos` made of it, with its encoder and pictures.
    """
    import kinhash as kh
    from kinhash.album.place import folder_of, index_at
    from kinhash.serving.served import names_of

    if len(encoders) > 1 and len(encoders) != len(indexes):
        raise click.UsageError(
            f"{len(encoders)} encoders for {len(indexes)} indexes: give one for each, or one for all"
        )
    if not max_upload > 0:
        raise InputError(f"--max-upload is a number of MB above 0, got {max_upload:g}")
    names = names_of(indexes)
    opened = dict(zip(names, map(index_at, indexes), strict=True))
    encoder: Any = (
        dict(zip(names, encoders, strict=True)) if len(encoders) > 1 else next(iter(encoders), None)
    )
    photos = {name: folder for name, path in opened.items() if (folder := folder_of(path)) is not None}
    if not encoders and photos:
        encoder = {name: opened[name].parent / "encoder" for name in photos}
    if pictures is None and len(indexes) == len(photos) == 1:
        pictures = photos[names[0]]
    kh.serve(
        opened,
        encoder,
        host=host,
        port=port,
        pictures=pictures,
        token=token,
        cors=cors,
        max_upload=int(max_upload * 2**20),
        cache=cache,
        ready=lambda url: click.echo(f"serving {', '.join(names)} at {url} (Ctrl-C stops)"),
    )
