"""Why jobs wait: the time each reason held, and how that went over time."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner

from leadline.commands import cli
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.waiting import (
    Wait,
    edges,
    waiting_now,
    waiting_rows,
    waiting_series,
    waits,
)
from leadline.store import open_store
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored

START = datetime(2026, 3, 2, tzinfo=UTC)
END = START + timedelta(days=2)


def told(run: int, hour: float, state: str, reason: str = "", **fields: object) -> Document:
    return {
        "dataset": "job_state",
        "@timestamp": format_time(START + timedelta(hours=hour)),
        "cluster": "fox",
        "job.run": f"fox/{run}@1",
        "partition": "gpu",
        "qos": "normal",
        "state.name": state,
        "state.hash": f"{state}{reason}",
        **({"state.reason": reason} if reason else {}),
        **fields,
    }


def found(*documents: Document) -> list[Wait]:
    return waits(stored(documents), EVERYTHING, START, END)


def test_a_reason_holds_until_the_next_state() -> None:
    """
    An hour for priority, three for resources; while it runs it waits for nothing.
    """
    rows = waiting_rows(
        found(
            told(1, 1, "PENDING", "Priority"),
            told(1, 2, "PENDING", "Resources"),
            told(1, 5, "RUNNING"),
            told(2, 1, "PENDING", "Resources"),
            told(2, 2, "RUNNING"),
        )
    )
    assert [("Resources", 2, 7200.0, 7200.0, 4.0), ("Priority", 1, 3600.0, 3600.0, 1.0)] == [
        (r["reason"], r["jobs"], r["mean_seconds"], r["median_seconds"], r["hours"]) for r in rows
    ]
    assert ("gpu", "normal", "fox") == tuple(rows[0][n] for n in ("partition", "qos", "cluster"))


def test_reasons_that_name_nodes_are_one() -> None:
    """
    Each list of nodes would be a reason of its own.
    """
    reason = "ReqNodeNotAvail, UnavailableNodes:c1-[1-{}]"
    documents = [told(n, 1, "PENDING", reason.format(n)) for n in range(1, 4)]
    (row,) = waiting_rows(found(*documents, *(told(n, 2, "RUNNING") for n in range(1, 4))))
    assert ("ReqNodeNotAvail", 3) == (row["reason"], row["jobs"])


def test_daily_telling_goes_on() -> None:
    """
    A run that waits for days is told each day: one wait, which began before the period.
    """
    daily = [told(1, h, "PENDING", "Priority", snapshot=True) for h in (-20, 4, 28)]
    (row,) = waiting_rows(found(*daily, told(1, 40, "RUNNING")))
    assert (40.0, 1, 0) == (row["hours"], row["jobs"], row["times"])


def test_a_run_not_told_any_more_has_gone() -> None:
    """
    Its end was never told: it waits no longer than a day and two hours.
    """
    (row,) = waiting_rows(found(told(1, 1, "PENDING", "Priority")))
    assert 26 == row["hours"]


def test_a_start_in_the_same_second_ends_the_wait() -> None:
    """
    Whichever of the two the store gives first.
    """
    assert [] == found(told(1, 1, "RUNNING"), told(1, 1, "PENDING", "Resources"))


def test_who_waits_now() -> None:
    """
    By priority; not who runs, nor who was not told of for more than a day.
    """
    documents = [
        told(1, 1, "PENDING", "Priority", **{"job.priority": 5}),
        told(1, 20, "PENDING", "Priority", snapshot=True, **{"job.priority": 70}),
        told(2, 2, "PENDING", "Resources", **{"job.priority": 50}),
        told(3, 2, "PENDING", "Resources"),
        told(3, 5, "RUNNING"),
        told(4, -30, "PENDING", "Priority"),
        told(5, 6, "PENDING", "Priority"),
        told(5, 6, "RUNNING"),
    ]
    rows = waiting_now(stored(documents), EVERYTHING, START + timedelta(hours=24))
    assert [(70, "Priority"), (50, "Resources")] == [(r["priority"], r["reason"]) for r in rows]


def test_over_time() -> None:
    """
    How many waited on average in each hour, and for how long.
    """
    waiting = found(
        told(1, 0.5, "PENDING", "Priority"),
        told(1, 2, "RUNNING"),
        told(2, 1, "PENDING", "Priority"),
        told(2, 1.5, "RUNNING"),
    )
    rows = waiting_series(waiting, [START + timedelta(hours=h) for h in range(4)])
    assert [("T00", 0.5, 1, 1800.0), ("T01", 1.5, 2, 2700.0)] == [
        (r["time"][10:13], r["waiting"], r["jobs"], r["mean_seconds"]) for r in rows
    ]


def test_series_adds_up_to_the_rows() -> None:
    """
    Whatever waited when, the hours of all buckets are the hours of all reasons.
    """
    rng = random.Random(3)
    documents = []
    for run in range(60):
        at = rng.uniform(-30, 50)
        for _ in range(rng.randrange(1, 5)):
            documents.append(told(run, at, "PENDING", rng.choice(["Priority", "Resources", "QOS"])))
            at += rng.uniform(0.01, 9)
        documents.append(told(run, at, rng.choice(["RUNNING", "CANCELLED"])))
    waiting = found(*documents)
    cuts = edges(START, END, "hour", UTC)
    assert 49 == len(cuts)
    total = sum(row["hours"] for row in waiting_rows(waiting))
    series = waiting_series(waiting, cuts)
    assert total == pytest.approx(sum(row["waiting"] for row in series), abs=0.1)


def test_days_are_local() -> None:
    """
    A day of 23 hours among them.
    """
    zone = ZoneInfo("Europe/Oslo")
    begin = datetime(2026, 3, 28, 10, tzinfo=UTC)
    cuts = edges(begin, begin + timedelta(days=3), "day", zone)
    assert [begin, "23", "22", "22"] == [begin, *(f"{c:%H}" for c in cuts[1:-1])]
    assert [timedelta(hours=h) for h in (13, 23, 24, 12)] == [b - a for a, b in pairwise(cuts)]


def test_command_tells_why(tmp_path: Path) -> None:
    """
    `leadline jobs --waiting`, whole and over time, on a lake.
    """
    address = f"lake:{tmp_path}/lake"
    run = CliRunner().invoke
    asked = ["--store", address, "jobs", "--waiting", "--period", "last 7 days"]
    store = open_store(address)
    assert "slurm_live" in run(cli, asked).output
    now = (datetime.now(UTC) - START) / timedelta(hours=1)
    store.write([told(1, now - 3, "PENDING", "Resources"), told(1, now - 1, "RUNNING")], "create")
    said = run(cli, asked).output
    assert "Resources" in said
    assert "02:00" in said
    assert "Resources" in run(cli, [*asked, "--every", "day"]).output
    assert "Resources" not in run(cli, [*asked, "--where", "partition=cpu"]).output
    open_store(address).write([told(2, now - 1, "PENDING", "Priority")], "create")
    said = run(cli, ["--store", address, "jobs", "--pending", "--where", "qos=normal"]).output
    assert "Priority" in said
    assert "Resources" not in said
