"""
Hours of runs where a period begins within a day, and by the hour: by the clocks, not by whole days.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from enrich.run_days import run_days
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.query import Answer, ask, parse_question
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

OSLO = ZoneInfo("Europe/Oslo")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def run(begin: datetime, hours: float, user: str = "alice", cores: int = 4) -> list[Document]:
    """
    The days of a run, as the worker writes them.
    """
    end = begin + timedelta(hours=hours)
    seconds = hours * 3600
    job = {
        "dataset": "job",
        "@timestamp": format_time(begin),
        "cluster": "fox",
        "job.id": f"fox/{user}",
        "job.run": f"fox/{user}@{begin.timestamp():.0f}",
        "user.name": user,
        "record.version": 1,
        "job.cores": cores,
        "job.submit": format_time(begin),
        "job.start": format_time(begin),
        "job.end": format_time(end),
        "job.wall.seconds": seconds,
        "job.core_seconds.allocated": cores * seconds,
    }
    return [dict(day) for day in run_days(job, OSLO, int(end.timestamp()))]


DAYS = [
    *run(datetime(2026, 11, 19, 6, tzinfo=UTC), 48),  # until the 21st, 06:00
    *run(datetime(2026, 10, 24, 22, tzinfo=UTC), 6, "bob"),  # the night clocks go back
    *run(datetime(2026, 3, 29, 0, tzinfo=UTC), 3, "carol"),  # the night they go forward
]


@pytest.fixture(params=["memory", "lake", pytest.param("os", marks=pytest.mark.opensearch)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    found: Store
    if request.param == "os":
        found = request.getfixturevalue("opensearch_store")
    else:
        found = MemoryStore() if request.param == "memory" else LakeStore(tmp_path / "lake")
    assert not found.write(DAYS, "replace").rejected
    return found


def told(store: Store, text: str, now: datetime = NOW) -> Answer:
    return ask(parse_question(text), store, EVERYTHING, now, zone=OSLO)


def test_a_period_that_begins_within_a_day(store: Store) -> None:
    """
    The last 24 hours hold 18 of the run's 48, not two whole days of it; the last 3 days all.
    """
    found = told(store, "wall_hours, core_hours_allocated by user during last 24 hours")
    assert (pytest.approx(18.0), pytest.approx(72.0)) == tuple(found.total.values())
    assert ["alice"] == [row["user"] for row in found.rows]
    assert pytest.approx(48.0) == told(store, "wall_hours during last 3 days").total["wall_hours"]
    between = "wall_hours during 2026-11-20T10:30..2026-11-20T12:00"
    assert pytest.approx(1.5) == told(store, between).total["wall_hours"]


def test_days_of_a_period_that_is_cut(store: Store) -> None:
    """
    The day that is cut counts in part, and parts make up the whole.
    """
    found = told(store, "wall_hours by user per day during last 2 days")
    days = {row["day"]: row["wall_hours"] for row in found.rows}
    expected = {"2026-11-19": 11.0, "2026-11-20": 24.0, "2026-11-21": 7.0}
    assert pytest.approx(expected) == days
    assert pytest.approx(42.0) == found.total["wall_hours"]


def test_by_the_hour(store: Store) -> None:
    """
    Each hour of a run has its hour; the hour that comes twice has both, the one that is left out
    none.
    """
    back = told(store, "wall_hours per hour during 2026-10-25")
    hours = {str(row["hour"])[:13]: row["wall_hours"] for row in back.rows}
    expected = {"2026-10-24T22": 1.0, "2026-10-24T23": 1.0, "2026-10-25T00": 2.0}
    assert pytest.approx(expected | {"2026-10-25T02": 1.0, "2026-10-25T03": 1.0}) == hours
    forward = told(store, "wall_hours per hour during 2026-03-29")
    hours = {str(row["hour"])[:13]: row["wall_hours"] for row in forward.rows}
    assert pytest.approx({f"2026-03-29T0{hour}": 1.0 for hour in range(3)}) == hours


def test_hours_of_the_day_and_others(store: Store) -> None:
    """
    By hour of the day in a period that is cut; the top and the others make up the total.
    """
    found = told(store, "wall_hours by hour_of_day during last 24 hours")
    assert pytest.approx(18.0) == sum(row["wall_hours"] for row in found.rows)
    assert {row["hour_of_day"] for row in found.rows} == {*range(13, 24), *range(7)}
    top = told(store, "wall_hours by user during 2026-10-25T01:00..2026-11-20T00:00 top 1")
    assert [("alice", pytest.approx(17.0))] == [(r["user"], r["wall_hours"]) for r in top.rows]
    assert top.others is not None
    assert pytest.approx(5.0) == top.others["wall_hours"]
    assert pytest.approx(22.0) == top.total["wall_hours"]
