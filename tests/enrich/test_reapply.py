"""Rules applied anew to what is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enrich.chain import Chain
from enrich.reapply import Moved, Place, Reapply
from enrich.rules import Rules
from enrich.rules.rule import Rule
from enrich.step import Context
from enrich.steps import program, tags
from leadline.errors import StoreError
from leadline.formats import Document
from leadline.store import open_store
from leadline.store.contract import Mode, Outcome, Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING

START, END = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)


def rules(*pairs: tuple[str, str]) -> Context:
    made = [Rule(pattern=pattern, program=name, file="site.csv", line=2) for pattern, name in pairs]
    return Context(rules=Rules([made]))


OLD = rules(("old", "Old"), ("same", "Same"))
NEW = rules(("old", "New"), ("same", "Same"), ("nobody", "Found"))


def sample(day: int, number: int, command: str) -> Document:
    return {
        "@timestamp": f"2026-03-{day:02d}T10:00:00.000Z",
        "sample.time": f"2026-03-{day:02d}T10:00:30.000Z",
        "dataset": "process",
        "cluster": "fox",
        "host.name": "c1-1",
        "boot.id": "b",
        "interval.seconds": 60.0,
        "sample.uptime": day * 1000,
        "process.entity_id": f"{number}-1",
        "process.pid": number,
        "process.name": command.split()[0],
        "process.command_line": command,
        "user.name": "alice",
        "core_seconds": 3600.0,
        "labels": {"colour": "red"},
    }


@pytest.fixture(params=["memory", "lake", pytest.param("opensearch", marks=pytest.mark.opensearch)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store
    if request.param == "opensearch":
        opened = request.getfixturevalue("opensearch_store")
    else:
        opened = open_store("memory" if request.param == "memory" else f"lake:{tmp_path / 'lake'}")
    yield opened
    opened.close()


def fill(store: Store, context: Context = OLD) -> None:
    steps = [program.build(context), tags.build(context)]
    documents = []
    for day in (1, 2, 3):
        for number, command in enumerate(("old a", "same a", "nobody 1"), start=1):
            document = sample(day, number, command)
            for step in steps:
                document |= step.compute(*map(document.get, step.reads))
            documents.append({**document, "rules.version": context.rules.version})
    assert 9 == store.write(documents, "create").accepted


def everything(store: Store) -> list[Document]:
    batches = store.scan("process", EVERYTHING, order=("@timestamp", "process.pid"))
    return [document for batch in batches for document in batch]


def run(store: Store, place: Place, context: Context = NEW, *, write: bool = True) -> list[Moved]:
    return [moved for _, moved in Reapply(store, context, write=write).days(START, END, place)]


def test_hours_move_to_the_new_name(store: Store, tmp_path: Path) -> None:
    """
    What is renamed or named at last moves, with its hours; the rest is not touched.
    """
    fill(store)
    before = everything(store)

    moved = run(store, Place(tmp_path / "place", NEW.rules.version))

    after = everything(store)
    assert [{("Old", "New"): 3600.0, (None, "Found"): 3600.0}] * 3 == [
        day.core_seconds for day in moved
    ]
    assert ["New", "Same", "Found"] * 3 == [d["program.name"] for d in after]
    assert [d for d in before if d["process.pid"] == 2] == [
        d for d in after if d["process.pid"] == 2
    ]
    assert {NEW.rules.version} == {d["rules.version"] for d in after if d["process.pid"] != 2}
    assert [{"colour": "red"}] * 9 == [d["labels"] for d in after]


def test_second_run_changes_nothing(store: Store, tmp_path: Path) -> None:
    """
    Applying the same rules twice is applying them once.
    """
    fill(store)
    run(store, Place(tmp_path / "one", NEW.rules.version))
    once = everything(store)

    again = run(store, Place(tmp_path / "two", NEW.rules.version))

    assert [0, 0, 0] == [day.documents.total() for day in again]
    assert once == everything(store)


def test_dry_run_tells_and_leaves(store: Store, tmp_path: Path) -> None:
    """
    The same figures, and nothing written: neither documents nor the place.
    """
    fill(store)
    before = everything(store)

    moved = run(store, Place(tmp_path / "place", NEW.rules.version), write=False)

    assert [2, 2, 2] == [day.documents["process"] for day in moved]
    assert before == everything(store)
    assert not (tmp_path / "place").exists()


class Failing(MemoryStore):
    """
    A store that takes so many batches and no more.
    """

    batches = 1

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        if mode == "replace":
            if not self.batches:
                return Outcome(kept=list(documents), reason="disk full")
            self.batches -= 1
        return super().write(documents, mode)


def test_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """
    Days that are done are not read again, unless the rules are others by now.
    """
    store, path = Failing(), tmp_path / "place"
    fill(store)
    with pytest.raises(StoreError, match="disk full; run the same again"):
        run(store, Place(path, NEW.rules.version))
    store.batches = 9

    rest = run(store, Place(path, NEW.rules.version))

    assert [2, 2] == [day.documents["process"] for day in rest]
    assert ["New", "Same", "Found"] * 3 == [d["program.name"] for d in everything(store)]
    assert 3 == len(run(store, Place(path, OLD.rules.version), OLD))


COMMANDS = st.lists(st.sampled_from(["old a", "old 7", "same x", "nobody 1", "other"]), max_size=20)


@given(COMMANDS)
def test_applied_later_is_named_at_once(commands: list[str]) -> None:
    """
    Old rules and then new ones leave what the new ones alone would have written.
    """
    documents = [sample(2, number, line) for number, line in enumerate(commands)]
    then, now = MemoryStore(), MemoryStore()
    for store, context in ((then, OLD), (now, NEW)):
        chain = Chain([program.build(context), tags.build(context)])
        store.write([chain.one({**document}) for document in documents], "create")

    Reapply(then, NEW).day(START, END)

    assert everything(now) == [
        {name: value for name, value in document.items() if name != "rules.version"}
        for document in everything(then)
    ]


def test_hours_whose_samples_are_gone_are_named_by_their_shape(tmp_path: Path) -> None:
    """
    Summaries live for years: a command nobody named gets its name there too; named ones stay.
    """
    store = MemoryStore()
    hour: Document = {
        "@timestamp": "2026-03-01T10:00:00.000Z",
        "dataset": "usage",
        "cluster": "fox",
        "host.name": "c1-1",
        "user.id": "1",
        "job.run": "fox/1@1",
        "process.name": "nobody",
        "command.shape": "nobody #",
        "core_seconds": 7200.0,
        "sample.count": 120,
        "record.version": 1,
    }
    named = {**hour, "command.shape": "x #", "process.name": "x", "program.name": "Kept"}
    store.write([hour, named], "replace")

    first, *_ = run(store, Place(tmp_path / "place", NEW.rules.version))

    held = (Condition("sample.count", Op.AT_LEAST, (1,)),)
    (documents,) = store.scan("usage", EVERYTHING, where=held, order=("command.shape",))
    assert {(None, "Found"): 7200.0} == first.core_seconds
    assert ["Found", "Kept"] == [d["program.name"] for d in documents]
    assert ["nobody #", "x #"] == [d["command.shape"] for d in documents]


@pytest.mark.parametrize("kind", ["memory", "lake"])
def test_hours_that_meet_under_one_name_are_both_kept(tmp_path: Path, kind: str) -> None:
    """
    Half an hour without a name, half with the one it gets: nothing is counted twice, nothing lost.
    """
    store: Store = MemoryStore() if kind == "memory" else LakeStore(tmp_path / "lake")
    hour: Document = {
        "@timestamp": "2026-03-01T10:00:00.000Z",
        "dataset": "usage",
        "cluster": "fox",
        "host.name": "c1-1",
        "user.id": "1",
        "process.name": "nobody",
        "command.shape": "nobody #",
        "core_seconds": 1800.0,
        "sample.count": 30,
        "record.version": 1,
    }
    first = Place(tmp_path / "first", NEW.rules.version)
    store.write([hour], "replace")
    run(store, first)
    (named,) = _held(store)
    assert ("Found", 1800.0) == (named["program.name"], named["core_seconds"])
    store.write([{**hour, "core_seconds": 900.0, "record.version": 2}], "replace")
    run(store, Place(tmp_path / "second", NEW.rules.version))
    assert [900.0, 1800.0] == sorted(d["core_seconds"] for d in _held(store))
    assert {"Found"} == {d["program.name"] for d in _held(store)}


def _held(store: Store) -> list[Document]:
    held = (Condition("sample.count", Op.AT_LEAST, (1,)),)
    return [one for batch in store.scan("usage", EVERYTHING, where=held) for one in batch]
