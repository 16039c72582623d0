"""The pages of the Python reference, made of the signatures and docstrings of the public names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import kinhash as kh

# page -> its title, and the names on it; a test holds these against kinhash.__all__
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "search": (
        "Codes and search",
        ("Codes", "Index", "MultiIndex", "GpuIndex", "concat", "random_hyperplanes", "KinhashError"),
    ),
    "measures": (
        "Meaning and measures",
        (
            "semantics",
            "Semantics",
            "Taxonomy",
            "text_encoder",
            "sts",
            "evaluate",
            "Report",
            "compare",
            "plot_curves",
        ),
    ),
    "training": (
        "Data and training",
        (
            "dataset",
            "Dataset",
            "Split",
            "train",
            "HashEncoder",
            "ConcatEncoder",
            "load_encoder",
            "push",
            "pull",
            "build_backbone",
        ),
    ),
    "faces": (
        "Pages and servers",
        ("photos", "duplicate_pictures", "gallery", "report_run", "serve", "Client", "info"),
    ),
}
WIDTH = 100


class _Written:
    """An annotation as it stands in the source, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def page(name: str) -> str:
    """Markdown of one page."""
    title, names = PAGES[name]
    return f"# {title}\n\n" + "\n".join(entry(public, getattr(kh, public)) for public in names)


def entry(name: str, thing: Any) -> str:
    """A function, or a class with its public methods and properties."""
    parts = [f"## {name}\n", _code(_call(f"kh.{name}", thing)), _text(thing)]
    if inspect.isclass(thing):
        for member, value in members(thing):
            parts += [f"### {name}.{member}\n", _code(_call(f"{name}.{member}", value)), _text(value)]
    return "\n".join(parts)


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that the class itself defines, in the order of its source."""
    for name, value in vars(cls).items():
        if not name.startswith("_") and (
            isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)
        ):
            yield name, value


def _call(name: str, thing: Any) -> str:
    if isinstance(thing, property):
        returned = inspect.get_annotations(thing.fget).get("return", "")  # type: ignore[arg-type]
        return f"{name}: {returned}"
    function: Callable[..., Any] = getattr(thing, "__func__", thing)
    try:
        signature = inspect.signature(function)
    except ValueError:  # an exception has none
        return name
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    parameters = [one.replace(annotation=_written(one.annotation)) for one in parameters]
    returns = inspect.Signature.empty if inspect.isclass(thing) else _written(signature.return_annotation)
    signature = signature.replace(parameters=parameters, return_annotation=returns)
    line = f"{name}{signature}"
    if len(line) <= WIDTH or not parameters:
        return line
    head, _, tail = line.partition("(")
    inside, arrow, returned = tail.rpartition(")")
    inside = ",\n    ".join(_apart(inside))
    return f"{head}(\n    {inside},\n{arrow}{returned}"


def _apart(parameters: str) -> list[str]:
    """The parameters of a signature; commas inside brackets and quotes part nothing."""
    return [
        part.strip()
        for part in re.findall(
            r"(?:[^,\[\](){}']|'[^']*'|[\[({](?:[^\[\](){}]|[\[({][^\[\](){}]*[\])}])*[\])}])+", parameters
        )
    ]


def _written(annotation: Any) -> Any:
    return _Written(annotation) if isinstance(annotation, str) else annotation


def _code(text: str) -> str:
    return f"```python\n{text}\n```\n"


def _text(thing: Any) -> str:
    """The docstring, its examples as code."""
    text = (inspect.getdoc(thing) or "") + "\n"
    return re.sub(r"^>>> (?:.+\n)+", lambda found: f"```python\n{found[0]}```\n", text, flags=re.MULTILINE)
