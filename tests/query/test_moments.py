"""
Hours of the day and weekdays of runs, by the moment that a measure goes by.
"""

from __future__ import annotations

import pytest

from leadline.store.contract import Store
from tests.any_store import STORES
from tests.query.conftest import answer, stored
from tests.query.test_accounted import run

# Friday 21:30 to Saturday 03:30; two that end in the night in which 02:30 comes twice.
RUNS = [
    run(1, "2026-10-23T12:00", "2026-10-23T21:30", "2026-10-24T03:30", **{"local.hour": 12}),
    run(2, "2026-10-23T12:30", "2026-10-24T03:30", "2026-10-25T02:30", **{"local.hour": 12}),
    run(3, "2026-10-23T14:00", "2026-10-24T04:00", "2026-10-25T02:30", **{"local.hour": 14}),
]
for last in RUNS[1:]:
    last["user.name"] = "bob"
RUNS[2]["job.end"] = "2026-10-25T01:30:00.000Z"


@STORES
def test_hours_are_those_of_the_measure(other: Store) -> None:
    """
    Runs that ended count by their end, waits by the start; both columns stand side by side.
    """
    assert not other.write(RUNS, "replace").rejected
    found = answer(other, "jobs, jobs_started, jobs_submitted by hour_of_day during all")
    assert [
        (2, 2, 0, 0),
        (3, 1, 1, 0),
        (4, 0, 1, 0),
        (12, 0, 0, 2),
        (14, 0, 0, 1),
        (21, 0, 1, 0),
    ] == [
        tuple(row[name] for name in ("hour_of_day", "jobs", "jobs_started", "jobs_submitted"))
        for row in found.rows
    ]
    assert found.notes[:3] == (
        "jobs: hour and weekday are those when runs ended",
        "jobs_started: hour and weekday are those when runs started",
        "jobs_submitted: hour and weekday are those when runs were submitted",
    )


@STORES
def test_what_does_not_join_has_others_and_total(other: Store) -> None:
    """
    Percentiles and users by hour and weekday, mixed with users: others are asked for, not added.
    """
    other.write(RUNS, "replace")
    found = answer(other, "wait_max, wait_median by weekday, user during all top 1")
    assert [(6, "bob", 54_000.0)] == [
        (row["weekday"], row["user"], row["wait_max"]) for row in found.rows
    ]
    assert {"wait_max": 34_200.0, "wait_median": pytest.approx(34_200.0, rel=0.01)} == found.others
    found = answer(other, "job_users by hour_of_day, weekday during all order job_users top 1")
    assert [(2, 7, 1)] == [tuple(row.values()) for row in found.rows]
    assert (found.others, found.total) == ({"job_users": 1}, {"job_users": 2})


@STORES
def test_filters(other: Store) -> None:
    """
    Runs that ended on a Sunday; those that started at night.
    """
    other.write(RUNS, "replace")
    assert 2 == answer(other, "jobs where weekday=Sunday during all").total["jobs"]
    assert 1 == answer(other, "jobs where weekday!=Sunday during all").total["jobs"]
    asked = "jobs_started by user where hour_of_day=3|4 during all"
    assert {"jobs_started": 2} == answer(other, asked).total


@STORES
def test_calendar_buckets_of_an_end(other: Store) -> None:
    """
    Distinct users and medians by the day and the week runs ended, in one look at the store.
    """
    other.write(RUNS, "replace")
    found = answer(other, "jobs, job_users, run_time_median per day during all")
    assert [("2026-10-24", 1, 1), ("2026-10-25", 2, 1)] == [
        (row["day"], row["jobs"], row["job_users"]) for row in found.rows
    ]
    found = answer(other, "jobs, job_users per week during all")
    assert [("2026-10-19", 3, 2)] == [tuple(row.values()) for row in found.rows]


def test_nothing_is_said_of_samples() -> None:
    """
    A sample has one moment only.
    """
    found = answer(stored([]), "samples, core_hours_allocated by hour_of_day during all")
    assert not [note for note in found.notes if "weekday" in note]
