"""
Today's rules on what is stored already: only documents whose program changes are written again.

A day at a time, in two passes: the first reads the few fields rules look at, the second fetches the
documents that change. After each day the place is kept, so a run that was stopped goes on there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import orjson

from enrich.chain import Chain
from enrich.step import Context
from enrich.steps import program, tags
from leadline.errors import StoreError
from leadline.formats import DATASETS, Document
from leadline.store.contract import Store, in_batches
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING

RAW = ("process", "process_gpu")
SUMMARY = "usage"
WRITES = (
    *("program.name", "program.version", "program.rule", "command.shape"),
    *("program.level1", "program.level2", "program.level3", "program.tags"),
)
KEY = DATASETS[SUMMARY].key
HELD = (Condition("sample.count", Op.NOT_IN, (0,)),)  # what is void holds none
VOID = ("dataset", *KEY, "local.day", "local.hour", "local.weekday", "record.version")
VALUES_AT_ONCE = 500
BATCH = 5000
DAY = timedelta(days=1)

Move = tuple[str | None, str | None]  # the program it was, and the program it is
Names = dict[tuple[object, object], Document]  # (process.name, command.shape) → what to set


@dataclass(slots=True)
class Moved:
    """
    What changed: documents by dataset, and core seconds of samples by move.
    """

    documents: Counter[str] = field(default_factory=Counter)
    core_seconds: dict[Move, float] = field(default_factory=dict)

    def add(self, dataset: str, before: object, document: Document) -> None:
        self.documents[dataset] += 1
        if dataset in (RAW[0], SUMMARY):
            move = (_text(before), _text(document.get("program.name")))
            seconds = document.get("core_seconds")
            weight = float(seconds) if isinstance(seconds, int | float) else 0.0
            self.core_seconds[move] = self.core_seconds.get(move, 0.0) + weight


class Place:
    """
    How far a run came, in a file; another version of the rules begins anew.
    """

    def __init__(self, path: Path, rules_version: str) -> None:
        self._path = path
        self._version = rules_version
        self._done: set[str] = set()
        if path.exists():
            kept = orjson.loads(path.read_bytes())
            if kept.get("rules.version") == rules_version:
                self._done = set(kept["days"])

    def __contains__(self, day: datetime) -> bool:
        return day.isoformat() in self._done

    def add(self, day: datetime) -> None:
        self._done.add(day.isoformat())
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        new.write_bytes(orjson.dumps({"rules.version": self._version, "days": sorted(self._done)}))
        new.replace(self._path)

    def forget(self) -> None:
        self._path.unlink(missing_ok=True)


class Reapply:
    def __init__(self, store: Store, context: Context, *, write: bool = True) -> None:
        self._store = store
        self._rules = context.rules
        self._chain = Chain([program.build(context), tags.build(context)])
        self._write = write

    def days(
        self, start: datetime, end: datetime, place: Place
    ) -> Iterator[tuple[datetime, Moved]]:
        """
        Each day from START on that PLACE does not hold, with what moved in it. The last day is
        never held, for it may still grow.
        """
        day = start
        while day < end:
            if day not in place:
                yield day, self.day(day, min(day + DAY, end))
                if self._write and day + DAY <= end:
                    place.add(day)
            day += DAY

    def day(self, start: datetime, end: datetime) -> Moved:
        moved = Moved()
        names: Names = {}
        for dataset in RAW:
            shapes = self._changed_shapes(dataset, start, end, names)
            documents = of_values(self._store, dataset, "command.shape", shapes, start, end)
            self._store_changed(dataset, documents, moved)
        hours = self._summaries(start, end, names)
        if not moved.documents:  # else the samples have told already
            moved.core_seconds = hours.core_seconds
        moved.documents.update(hours.documents)
        return moved

    def _changed_shapes(
        self, dataset: str, start: datetime, end: datetime, names: Names
    ) -> set[str | None]:
        reads = ("dataset", "process.name", "process.executable", "process.command_line", *WRITES)
        shapes: set[str | None] = set()
        for batch in self._store.scan(
            dataset, EVERYTHING, start=start, end=end, fields=reads, order=()
        ):
            for document in batch:
                document.setdefault("dataset", dataset)
                shape = _text(document.get("command.shape"))
                before = _named(document)
                self._chain.one(document)
                after = _named(document)
                if dataset == RAW[0]:
                    names[document.get("process.name"), document.get("command.shape")] = after
                if before != after:
                    shapes.add(shape)
        return shapes

    def _store_changed(self, dataset: str, documents: Iterable[Document], moved: Moved) -> None:
        def changed() -> Iterator[Document]:
            for document in documents:
                before = _named(document)
                self._chain.one(document)
                if _named(document) != before:
                    yield self._note(dataset, before, document, moved)

        self._replace(changed())

    def _summaries(self, start: datetime, end: datetime, names: Names) -> Moved:
        """
        Hours of usage take the name of their samples; where those are gone, a command without a
        name gets the one its shape has now. A program is part of what tells hours apart, so the
        old one is made void; where the new one is there already, its shape is told apart.
        """
        moved = Moved()
        taken: set[int] = set()
        changes: list[tuple[Document, Document]] = []
        for batch in self._store.scan(
            SUMMARY, EVERYTHING, where=HELD, start=start, end=end, order=()
        ):
            for document in batch:
                before = _named(document)
                key = (document.get("process.name"), document.get("command.shape"))
                named = names.get(key) or self._by_shape(document)
                taken.add(_key(document))
                if named is not None and named != before:
                    kept = {n: v for n, v in document.items() if n not in WRITES}
                    changes.append((document, {**kept, **named}))

        def changed() -> Iterator[Document]:
            for before, after in changes:
                if _key(after) != _key(before):
                    shape, count = str(after.get("command.shape", "?")), 1
                    while _key(after) in taken:
                        count += 1
                        after["command.shape"] = f"{shape} ({count})"
                    taken.add(_key(after))
                    yield {n: before[n] for n in VOID if n in before} | {"sample.count": 0}
                yield self._note(SUMMARY, _named(before), after, moved)

        self._replace(changed())
        return moved

    def _by_shape(self, document: Document) -> Document | None:
        if "program.name" in document:
            return None
        asked: Document = {
            "dataset": RAW[0],
            "process.name": document.get("process.name"),
            "process.command_line": document.get("command.shape"),
        }
        named = _named(self._chain.one(asked))
        named.pop("command.shape", None)
        if "program.name" not in named:
            return None
        return {**named, "command.shape": document.get("command.shape")}

    def _note(self, dataset: str, before: Document, document: Document, moved: Moved) -> Document:
        document["rules.version"] = self._rules.version
        moved.add(dataset, before.get("program.name"), document)
        return document

    def _replace(self, documents: Iterable[Document]) -> None:
        replace_all(self._store, documents, write=self._write)


def of_values(
    store: Store,
    dataset: str,
    name: str,
    values: set[str | None],
    start: datetime,
    end: datetime,
) -> Iterator[Document]:
    """
    The whole documents whose field NAME has one of VALUES; None: those without the field.
    """
    present = sorted(value for value in values if value is not None)
    wheres = [
        Condition(name, Op.IN, tuple(present[at : at + VALUES_AT_ONCE]))
        for at in range(0, len(present), VALUES_AT_ONCE)
    ]
    if None in values:
        wheres.append(Condition(name, Op.MISSING))
    for where in wheres:
        for batch in store.scan(
            dataset, EVERYTHING, where=(where,), start=start, end=end, order=()
        ):
            yield from batch


def replace_all(store: Store, documents: Iterable[Document], *, write: bool) -> None:
    """
    DOCUMENTS in the place of those with the same key; without WRITE only looked through.
    """
    for batch in in_batches(documents, BATCH):
        if not write:
            continue
        outcome = store.write(batch, "replace")
        if outcome.rejected:
            reason = outcome.rejected[0][1]
            raise StoreError(f"{len(outcome.rejected)} documents not taken back: {reason}")
        if outcome.kept:
            raise StoreError(
                f"the store takes no documents now: {outcome.reason};"
                " run the same again, it goes on where it stopped"
            )


def _key(document: Document) -> int:
    return hash(tuple(document.get(name) for name in KEY))


def _named(document: Document) -> Document:
    return {name: document[name] for name in WRITES if name in document}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
