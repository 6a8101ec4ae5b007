"""
What the cases share: short ways to ask, and a few people to ask about.
"""

from __future__ import annotations

from datetime import UTC, datetime

from leadline.formats import Document
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Plan, Row
from leadline.store.scope import EVERYTHING, Scope
from tests.store.documents import process

COUNT = Aggregate("n", Function.COUNT)
HOURS = Aggregate("seconds", Function.SUM, "core_seconds")
TOTALS = Scope(totals_only=True)


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def everything(store: Store, dataset: str = "process", **options: object) -> list[Document]:
    return [d for batch in store.scan(dataset, EVERYTHING, **options) for d in batch]  # type: ignore[arg-type]


def ask(
    store: Store, *aggregates: Aggregate, by: tuple[Group, ...] = (), **plan: object
) -> list[Row]:
    asked = Plan("process", aggregates or (COUNT,), by=by, **plan)  # type: ignore[arg-type]
    return store.ask(asked, EVERYTHING)


def table(rows: list[Row], key: str, value: str = "n") -> dict[object, object]:
    assert len({row[key] for row in rows}) == len(rows)
    return {row[key]: row[value] for row in rows}


def count(store: Store, *where: Condition, scope: Scope = EVERYTHING) -> object:
    return store.ask(Plan("process", (COUNT,), where=where), scope)[0]["n"]


PEOPLE = [
    process(1, **{"user.name": "alice", "core_seconds": 1.0, "program.tags": ["gpu", "mpi"]}),
    process(2, **{"user.name": "bob", "core_seconds": 2.0, "program.tags": ["mpi"]}),
    process(
        3, **{"core_seconds": 3.0, "rolled_up": True, "process.start": "2026-11-20T00:00:00.000Z"}
    ),
    process(4, **{"user.name": "alicia", "process.pid": 42, "labels": {"colour": "red", "n": 3}}),
]
