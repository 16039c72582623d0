"""From class names to meanings: strictly when semantics are made, generously when a person is asked to choose.

The most frequent sense is wrong for many class names (otter: the fur; skunk: a person), so a name with several
meanings is an error with the candidates listed, and `candidates` gives a person what is needed to decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinhash.errors import AmbiguousClassError, UnknownClassError
from kinhash.meaning.graph import Positions
from kinhash.meaning.hierarchy import wu_palmer
from kinhash.meaning.wordnet import Synset, WordNet, as_lemma

_KEY = re.compile(r"n\d{8}|.+\.[a-z]\.\d+")
_PLURALS = (
    ("ches", "ch"),
    ("shes", "sh"),
    ("ies", "y"),
    ("men", "man"),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ves", "f"),
    ("s", ""),
)
_SHOWN = 5  # names and candidates listed in one message
_HOW = (
    "Write a table with `kinhash classes suggest names.txt`, choose in it, and pass it as table=PATH; "
    "or write synsets like 'otter.n.02' in place of names"
)


@dataclass(frozen=True)
class Candidate:
    """One meaning that a class name may have, with what helps a person to judge it."""

    name: str
    synset: Synset | None
    warning: str
    fit: float = float("nan")  # mean similarity to the nearest candidates of the other names

    @property
    def certain(self) -> bool:
        """The name is a word with this meaning alone."""
        return self.synset is not None and not self.warning


def resolve(wordnet: WordNet, names: Sequence[str], table: Mapping[str, str] | None = None) -> Positions:
    """Positions of the synsets that `names` mean: by `table` (name -> synset or id), as ids, or as unambiguous words."""
    chosen = table or {}
    found = []
    ambiguous: dict[str, list[Synset]] = {}
    unknown: list[str] = []
    for name in names:
        key = chosen.get(name, name)
        if name in chosen or _KEY.fullmatch(key):
            found.append(wordnet.position(key))
            continue
        senses = wordnet.senses(name)
        if len(senses) == 1:
            found.append(senses[0].position)
        elif senses:
            ambiguous[name] = senses
        else:
            unknown.append(name)
    if ambiguous:
        raise AmbiguousClassError(_ambiguous_message(ambiguous, unknown))
    if unknown:
        raise UnknownClassError(
            f"WordNet does not know {len(unknown)} of the names: {_listed(unknown)}. "
            f"Instead, name a synset for each. {_HOW}"
        )
    return np.array(found, np.int64)


def candidates(wordnet: WordNet, names: Sequence[str]) -> list[Candidate]:
    """What every name may mean, names in their order, senses by frequency, each rated by how well it fits the others."""
    found = [candidate for name in names for candidate in _candidates_of(wordnet, name)]
    fits = _fits(wordnet, found)
    return [Candidate(c.name, c.synset, c.warning, fit) for c, fit in zip(found, fits, strict=True)]


def path_text(wordnet: WordNet, synset: Synset) -> str:
    """The shortest way to the root: "cat.n.01 < feline.n.01 < ... < entity.n.01"."""
    return " < ".join(step.name for step in wordnet.paths_to_root(synset)[0])


def singulars(word: str) -> list[str]:
    """Words that `word` may be the plural of."""
    return list(
        dict.fromkeys(
            word.removesuffix(end) + new for end, new in _PLURALS if word.endswith(end) and word != end
        )
    )


def _candidates_of(wordnet: WordNet, name: str) -> list[Candidate]:
    if _KEY.fullmatch(name):
        return [Candidate(name, wordnet.synset(name), "")]
    senses = wordnet.senses(name)
    if len(senses) == 1:
        return [Candidate(name, senses[0], "")]
    if senses:
        return [Candidate(name, sense, f"{len(senses)} senses compete: choose one") for sense in senses]
    for stand_ins in _stand_ins(as_lemma(name.replace("-", "_"))):
        found = [
            Candidate(name, sense, f"no word of WordNet; a meaning of {stand_in!r}: check")
            for stand_in in stand_ins
            for sense in wordnet.senses(stand_in)
        ]
        if found:
            return found
    return [Candidate(name, None, "no word of WordNet: fill in a synset such as 'cat.n.01', or an id")]


def _stand_ins(lemma: str) -> list[list[str]]:
    """Words to look up for one that WordNet lacks, the likeliest group first."""
    words = [word for word in lemma.split("_") if word]
    ends = ["_".join(words[i:]) for i in range(1, len(words))]
    starts = ["_".join(words[:i]) for i in range(len(words) - 1, 0, -1)]
    parts = [*ends, *starts]
    return [["_".join(words)], singulars(lemma), parts, [s for part in parts for s in singulars(part)]]


def _fits(wordnet: WordNet, found: Sequence[Candidate]) -> list[float]:
    """Mean over the other names of the similarity to the nearest of their candidates; NaN where there is none."""
    rated = [i for i, candidate in enumerate(found) if candidate.synset is not None]
    owners = [found[i].name for i in rated]
    fits = [float("nan")] * len(found)
    if len(set(owners)) < 2:
        return fits
    positions = np.array([c.synset.position for c in found if c.synset is not None], np.int64)
    nodes, place = np.unique(positions, return_inverse=True)
    likeness = wu_palmer(wordnet.graph, nodes)[np.ix_(place, place)]
    starts = [i for i, owner in enumerate(owners) if i == 0 or owner != owners[i - 1]]
    nearest = np.maximum.reduceat(likeness, starts, axis=1)  # (candidates, names)
    own = np.repeat(np.arange(len(starts)), np.diff([*starts, len(owners)]))
    others = nearest.sum(axis=1) - nearest[np.arange(len(own)), own]
    for i, total in zip(rated, others, strict=True):
        fits[i] = float(total) / (len(starts) - 1)
    return fits


def _ambiguous_message(ambiguous: Mapping[str, Sequence[Synset]], unknown: Sequence[str]) -> str:
    shown = []
    for name, senses in list(ambiguous.items())[:_SHOWN]:
        listed = " | ".join(f"{s.name} {s.wnid}: {s.gloss.split(';')[0]}" for s in senses[:_SHOWN])
        shown.append(f"{name!r} ({listed}{' | ...' if len(senses) > _SHOWN else ''})")
    rest = f", and {len(ambiguous) - _SHOWN} more" if len(ambiguous) > _SHOWN else ""
    lacking = f"; WordNet does not know {_listed(unknown)}" if unknown else ""
    word = "name has" if len(ambiguous) == 1 else "names have"
    return f"{len(ambiguous)} {word} several meanings: {', '.join(shown)}{rest}{lacking}. {_HOW}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_SHOWN])) + (
        f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    )
