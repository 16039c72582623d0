"""kinhash: short binary codes whose Hamming distance follows meaning, and the exact search over them.

Public names are loaded on first use, so `import kinhash` costs nothing and searching never imports torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> the module that defines it
_PUBLIC = {
    "Client": "kinhash.serving.client",
    "Codes": "kinhash.codes",
    "ConcatEncoder": "kinhash.models.concatenated",
    "Dataset": "kinhash.data.splits",
    "GpuIndex": "kinhash.index.gpu",
    "HashEncoder": "kinhash.models.encoder",
    "Index": "kinhash.index.index",
    "KinhashError": "kinhash.errors",
    "MultiIndex": "kinhash.index.multi_index",
    "Report": "kinhash.report",
    "Semantics": "kinhash.meaning.semantics",
    "Split": "kinhash.data.splits",
    "Taxonomy": "kinhash.meaning.taxonomy",
    "build_backbone": "kinhash.models.catalogue",
    "compare": "kinhash.comparison",
    "concat": "kinhash.concatenation",
    "dataset": "kinhash.data.datasets",
    "duplicate_pictures": "kinhash.duplicates.folder",
    "evaluate": "kinhash.evaluation",
    "gallery": "kinhash.pages.gallery",
    "info": "kinhash.cards.info",
    "load_encoder": "kinhash.models.storage",
    "photos": "kinhash.album.update",
    "plot_curves": "kinhash.plots",
    "pull": "kinhash.models.hub",
    "push": "kinhash.models.hub",
    "random_hyperplanes": "kinhash.hyperplanes",
    "report_run": "kinhash.pages.run_report",
    "semantics": "kinhash.sentences",
    "serve": "kinhash.serving.running",
    "sts": "kinhash.sentence_pairs",
    "text_encoder": "kinhash.models.text",
    "train": "kinhash.training.train",
}

__all__ = [
    "Client",
    "Codes",
    "ConcatEncoder",
    "Dataset",
    "GpuIndex",
    "HashEncoder",
    "Index",
    "KinhashError",
    "MultiIndex",
    "Report",
    "Semantics",
    "Split",
    "Taxonomy",
    "__version__",
    "build_backbone",
    "compare",
    "concat",
    "dataset",
    "duplicate_pictures",
    "evaluate",
    "gallery",
    "info",
    "load_encoder",
    "photos",
    "plot_curves",
    "pull",
    "push",
    "random_hyperplanes",
    "report_run",
    "semantics",
    "serve",
    "sts",
    "text_encoder",
    "train",
]

if TYPE_CHECKING:
    from kinhash.album.update import photos
    from kinhash.cards.info import info
    from kinhash.codes import Codes
    from kinhash.comparison import compare
    from kinhash.concatenation import concat
    from kinhash.data.datasets import dataset
    from kinhash.data.splits import Dataset, Split
    from kinhash.duplicates.folder import duplicate_pictures
    from kinhash.errors import KinhashError
    from kinhash.evaluation import evaluate
    from kinhash.hyperplanes import random_hyperplanes
    from kinhash.index.gpu import GpuIndex
    from kinhash.index.index import Index
    from kinhash.index.multi_index import MultiIndex
    from kinhash.meaning.semantics import Semantics
    from kinhash.meaning.taxonomy import Taxonomy
    from kinhash.models.catalogue import build_backbone
    from kinhash.models.concatenated import ConcatEncoder
    from kinhash.models.encoder import HashEncoder
    from kinhash.models.hub import pull, push
    from kinhash.models.storage import load_encoder
    from kinhash.models.text import text_encoder
    from kinhash.pages.gallery import gallery
    from kinhash.pages.run_report import report_run
    from kinhash.plots import plot_curves
    from kinhash.report import Report
    from kinhash.sentence_pairs import sts
    from kinhash.sentences import semantics
    from kinhash.serving.client import Client
    from kinhash.serving.running import serve
    from kinhash.training.train import train


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'kinhash' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(_PUBLIC[name]), name)
    except ModuleNotFoundError as error:
        from kinhash.errors import explained

        if (missing := explained(error)) is None:
            raise
        raise missing from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
