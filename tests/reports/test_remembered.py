"""
Findings last from when they were first seen until they are gone, and outlive a silent cluster.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.chores.run import CHORES, Work, do
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.finding import Case, Finding
from leadline.reports.findings import findings
from leadline.reports.remembered import lasting
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING, Scope
from tests.query.conftest import stored
from tests.reports.documents import NOW, START, at, node, process

(CHORE,) = [chore for chore in CHORES if chore.name == "findings"]


def zombies(hours: range) -> list[Document]:
    return [process(h + 0.5, **{"process.state": "Z"}) for h in hours]


def beats(hours: range) -> list[Document]:
    return [node(h + 0.6, **{"sample.uptime": h}) for h in hours]


def look(store: MemoryStore, now: datetime) -> str | None:
    return do(CHORE, Work(store, now, lambda cluster: ZoneInfo("UTC")), forced=True)


def seen(store: MemoryStore, now: datetime, scope: Scope = EVERYTHING) -> list[Finding]:
    return findings(Case(store, scope, now - timedelta(days=1), now, now), ["zombie"])


def test_a_finding_keeps_the_time_it_was_first_seen() -> None:
    """
    After two days the window shows only the last; the finding says since when all the same.
    """
    store = stored([*zombies(range(2, 60)), *beats(range(60))])
    later = START + timedelta(hours=60)
    assert "1 new" in str(look(store, NOW))
    assert [at(2.5)] == [one.since for one in seen(store, later)]
    assert "0 new, 1 as before" in str(look(store, later))


def test_what_is_gone_is_over_and_may_come_back_as_new() -> None:
    """
    A day without it ends it; the next time it begins anew.
    """
    store = stored([*zombies(range(5)), *beats(range(60))])
    look(store, NOW)
    later = START + timedelta(hours=60)
    assert "1 gone" in str(look(store, later))
    assert {} == lasting(store, EVERYTHING, later)
    store.write(zombies(range(58, 60)), "create")
    assert [at(58.5)] == [one.since for one in seen(store, later)]


def test_silence_is_no_cure() -> None:
    """
    Of a cluster that is not heard any more its findings stay, and say so.
    """
    store = stored([*zombies(range(24)), *beats(range(24))])
    look(store, NOW)
    later = NOW + timedelta(days=3)
    assert "0 gone" in str(look(store, later))
    (one,) = seen(store, later)
    assert ("c1: work", "alice", at(0.5)) == (one.object, one.user, one.since)
    assert "nothing was heard" in one.evidence
    assert [] == findings(
        Case(store, EVERYTHING, later - timedelta(days=2), later - timedelta(days=1), later)
    )


def test_memory_obeys_the_scope() -> None:
    """
    Nobody learns of another's findings from what is remembered.
    """
    store = stored([*zombies(range(24)), *beats(range(24))])
    look(store, NOW)
    later = NOW + timedelta(days=3)
    assert [] == seen(store, later, Scope(users=frozenset({"bob"})))
    assert 1 == len(seen(store, later, Scope(users=frozenset({"alice"}))))


def test_looking_again_writes_no_second_event() -> None:
    """
    One event a finding, however often it is seen.
    """
    store = stored([*zombies(range(24)), *beats(range(24))])
    for minutes in range(3):
        look(store, NOW + timedelta(minutes=minutes))
    events = [event for batch in store.scan("event", EVERYTHING) for event in batch]
    told = [event for event in events if event["event.kind"] == "finding"]
    assert [3] == [event["event.count"] for event in told]
    assert format_time(START + timedelta(hours=0.5)) == told[0]["event.start"]
