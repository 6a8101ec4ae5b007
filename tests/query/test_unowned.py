"""
Busy cards whose driver does not tell whose processes keep them busy are said beside the hours.
"""

from __future__ import annotations

import pytest

from leadline.chores.lease import done
from leadline.formats import Document
from leadline.query import ask, parse_question
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING, Scope
from tests.query.conftest import NOW, ZONE, sample, stored

BUSY = "gpu_hours_busy during 2026-11-20"


def capacity(host: str, hours: float) -> Document:
    """
    An hour of the morning in which a node's eight cards were busy for HOURS together.
    """
    return {
        "dataset": "capacity",
        "@timestamp": "2026-11-20T09:00:00.000Z",
        "cluster": "fox",
        "host.name": host,
        "gpu.model": "MI250X",
        "gpu_seconds": hours * 3600,
        "record.version": 1,
    }


@pytest.fixture
def store() -> MemoryStore:
    """
    A node whose processes tell of all its hours but a little, and one whose processes tell none.
    """
    told = {"host.name": "g1", "gpu_seconds": 3.9 * 3600, "user.name": "alice"}
    store = stored([sample(1, **told), capacity("g1", 4.0), capacity("g2", 6.0)])
    done(store, "capacity", NOW, NOW, 1)
    return store


def notes(store: MemoryStore, text: str, scope: Scope = EVERYTHING) -> list[str]:
    found = ask(parse_question(text), store, scope, NOW, zone=ZONE)
    return [note for note in found.notes if note.startswith("cards were busy")]


def test_what_cards_tell_beyond_processes_is_said(store: MemoryStore) -> None:
    """
    6.1 hours of two nodes, none where two ways of measuring differ by a little.
    """
    said = "cards were busy 6.1 hours more, of processes that their drivers do not tell"
    assert [said] == notes(store, BUSY)
    assert [said] == notes(store, f"{BUSY.replace('during', 'by user during')}")
    assert [] == notes(store, BUSY.replace("during", "where host=g1 during"))


def test_nothing_is_said_where_it_cannot_be_told(store: MemoryStore) -> None:
    """
    Of one user's part nobody knows; who sees own jobs only learns nothing of the others'.
    """
    assert [] == notes(store, BUSY.replace("during", "where user=alice during"))
    assert [] == notes(store, BUSY, Scope(users=frozenset({"alice"})))
    assert [] == notes(store, BUSY.replace("gpu_hours_busy", "core_hours_used"))
