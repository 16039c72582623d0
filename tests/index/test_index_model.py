"""The index against a dict, through any sequence of writes, reopenings and searches."""

from __future__ import annotations

import shutil
import tempfile
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from index.indexes import Model, codes_of, expected, small_limits

from kinhash import Index
from kinhash.errors import InputError, NotFoundError

BITS = 9
NUMBERS = st.integers(0, 2**BITS - 1)
ITEMS = st.fixed_dictionaries(
    {},
    optional={"n": st.one_of(st.integers(-3, 3), st.floats(-3, 3), st.none()), "t": st.sampled_from("abc")},
)
WORDS = st.text(st.sampled_from("ab\x00é😀"), min_size=1, max_size=9)
FILTERS = {
    "n >= 0": lambda item: item.get("n") is not None and item["n"] >= 0,
    't = "a" or not has n': lambda item: item.get("t") == "a" or item.get("n") is None,
    't in ("b", "c") and n < 2': lambda item: (
        item.get("t") in ("b", "c") and item.get("n") is not None and item["n"] < 2
    ),
}


class Machine(RuleBasedStateMachine):
    """Every rule does the same to an index and to a dict."""

    kind = "str"

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        small_limits(self.patch)
        self.folder = tempfile.mkdtemp()
        self.index = Index.create(self.folder, BITS)
        self.reader = Index.open(self.folder, read_only=True)
        self.model: Model = {}

    def names(self) -> Any:
        return st.integers(-20, 20) if self.kind == "int" else WORDS

    @initialize(kind=st.sampled_from(["int", "str"]))
    def choose(self, kind: str) -> None:
        self.kind = kind

    @rule(data=st.data(), with_metadata=st.booleans())
    def add(self, data: st.DataObject, with_metadata: bool) -> None:
        names = data.draw(st.lists(self.names(), min_size=1, max_size=9, unique=True))
        numbers = [data.draw(NUMBERS) for _ in names]
        items = [data.draw(ITEMS) for _ in names] if with_metadata else None
        if self.model.keys() & set(names):
            with pytest.raises(InputError, match="is in the index already"):
                self.index.add(names, codes_of(numbers, BITS), items)
            return
        self.index.add(names, codes_of(numbers, BITS), items)
        self.model |= dict(zip(names, zip(numbers, items or [{}] * len(names), strict=True), strict=True))

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def replace(self, data: st.DataObject) -> None:
        names = data.draw(st.lists(st.sampled_from(sorted(self.model)), min_size=1, max_size=8, unique=True))
        numbers = [data.draw(NUMBERS) for _ in names]
        items = [data.draw(ITEMS) for _ in names]
        self.index.replace(names, codes_of(numbers, BITS), items)
        self.model |= dict(zip(names, zip(numbers, items, strict=True), strict=True))

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        names = data.draw(st.lists(st.sampled_from(sorted(self.model)), min_size=1, max_size=8, unique=True))
        self.index.delete(names)
        for name in names:
            del self.model[name]

    @rule(data=st.data())
    def unknown(self, data: st.DataObject) -> None:
        name = data.draw(self.names().filter(lambda name: name not in self.model))
        for action in (self.index.delete, self.index.get):
            with pytest.raises((NotFoundError, InputError)):
                action([name, *list(self.model)[:1]])

    @rule()
    def compact(self) -> None:
        self.index.compact()

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = Index.open(self.folder)

    @rule()
    def verify(self) -> None:
        assert self.index.verify().items == len(self.model)

    @precondition(lambda self: self.model)
    @rule(query=NUMBERS, data=st.data(), text=st.sampled_from([None, *FILTERS]))
    def search(self, query: int, data: st.DataObject, text: str | None) -> None:
        for index in (self.index, self.reader):
            wanted = expected(self.model, query, FILTERS[text] if text else lambda item: True)
            if not wanted:
                continue
            k = data.draw(st.integers(1, len(wanted)))
            hits = index.search(codes_of([query], BITS), k, where=text)
            assert list(zip(hits.distances[0].tolist(), hits.ids[0].tolist(), strict=True)) == wanted[:k]
            radius = data.draw(st.integers(0, BITS))
            near = index.within(codes_of([query, query], BITS), radius, where=text)
            found = list(zip(near[1][1].tolist(), near[1][0].tolist(), strict=True))
            assert found == [hit for hit in wanted if hit[0] <= radius]
            assert index.count(text) == len(wanted)

    @invariant()
    def same_items(self) -> None:
        assert len(self.reader) == len(self.model)
        ids, codes = self.reader.items()
        assert ids.tolist() == sorted(self.model)
        assert codes == codes_of([self.model[name][0] for name in sorted(self.model)], BITS)
        if self.model:
            got = self.reader.get(list(self.model))
            assert got.codes == codes_of([code for code, _ in self.model.values()], BITS)
            assert got.metadata == [item for _, item in self.model.values()]

    def teardown(self) -> None:
        self.index.close()
        self.reader.close()
        shutil.rmtree(self.folder)
        self.patch.undo()


CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
Machine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=CALM
)
TestIndexAgainstModel = Machine.TestCase


@pytest.mark.slow
class TestIndexAgainstModelLong(Machine.TestCase):
    settings = settings(max_examples=400, stateful_step_count=50, deadline=None, suppress_health_check=CALM)
