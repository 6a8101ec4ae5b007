"""
Groups restated: what is stored gets the groups that the tables of today give to its day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from enrich.chain import Chain
from enrich.reapply import DAY, Place, of_values, replace_all
from enrich.step import Context
from enrich.steps.identity import CONCERNED, FIELDS, build
from leadline.formats import Document
from leadline.store.contract import Store
from leadline.store.scope import EVERYTHING

READS = ("dataset", "user.name", "cluster", "local.day", *FIELDS)

Moves = Counter[tuple[str, str, str]]  # documents by user, group before, group now


class Reidentify:
    def __init__(self, store: Store, context: Context, *, write: bool = True) -> None:
        self._store = store
        self._chain = Chain([build(context)])
        self._write = write

    def days(self, start: datetime, end: datetime, place: Place) -> Iterator[Moves]:
        """
        Day after day what moved; the place is kept as for rules.
        """
        day = start
        while day < end:
            if day not in place:
                yield self.day(day, min(day + DAY, end))
                if self._write and day + DAY <= end:
                    place.add(day)
            day += DAY

    def day(self, start: datetime, end: datetime) -> Moves:
        moves: Moves = Counter()
        for dataset in sorted(CONCERNED):
            users = self._moved_users(dataset, start, end)
            documents = of_values(self._store, dataset, "user.name", users, start, end)
            replace_all(self._store, self._changed(documents, moves), write=self._write)
        return moves

    def _moved_users(self, dataset: str, start: datetime, end: datetime) -> set[str | None]:
        users: set[str | None] = set()
        for batch in self._store.scan(
            dataset, EVERYTHING, start=start, end=end, fields=READS, order=()
        ):
            for document in batch:
                document.setdefault("dataset", dataset)
                before = _groups(document)
                self._chain.one(document)
                if before != _groups(document):
                    users.add(str(document["user.name"]))
        return users

    def _changed(self, documents: Iterator[Document], moves: Moves) -> Iterator[Document]:
        for document in documents:
            before = _groups(document)
            self._chain.one(document)
            after = _groups(document)
            if before != after:
                moves[str(document["user.name"]), before[0], after[0]] += 1
                yield document


def _groups(document: Document) -> tuple[str, tuple[str, ...]]:
    group, above = (document.get(name) for name in FIELDS)
    return str(group or "none"), tuple(above) if isinstance(above, list | tuple) else ()
