"""
A raw month may go when its summaries are made for good, and what was told of it is still told.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from leadline.chores.run import CHORES, Work, do
from leadline.chores.seal import gone, seal, sealed
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.query import ask, parse_question
from leadline.settings.common import RetentionSettings
from leadline.settings.typed import Duration
from leadline.store.contract import Store
from leadline.store.memory import MemoryStore
from leadline.store.opensearch import OpenSearchStore
from leadline.store.scope import EVERYTHING

ZONE = ZoneInfo("Europe/Oslo")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)
BY_NAME = {chore.name: chore for chore in CHORES}
MONTH = RetentionSettings(process=Duration(10 * 86400), node=Duration(0), gpu=Duration(0))
TEXT = "core_hours_used, samples by user per month during all"


def sample(at: str, number: int = 0, **fields: object) -> Document:
    return {
        "dataset": "process",
        "@timestamp": at,
        "event.ingested": at,
        "cluster": "fox",
        "host.name": "c1",
        "boot.id": "b1",
        "sample.uptime": number,
        "process.entity_id": f"17-{number}",
        "user.id": "1",
        "user.name": "alice",
        "core_seconds": 3600.0,
        "local.day": at[:10],
        **fields,
    }


def run(store: Store, name: str, now: datetime = NOW, keep: bool = True) -> str:
    retention = MONTH if keep else None
    said = do(
        BY_NAME[name], Work(store, now, lambda cluster: ZONE, retention=retention), forced=True
    )
    assert said is not None
    return said


def told(store: MemoryStore, now: datetime = NOW) -> list[object]:
    answer = ask(parse_question(TEXT), store, EVERYTHING, now, zone=ZONE)
    return [dict(row) for row in answer.rows]


def times(store: MemoryStore) -> list[str]:
    return [str(d["@timestamp"])[:10] for batch in store.scan("process", EVERYTHING) for d in batch]


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    store.write(
        [
            sample("2026-09-10T10:20:00.000Z", 1),
            sample("2026-10-15T10:20:00.000Z", 2),
            sample("2026-11-20T10:20:00.000Z", 3),
        ],
        "create",
    )
    return store


def test_months_are_sealed_when_they_are_rolled_up(store: MemoryStore) -> None:
    """
    September and October, not the month that goes on; marked once.
    """
    run(store, "rollup")
    assert ["process 2026-09", "process 2026-10"] == seal(store, NOW)
    assert [] == seal(store, NOW)
    assert {"process": NOVEMBER} == sealed(store)


def test_nothing_is_sealed_without_a_complete_run(store: MemoryStore) -> None:
    """
    No roll-up yet, or none since the month ended.
    """
    assert [] == seal(store, NOW)
    run(store, "rollup", datetime(2026, 10, 20, tzinfo=UTC))
    assert ["process 2026-09"] == seal(store, NOW)


def test_a_month_just_over_waits_a_day(store: MemoryStore) -> None:
    """
    What is sent late comes first.
    """
    soon = NOVEMBER + timedelta(hours=20)
    run(store, "rollup", soon)
    assert ["process 2026-09"] == seal(store, soon)
    assert ["process 2026-10"] == seal(store, soon + timedelta(hours=5))


def test_nodes_and_cards_wait_for_capacity(store: MemoryStore) -> None:
    """
    Their summary is another one, made by another chore.
    """
    store.write([{**sample("2026-10-15T10:20:00.000Z"), "dataset": "node"}], "create")
    run(store, "rollup")
    assert "node 2026-10" not in seal(store, NOW)
    run(store, "capacity")
    assert ["node 2026-10"] == seal(store, NOW)


def test_what_waits_for_a_month_keeps_it(store: MemoryStore) -> None:
    """
    A sample that came after the last run: not sealed, and a sealed month not deleted, before the
    next run has it.
    """
    run(store, "rollup")
    seal(store, NOW)
    late = sample("2026-10-16T10:20:00.000Z", 4, **{"event.ingested": format_time(NOW)})
    store.write([late], "create")
    assert {"process": datetime(2026, 10, 1, tzinfo=UTC)} == sealed(store)
    run(store, "rollup", NOW + timedelta(hours=1))
    assert {"process": NOVEMBER} == sealed(store)


def test_retention_takes_sealed_months_and_their_figures_stay(store: MemoryStore) -> None:
    """
    Nothing goes before the seal; afterwards the same question has the same answer.
    """
    run(store, "rollup")
    before = told(store)
    run(store, "retain")
    assert 3 == len(times(store))
    run(store, "seal")
    assert "left to" in run(store, "retain", keep=False)
    assert 3 == len(times(store))
    assert "deleted" in run(store, "retain")
    assert ["2026-11-20"] == times(store)
    assert before == told(store)


def test_late_for_a_month_that_has_gone(store: MemoryStore) -> None:
    """
    Its usage is neither hidden until the next run nor made anew from the late sample alone.
    """
    run(store, "rollup")
    run(store, "seal")
    run(store, "retain")
    again = sample("2026-10-15T10:20:00.000Z", 2, **{"event.ingested": format_time(NOW)})
    store.tables["usage"] = {  # the hour held more than the one that comes again
        key: {**d, "sample.count": 2} if "2026-10" in str(d["@timestamp"]) else d
        for key, d in store.tables["usage"].items()
    }
    before = told(store)
    store.write([again], "create")
    assert before == told(store)
    assert "1 hour expired before" in run(store, "rollup", NOW + timedelta(minutes=20))
    assert before == told(store, NOW + timedelta(minutes=20))


@pytest.mark.opensearch
def test_opensearch_seals_and_leaves_months_to_its_policies(
    opensearch_store: OpenSearchStore, store: MemoryStore
) -> None:
    """
    The same months are sealed as in the naive store; where the engine can, it deletes them.
    """
    samples = [d for batch in store.scan("process", EVERYTHING) for d in batch]
    opensearch_store.write([{**d, "dataset": "process"} for d in samples], "create")
    run(opensearch_store, "rollup")
    assert ["process 2026-09", "process 2026-10"] == seal(opensearch_store, NOW)
    assert {"process": NOVEMBER} == sealed(opensearch_store)
    by_policy = opensearch_store.hand_over(sealed(opensearch_store))
    said = run(opensearch_store, "retain")
    assert ("nothing is older" if by_policy else "deleted") in said
    late = sample("2026-10-16T10:20:00.000Z", 4, **{"event.ingested": format_time(NOW)})
    opensearch_store.write([late], "create")
    assert {"process": datetime(2026, 10, 1, tzinfo=UTC)} == sealed(opensearch_store)


def test_what_comes_for_a_sealed_month_after_its_time_has_expired() -> None:
    """
    Sealed and old: too late. Old and never sealed: still to be summarised. Sealed and young: kept.
    """
    store = MemoryStore()
    store.write(
        [sample("2026-09-10T10:00:00.000Z"), sample("2026-10-10T10:00:00.000Z", 1)], "create"
    )
    run(store, "rollup")
    run(store, "seal")

    late = gone(store, RetentionSettings(process=Duration(40 * 86400)), NOW)

    assert late.takes("process", "2026-09-30T23:59:59.999Z")
    assert not late.takes("process", "2026-10-01T00:00:00.000Z")  # 40 days ago is in it
    assert not late.takes("process", "2026-08-10T10:00:00.000Z")
    assert late.takes("job_state", "2025-10-31T23:00:00.000Z")
    assert not late.takes("job", "1999-01-01T00:00:00.000Z")
    assert not late.takes(
        "usage", "2021-06-01T00:00:00.000Z"
    )  # the year 2021 is not over for 5 years
    assert late.takes("usage", "2020-12-31T00:00:00.000Z")
