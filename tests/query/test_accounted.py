"""
Accounting: what counts when, hours split over days, waits and efficiencies from what is known.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.store.contract import Store
from leadline.store.memory import MemoryStore
from leadline.store.scope import Scope
from tests.any_store import STORES
from tests.query.conftest import ZONE, answer, sample, stored


def moment(text: str) -> datetime:
    """
    Local time of the cluster.
    """
    return datetime.fromisoformat(text).replace(tzinfo=ZONE).astimezone(UTC)


def run(number: int, submit: str, start: str | None, end: str | None, **fields: object) -> Document:
    """
    A run of four cores; times are local.
    """
    times: Document = {"job.submit": format_time(moment(submit))}
    if start:
        times["job.start"] = format_time(moment(start))
        times["job.wait.seconds"] = (moment(start) - moment(submit)).total_seconds()
    if start and end:
        wall = (moment(end) - moment(start)).total_seconds()
        times |= {"job.end": format_time(moment(end)), "job.wall.seconds": wall}
        times["job.core_seconds.allocated"] = 4 * wall
    return {
        "dataset": "job",
        "@timestamp": times["job.submit"],
        "cluster": "fox",
        "job.run": f"fox/{number}@1",
        "job.cores": 4,
        "record.version": 1,
        "user.name": "alice",
        "job.state": "COMPLETED",
        **times,
        **fields,
    }


def slices(number: int, *days: tuple[str, float]) -> list[Document]:
    """
    Days of a four-core run and its hours on each.
    """
    return [
        {
            "dataset": "job_slice",
            "@timestamp": format_time(moment(f"{day}T00:00")),
            "cluster": "fox",
            "job.run": f"fox/{number}@1",
            "local.day": day,
            "record.version": 1,
            "user.name": "alice",
            "wall.seconds": hours * 3600,
            "core_seconds_allocated": 4 * hours * 3600,
        }
        for day, hours in days
    ]


@pytest.fixture
def store() -> MemoryStore:
    """
    Run 1 within October; run 2 over the edge to November; run 3 ends at midnight sharp; run 4
    still runs; run 5 waits.
    """
    return stored(
        [
            run(1, "2026-10-10T08:00", "2026-10-10T10:00", "2026-10-10T12:00"),
            run(2, "2026-10-31T20:00", "2026-10-31T21:00", "2026-11-01T05:00"),
            run(3, "2026-10-31T20:00", "2026-10-31T22:00", "2026-11-01T00:00"),
            run(4, "2026-11-01T08:00", "2026-11-01T12:00", None, provisional=True),
            run(5, "2026-11-01T09:00", None, None, provisional=True),
            *slices(1, ("2026-10-10", 2.0)),
            *slices(2, ("2026-10-31", 3.0), ("2026-11-01", 5.0)),
            *slices(3, ("2026-10-31", 2.0)),
        ]
    )


@pytest.mark.parametrize(
    ("measure", "october", "november"),
    [
        ("jobs", 1, 2),
        ("jobs_started", 3, 1),
        ("jobs_submitted", 3, 2),
        ("jobs_running", 3, 2),
        ("wall_hours", 7.0, 5.0),
        ("core_hours_allocated", 28.0, 20.0),
    ],
)
def test_what_counts_in_a_month(
    store: MemoryStore, measure: str, october: float, november: float
) -> None:
    """
    Ended, started, submitted, running: each by its own time; hours are split at the edge. A run
    that ends at midnight sharp ended in the new month, and did not run in it.
    """
    assert october == answer(store, f"{measure} during 2026-10").total[measure]
    assert november == answer(store, f"{measure} during 2026-11").total[measure]


def test_hours_of_the_parts_are_the_whole(store: MemoryStore) -> None:
    """
    Hours by day add up to the hours of the runs.
    """
    found = answer(store, "wall_hours per day during all")
    assert [2.0, 5.0, 5.0] == [row["wall_hours"] for row in found.rows]
    assert 12.0 == found.total["wall_hours"]


def test_jobs_by_day_go_by_their_end(store: MemoryStore) -> None:
    """
    The day of a job is the local day it ended on, not the day it was submitted.
    """
    found = answer(store, "jobs, wait_median per day during 2026-10-01..2026-11-30")
    assert {"2026-10-10": 1, "2026-11-01": 2} == {
        row["day"]: row["jobs"] for row in found.rows if row["jobs"]
    }


def test_wait_belongs_to_the_start(store: MemoryStore) -> None:
    """
    Waits of the runs that started: 2 h, 1 h and 2 h in October; the waiting one has none.
    """
    found = answer(store, "wait_mean, wait_median, wait_max, wait_p90 during 2026-10")
    assert (pytest.approx(6000), 7200, 7200, 7200) == tuple(found.total.values())


def test_a_wait_of_none_is_not_zero() -> None:
    """
    A run without a start has no wait, and does not pull the mean down.
    """
    store = stored([run(1, "2026-11-01T09:00", None, None)])
    assert answer(store, "wait_mean during all").total["wait_mean"] is None


def test_efficiency_divides_by_what_has_both() -> None:
    """
    A run without accounted use counts on neither side: 25 %, not 12.5 %.
    """
    store = stored(
        [
            run(1, "2026-11-10T08:00", "2026-11-10T10:00", "2026-11-10T12:00")
            | {"job.core_seconds.used": 2 * 3600.0},
            run(2, "2026-11-10T08:00", "2026-11-10T10:00", "2026-11-10T12:00"),
        ]
    )
    found = answer(store, "cpu_efficiency, core_hours_wasted, gpu_efficiency during 2026-11")
    assert pytest.approx(25.0) == found.total["cpu_efficiency"]
    assert pytest.approx(6.0) == found.total["core_hours_wasted"]
    assert found.total["gpu_efficiency"] is None


def test_others_of_an_efficiency_come_from_sums() -> None:
    """
    The others' efficiency is that of their hours together, not the mean of percentages.
    """
    jobs = []
    for number, (user, hours, share) in enumerate([("a", 100, 0.5), ("b", 10, 1.0), ("c", 1, 0.0)]):
        end = format_time(moment("2026-11-10T10:00") + timedelta(hours=hours))
        told = run(number, "2026-11-10T08:00", "2026-11-10T10:00", "2026-11-10T12:00")
        told |= {"user.name": user, "job.end": end, "job.core_seconds.allocated": hours * 3600.0}
        jobs.append(told | {"job.core_seconds.used": share * hours * 3600})
    found = answer(stored(jobs), "cpu_efficiency by user during all top 1 order cpu_efficiency")
    assert "b" == found.rows[0]["user"]
    assert pytest.approx(100 * 50 / 101) == found.others["cpu_efficiency"]  # type: ignore[index]


def test_virtual_memory_is_no_peak() -> None:
    """
    Grid Engine's maxvmem does not enter mean peaks.
    """
    times = ("2026-11-10T08:00", "2026-11-10T10:00", "2026-11-10T12:00")
    store = stored(
        [
            run(1, *times) | {"job.memory.peak.bytes": 100, "job.memory.basis": "cgroup"},
            run(2, *times) | {"job.memory.peak.bytes": 900, "job.memory.basis": "virtual"},
        ]
    )
    assert 100 == answer(store, "job_memory_mean during all").total["job_memory_mean"]


def test_samples_and_accounting_in_one_question(store: MemoryStore) -> None:
    """
    Measures of both kinds stand side by side; who is only in one has nothing in the other.
    """
    store.write([sample(1, **{"user.name": "bob"}), sample(2, **{"user.name": "alice"})], "create")
    found = answer(store, "core_hours_used, wall_hours by user during all")
    assert [
        {"user": "alice", "core_hours_used": 1.0, "wall_hours": 12.0},
        {"user": "bob", "core_hours_used": 1.0, "wall_hours": None},
    ] == list(found.rows)
    other = answer(store, "wall_hours, core_hours_used by user during all")
    assert ["alice", "bob"] == [row["user"] for row in other.rows]
    assert 2.0 == other.total["core_hours_used"]


def test_size_classes(store: MemoryStore) -> None:
    """
    Jobs by size class, as people read it.
    """
    found = answer(store, "jobs by size during all")
    assert [("2–4", 3)] == [(found.label("size", row["size"]), row["jobs"]) for row in found.rows]
    assert 3 == answer(store, "jobs where size=2-4 during all").total["jobs"]
    assert 0 == answer(store, "jobs where size=5-16 during all").total["jobs"]


def test_jobs_running_by_day(store: MemoryStore) -> None:
    """
    A run is in every day it ran on, one that has not ended until today, and once in the total.
    """
    found = answer(store, "jobs_running per day during 2026-10-30..2026-11-30")
    counts = {row["day"]: row["jobs_running"] for row in found.rows}
    assert {"2026-10-31": 2, "2026-11-01": 2, "2026-11-02": 1} == {
        day: count for day, count in counts.items() if str(day) < "2026-11-03"
    }
    assert "2026-11-21" == max(map(str, counts))  # today; tomorrow nobody knows
    assert 3 == found.total["jobs_running"]
    assert found.rows == answer(store, "jobs_running per day during 2026-10-30..").rows


def test_jobs_running_by_month_of_everything(store: MemoryStore) -> None:
    """
    Without a first day it goes back to the first run; by user, with others, it is the same.
    """
    found = answer(store, "jobs_running by user per month during all top 1")
    assert [("2026-10-01", 3), ("2026-11-01", 2)] == [
        (row["month"], row["jobs_running"]) for row in found.rows
    ]
    assert 4 == found.total["jobs_running"]


def test_jobs_submitted_by_hour_of_day() -> None:
    """
    Submission has an hour of the day and a weekday, in the cluster's own zone.
    """
    clock = {"local.hour": 8, "local.weekday": 6, "local.day": "2026-10-10"}
    store = stored([run(1, "2026-10-10T08:00", None, None, **clock)])
    found = answer(store, "jobs_submitted by hour_of_day, weekday during 2026-10")
    assert [(8, 6, 1)] == [tuple(row.values()) for row in found.rows]


def test_who_ran_nothing_is_no_row_of_jobs_running(store: MemoryStore) -> None:
    """
    Runs that were over before the period begins are looked at, and give nobody a row of noughts.
    """
    assert answer(store, "jobs_running by user during 2026-11-28..2026-11-29").rows == (
        {"user": "alice", "jobs_running": 1},
    )
    before = run(9, "2026-09-01T08:00", "2026-09-01T08:00", "2026-09-01T09:00")
    store.write([{**before, "user.name": "zoe"}], "replace")
    found = answer(store, "jobs_running by user during 2026-11-28..2026-11-29")
    assert ["alice"] == [row["user"] for row in found.rows]


def test_a_wait_of_no_seconds_is_a_row_of_its_year(store: MemoryStore) -> None:
    """
    Nought that was measured is told; a year without a start is not.
    """
    at_once = run(9, "2024-09-01T08:00", "2024-09-01T08:00", "2024-09-01T09:00")
    store.write([{**at_once, "user.name": "zoe"}], "replace")
    found = answer(store, "wait_p90 per year where user=zoe during all")
    assert (({"year": "2024-01-01", "wait_p90": 0.0}),) == found.rows


def test_none_running_is_fewer_than_one(store: MemoryStore) -> None:
    """
    Whom only another measure knows ran 0 jobs, which is the least there is.
    """
    late = run(9, "2026-11-28T08:00", None, None, **{"user.name": "zoe"})
    store.write([late], "replace")
    text = "jobs_submitted, jobs_running by user during 2026-11-28..2026-11-29 top 1"
    found = answer(store, f"{text} order jobs_running ascending")
    assert [("zoe", 0)] == [(row["user"], row["jobs_running"]) for row in found.rows]


@STORES
def test_hours_of_running_runs_are_announced(other: Store, store: MemoryStore) -> None:
    """
    Run 4 has been running since 1 November, 12:00: its hours are in no sum, and each answer about a
    time it ran in says how many; one about October, or of somebody else, says nothing.
    """
    other.write([d for table in store.tables.values() for d in table.values()], "replace")

    def notes(text: str) -> tuple[str, ...]:
        return answer(other, text).notes

    listed = "are not counted yet; `leadline jobs --running` lists them"
    november = 24 * 20 + 1  # until 21 November, 13:00
    assert (f"1 run is still running: about {4 * november:,} core hours {listed}",) == notes(
        "core_hours_allocated by user during 2026-11"
    )
    assert (f"1 run is still running: about 24 hours {listed}",) == notes(
        "wall_hours where user=alice during 2026-11-05"
    )
    assert () == notes("wall_hours during 2026-10-10..2026-10-31")
    assert () == notes("wall_hours where user=bob during 2026-11")
    assert () == notes("jobs during 2026-11")
    sunday = notes("wall_hours where weekday=Sunday during 2026-11")
    assert (f"1 run is still running: hours so far {listed}",) == sunday


def test_hours_told_of_a_run_while_it_ran_are_not_announced(store: MemoryStore) -> None:
    """
    What sacct told of a running run is counted up to that moment; what came since is announced.
    """
    told = {**slices(4, ("2026-11-01", 12.0))[0], "job.state": "RUNNING"}
    store.write([told], "replace")
    found = answer(store, "wall_hours during 2026-11-01..2026-11-02")
    assert 17.0 == found.total["wall_hours"]
    assert "about 24 hours are not counted yet" in found.notes[0]


def test_who_sees_totals_is_told_that_runs_are_running(store: MemoryStore) -> None:
    """
    How many, and how much they have had, may be one person's.
    """
    found = answer(store, "wall_hours during 2026-11", Scope(totals_only=True))
    assert ("runs that are still running are not counted yet",) == found.notes


@STORES
def test_who_and_where_and_what_was_moved(other: Store) -> None:
    """
    Distinct users, groups, projects and nodes of ended runs; bytes told apart and not.
    """
    times = ("2026-11-10T08:00", "2026-11-10T10:00", "2026-11-10T12:00")
    slurm: Document = {"job.nodes": ["c1-1", "c1-2"], "user.group": "ml", "project": "p1"}
    slurm |= {"job.io.read.bytes": 10, "job.io.write.bytes": 5}
    grid = {"job.nodes": ["c1-2"], "user.group": "bio", "job.io.bytes": 100}
    other.write([run(1, *times, **slurm), run(2, *times, **grid), run(3, *times)], "replace")
    names = "job_io, job_users, job_groups, job_projects, job_nodes"
    found = answer(other, f"{names} during 2026-11")
    assert [115, 1, 2, 1, 2] == list(found.total.values())
    top = answer(other, f"{names} by group during 2026-11 top 1")
    assert [100, 1, 1, 0, 1] == list(top.rows[0].values())[1:]
    assert [15, 1, 1, 1, 2] == list((top.others or {}).values())
