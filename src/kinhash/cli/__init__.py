"""The command line: one command per public verb, each a thin translation into a function call."""

from __future__ import annotations

import importlib
import io
import sys

import click

from kinhash.errors import KinhashError, explained

# activity -> command -> (module, one line of help); the module is imported only when its command runs
_ACTIVITIES: dict[str, dict[str, tuple[str, str]]] = {
    "Pictures, straight away": {
        "demo": ("kinhash.cli.demo", "the whole way on bundled pictures, in minutes"),
        "photos": (
            "kinhash.cli.photos",
            "a folder of photos: encoded, kept in step, and served as a gallery",
        ),
        "dedup": (
            "kinhash.cli.dedup",
            "pictures of a folder, or items of an index, that are nearly the same, in groups",
        ),
        "gallery": (
            "kinhash.cli.gallery",
            "what pictures find, several encoders side by side, as one page or picture",
        ),
        "serve": ("kinhash.cli.serve", "an index as a web server with a gallery page"),
    },
    "Encoders": {
        "train": ("kinhash.cli.train", "learn codes from pictures or embeddings with classes"),
        "methods": ("kinhash.cli.methods", "what can be trained: papers, formulas, codes or floats"),
        "encode": ("kinhash.cli.encode", "pictures or embeddings to codes, by a trained encoder"),
        "info": ("kinhash.cli.info", "what a folder is: encoder, index, codes, training or photos"),
        "push": ("kinhash.cli.push", "an encoder to the Hugging Face Hub"),
        "pull": ("kinhash.cli.pull", "an encoder from the Hugging Face Hub"),
        "export": ("kinhash.cli.export", "an encoder as an ONNX file"),
        "classes": ("kinhash.cli.classes", "write and check tables of what class names mean"),
    },
    "Measuring": {
        "evaluate": ("kinhash.cli.evaluate", "how well codes or vectors keep meaning"),
        "report": ("kinhash.cli.report", "a training as one page, with figures"),
        "sts": (
            "kinhash.cli.sts",
            "how well sentence encoders agree with people on which sentences are alike",
        ),
    },
    "Indexes": {
        "index": ("kinhash.cli.index", "make, fill, tidy and check an index on disk"),
        "search": ("kinhash.cli.search", "the items of an index nearest to a picture, an item or a code"),
    },
    "The shell": {
        "completion": (
            "kinhash.cli.completion",
            "what makes the tabulator complete commands in bash, zsh or fish",
        ),
    },
}
_COMMANDS = {name: place for commands in _ACTIVITIES.values() for name, place in commands.items()}


class _LazyGroup(click.Group):
    """Lists commands without importing them: `kinhash --help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _COMMANDS))
        for activity, commands in _ACTIVITIES.items():
            with formatter.section(activity):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in commands.items()])


@click.group(
    cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(package_name="kinhash")
def cli() -> None:
    """Turn pictures or embeddings into short binary codes that keep kin together, and search them exactly.

    Results go to stdout, all else to stderr. Exit codes: 0 done, 1 an error (one sentence on stderr says which), 2 a wrong
    command line, 130 interrupted.
    """


def main() -> None:
    """Entry point: errors that kinhash raises on purpose become one clear sentence and exit code 1."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except KinhashError as error:
        click.echo(f"kinhash: {error}", err=True)
        sys.exit(1)
    except OSError as error:  # not one of ours, such as stdout on a full disk
        click.echo(
            f"kinhash: {error.filename or 'what was to be written'}: {error.strerror or error}", err=True
        )
        sys.stdout = io.StringIO()  # what it still holds would fail again at the end of Python
        sys.exit(1)
    except ModuleNotFoundError as error:
        if (missing := explained(error)) is None:
            raise
        click.echo(f"kinhash: {missing}", err=True)
        sys.exit(1)
