"""
How the gathering itself is, out of the store.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.condition import Site, condition
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING, Scope
from tests.query.conftest import stored

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
TOTALS = Scope(totals_only=True)


def at(minutes: float) -> str:
    return format_time(NOON - timedelta(minutes=minutes))


def event(minutes: float, **fields: object) -> Document:
    return {
        "dataset": "event",
        "@timestamp": at(minutes),
        "cluster": "fox",
        "event.start": at(minutes),
        "event.object": "c1-1",
        **fields,
    }


def alert(minutes: float, rule: str, **fields: object) -> Document:
    shown = {"event.severity": "warning", "message": f"{rule}!", "event.kind": "alert"}
    return event(minutes, **{"rule.name": rule, **shown, **fields})


def notice(minutes: float, about: str, **fields: object) -> Document:
    text = f"collector {about}: broken at {minutes}"
    return event(minutes, **{"event.kind": "notice", "rule.name": about, "message": text, **fields})


def heard(minutes: float, host: str, version: str = "0.2", **fields: object) -> Document:
    return {
        "dataset": "node",
        "@timestamp": at(minutes),
        "cluster": "fox",
        "host.name": host,
        "boot.id": "b",
        "sample.uptime": int(1e5 - minutes),
        "interval.seconds": 60.0,
        "agent.version": version,
        **fields,
    }


def site(scope: Scope = EVERYTHING) -> Site:
    store: MemoryStore = stored(
        [
            alert(10, "hog", **{"user.name": "alice"}),
            alert(5, "disk-full", **{"event.severity": "critical"}),
            alert(500, "over", **{"event.end": at(400)}),
            notice(70, "shipper.nvidia"),
            notice(10, "shipper.nvidia"),
            notice(3000, "shipper.disk"),
            notice(10, "chore", **{"event.object": "rollup"}),
            heard(300, "c1-1", "0.1", **{"shipper.dropped_by_bound": 5}),
            heard(1, "c1-1", **{"shipper.lag.seconds": 2.5, "shipper.pending": 3}),
            heard(90, "c1-2"),
        ]
    )
    return condition(store, scope, partial(store.ask, scope=TOTALS), NOON)


def test_alerts_that_fire_the_worst_first() -> None:
    """
    Those that are over are not among them.
    """
    assert ["disk-full", "hog"] == [row["rule"] for row in site().alerts]


def test_complaints_of_a_day_are_one_row_each() -> None:
    """
    The latest words, and how often; what chores note is no complaint.
    """
    (row,) = site().notices
    assert ("nvidia", 2, at(10)) == (row["about"], row["times"], row["last"])
    assert "broken at 10" in str(row["text"])


def test_shippers_with_what_they_last_said() -> None:
    """
    The version of now, what any version dropped, and who fell silent.
    """
    first, second = site().shippers
    assert ("0.2", 5, 3, 2.5, False) == tuple(
        first[n] for n in ("version", "dropped", "pending", "lag", "silent")
    )
    assert (at(90), True) == (second["seen"], second["silent"])


def test_who_sees_totals_only_sees_no_names() -> None:
    """
    Nodes as wholes are for all, alerts are not; a user sees those about her.
    """
    found = site(TOTALS)
    assert ([], [], 2) == (found.alerts, found.notices, len(found.shippers))
    hers = site(Scope(users=frozenset({"alice"})))
    assert ["hog"] == [row["rule"] for row in hers.alerts]
