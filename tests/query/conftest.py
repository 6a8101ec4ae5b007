"""
A store with a few documents, and short ways to ask it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from leadline.formats import Document
from leadline.query import Answer, ask, parse_question
from leadline.store.contract import Store
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING, Scope

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Oslo")


def sample(number: int, **fields: object) -> Document:
    """
    A process sample of one core hour at 12:00 on a day of November.
    """
    return {
        "dataset": "process",
        "@timestamp": "2026-11-20T11:00:00.000Z",
        "cluster": "fox",
        "host.name": "c1-1",
        "boot.id": "b1",
        "sample.uptime": number,
        "process.entity_id": f"{number}-1",
        "local.day": "2026-11-20",
        "local.hour": 12,
        "local.weekday": 5,
        "core_seconds": 3600.0,
        **fields,
    }


def heartbeat(host: str, time: str, seconds: float | None = 3600.0) -> Document:
    found: Document = {
        "dataset": "node",
        "@timestamp": time,
        "cluster": "fox",
        "host.name": host,
        "boot.id": "b1",
        "sample.uptime": 1,
        "local.day": time[:10],
    }
    return found if seconds is None else {**found, "interval.seconds": seconds}


def stored(documents: Iterable[Document]) -> MemoryStore:
    store = MemoryStore()
    outcome = store.write(list(documents), "replace")
    assert not outcome.rejected, outcome.rejected[0]
    return store


def answer(store: Store, text: str, scope: Scope = EVERYTHING) -> Answer:
    return ask(parse_question(text), store, scope, NOW, zone=ZONE)
