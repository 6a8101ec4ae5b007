"""Samples of a job that nobody had heard of yet get its run and project when their hour closes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.chores.run import CHORES, Work, do
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

ROLLUP = CHORES[0]
START = datetime(2026, 3, 2, 8, tzinfo=UTC)


def sample(job: str = "fox/7", hour: float = 0.5, **more: object) -> Document:
    return {
        "dataset": "process",
        "@timestamp": format_time(START + timedelta(hours=hour)),
        "event.ingested": format_time(START + timedelta(hours=hour)),
        "cluster": "fox",
        "host.name": "n1",
        "boot.id": "b",
        "sample.uptime": int(hour * 3600),
        "process.entity_id": "1-1",
        "process.name": "vasp",
        "user.id": "1001",
        "user.name": "alice",
        "core_seconds": 60.0,
        "job.id": job,
        **more,
    }


def run(hour: float, project: str = "physics", job: str = "fox/7") -> Document:
    submit = START + timedelta(hours=hour)
    return {
        "dataset": "job",
        "@timestamp": format_time(submit),
        "cluster": "fox",
        "job.id": job,
        "job.run": f"{job}@{int(submit.timestamp())}",
        "job.submit": format_time(submit),
        "project": project,
        "partition": "batch",
        "record.version": 1,
    }


def rolled(store: MemoryStore, hour: float) -> list[Document]:
    now = START + timedelta(hours=hour)
    do(ROLLUP, Work(store, now, lambda cluster: ZoneInfo("UTC")), forced=True)
    found = [d for batch in store.scan("usage", EVERYTHING) for d in batch]
    return [d for d in found if d["sample.count"]]


def store_of(*documents: Document) -> MemoryStore:
    store = MemoryStore()
    outcome = store.write(list(documents), "replace")
    assert not outcome.rejected, outcome.rejected
    return store


def test_run_and_project_are_looked_up_when_the_hour_closes() -> None:
    """
    Another worker heard of the job: its word is in the store.
    """
    (hour,) = rolled(store_of(sample(), run(-1)), 2)
    assert ("physics", "batch", run(-1)["job.run"]) == (
        hour["project"],
        hour["partition"],
        hour["job.run"],
    )


def test_a_run_told_later_is_found_by_a_later_roll_up() -> None:
    """
    The collector had been away: no new sample came, the hour is made again all the same, once.
    """
    store = store_of(sample())
    (before,) = rolled(store, 2)
    assert "job.run" not in before
    store.write([run(-1)], "replace")
    (after,) = rolled(store, 3)
    assert ("physics", 60.0) == (after["project"], after["core_seconds"])
    version = after["record.version"]
    assert [version] == [d["record.version"] for d in rolled(store, 4)]


def test_it_is_the_run_of_that_hour() -> None:
    """
    A number used again: not the run that was submitted after the hour.
    """
    (hour,) = rolled(store_of(sample(), run(-30, "old"), run(-1, "then"), run(5, "later")), 6)
    assert "then" == hour["project"]


def test_what_the_sample_knows_stays() -> None:
    """
    A run that was told is not looked up; a session is no scheduler's job.
    """
    known = sample(**{"job.run": "fox/7@5", "project": "biology"})
    session = sample("fox/n1/b-12-30", **{"process.entity_id": "2-2"})
    found = {d["job.id"]: d for d in rolled(store_of(known, session, run(-1)), 2)}
    assert "biology" == found["fox/7"]["project"]
    assert "job.run" not in found["fox/n1/b-12-30"]
