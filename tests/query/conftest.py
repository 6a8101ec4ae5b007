"""
A store with a few documents, and short ways to ask it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from leadline.formats import Document
from leadline.query import Answer, ask, parse_question
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING, Scope

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Oslo")
STORES = pytest.mark.parametrize(
    "open_store", ["memory", "lake", pytest.param("opensearch", marks=pytest.mark.opensearch)]
)


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


@pytest.fixture
def other(request: pytest.FixtureRequest, open_store: str, tmp_path: Path) -> Iterator[Store]:
    """
    An empty store of the kind `open_store`: for what must be the same on each.
    """
    if open_store == "opensearch":
        yield request.getfixturevalue("opensearch_store")
        return
    store: Store = MemoryStore() if open_store == "memory" else LakeStore(tmp_path / "lake")
    yield store
    store.close()
