"""`kinhash export`: an encoder as an ONNX file."""

from __future__ import annotations

from pathlib import Path

import click

from kinhash.cli.talk import json_option, print_json


@click.command()
@click.argument("encoder", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@json_option
def command(encoder: Path, out: Path, as_json: bool) -> None:
    """Write ENCODER, a folder, as the ONNX file OUT: pixels or embeddings in, floats and packed codes out.

    The codes are those that `kinhash encode` gives for the same pixels. The file's metadata hold bits, picture size and
    class names.
    """
    import kinhash as kh

    loaded = kh.load_encoder(encoder, device="cpu")
    loaded.export_onnx(out)
    if as_json:
        print_json({"onnx": str(out), "bits": loaded.bits, "bytes": out.stat().st_size})
        return
    click.echo(f"{out}: {loaded.bits} bits, {out.stat().st_size / 1e6:.1f} MB")
