"""Distinct values of hourly usage and raw samples together: each is counted once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from leadline.chores.lease import done
from leadline.chores.rollup import roll_up
from leadline.formats.times import format_time
from leadline.query import ask, parse_question, tables
from leadline.query.rollups import LATE
from leadline.store.scope import EVERYTHING
from tests.counting import CountingStore

START = datetime(2026, 11, 20, tzinfo=UTC)
CLOSED = START + timedelta(hours=6)
NOW = START + timedelta(hours=8)
UTC_ZONE = ZoneInfo("UTC")
ASKED = "core_hours_used, jobs_sampled, programs by user during 2026-11-20..2026-11-20 top 2"


def sample(hour: int, number: int) -> dict[str, object]:
    """
    Jobs last for three hours, so some are in both; every fifth sample is of none.
    """
    moment = START + timedelta(hours=hour, minutes=7 * number % 60)
    document: dict[str, object] = {
        "dataset": "process",
        "@timestamp": format_time(moment),
        "event.ingested": format_time(moment),
        "cluster": "fox",
        "host.name": f"c1-{number % 2}",
        "boot.id": "b",
        "sample.uptime": hour * 3600 + number,
        "process.entity_id": f"{number}-1",
        "process.name": f"p{number}",
        "user.name": f"u{number % 4}",
        "program.name": f"P{number % 3}",
        "core_seconds": 100.0 * (1 + number),
        "local.day": "2026-11-20",
    }
    if number % 5:
        document |= {
            "job.id": f"fox/{number}-{hour // 3}",
            "job.run": f"fox/{number}-{hour // 3}@1",
        }
    return document


@pytest.fixture
def store() -> CountingStore:
    store = CountingStore()
    store.write([sample(hour, number) for hour in range(6) for number in range(12)], "create")
    roll_up(store, CLOSED, lambda cluster: UTC_ZONE)
    done(store, "rollup", CLOSED + LATE, CLOSED + LATE, 1)
    late = format_time(CLOSED + LATE)
    open_hours = [sample(hour, number) for hour in (6, 7) for number in range(14)]
    store.write([{**document, "event.ingested": late} for document in open_hours], "create")
    return store


@pytest.mark.parametrize("most", [tables.MOST_LOOKED_UP, 3])
def test_nothing_is_counted_twice(
    store: CountingStore, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    With usage the answer is the one of raw samples alone, row by row, others and total, whether
    values of raw samples are few enough to be looked up or all are listed.
    """
    monkeypatch.setattr(tables, "MOST_LOOKED_UP", most)
    question = parse_question(ASKED)
    raw = ask(question, store, EVERYTHING, NOW, zone=UTC_ZONE, rolled=False)
    found = ask(question, store, EVERYTHING, NOW, zone=UTC_ZONE)
    assert "usage" in found.datasets
    assert "process" in found.datasets
    assert raw.rows == found.rows
    assert raw.others == found.others
    assert raw.total == found.total
    assert 2 == found.others_count


def test_what_joins_is_not_asked_again(store: CountingStore) -> None:
    """
    Core hours and programs are asked once each: their others and totals are joined. Jobs, which
    may be many, are counted three times.
    """
    store.forget_questions()
    ask(parse_question(ASKED), store, EVERYTHING, NOW, zone=UTC_ZONE, rolled=False)
    counted = [
        [(a.function.value, a.field) for a in plan.aggregates]
        for plan in store.plans
        if plan.dataset == "process" and not plan.aggregates[0].field.startswith("@")
    ]
    assert 1 == counted.count([("sum", "core_seconds")])
    assert 3 == counted.count([("distinct", "job.id")])
    assert 1 == counted.count([("count", "")])
