"""
Which run is meant: waiting, requeued, not accounted yet, by the number people see.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from leadline.errors import NothingKnownError
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.advice import advise
from leadline.reports.job import job_view
from leadline.reports.job_text import summary
from leadline.reports.life import job_life
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored
from tests.reports.test_job import NOW, START, record, samples, view

LATER = START + timedelta(hours=12)


def later(*documents: Document, **fields: object) -> list[Document]:
    """
    The same twelve hours later.
    """
    return [
        {**one, "@timestamp": format_time(LATER + timedelta(minutes=10 * number + 5)), **fields}
        for number, one in enumerate(documents)
    ]


def test_what_waits_again_shows_nothing_of_its_last_run() -> None:
    """
    A requeued job that waits has used nothing yet: samples before its submission are the other
    run's.
    """
    waiting = {
        "@timestamp": format_time(START + timedelta(hours=3)),
        "job.run": "fox/7@2",
        "job.submit": format_time(START + timedelta(hours=3)),
        "job.state": "PENDING",
        "job.reason": "Priority",
        "job.asked.cores": 16,
    }
    gone = ("job.start", "job.end", "job.wall.seconds", "job.cores")
    pending = {k: v for k, v in {**record(), **waiting}.items() if k not in gone}
    seen = view(record(**{"job.state": "PREEMPTED"}), pending, *samples(8, 30))
    assert (0, None, 16) == (seen.profile.samples, seen.cpu.mean, seen.cpu.asked)
    text = summary(seen, advise(seen))
    assert "submitted 2026-11-20 11:00 (UTC), Priority, not started" in text
    assert "PENDING  03:00 asked" in text
    assert "No advice: it has not started." in text
    assert "Other runs of this id: fox/7@1" in text


def test_a_number_used_again_before_it_is_accounted() -> None:
    """
    Processes younger than the accounted run's end are of a run that nobody accounted yet.
    """
    begun = {"process.start": format_time(LATER)}
    seen = view(record(), *samples(8, 30), *later(*samples(2, 3), **begun))
    assert ({}, None, 2.0) == (seen.record, seen.run, seen.cpu.mean)
    assert ("fox/7@1",) == seen.runs
    left = view(record(), *samples(8, 30), *later(*samples(2, 3)))
    assert ("fox/7@1", 8.0) == (left.run, left.cpu.mean)


def test_tasks_by_the_number_people_see() -> None:
    """
    fox/5_2 is task 2 of array 5, fox/6+1 part 1 of a heterogeneous job, whatever their own numbers.
    """
    told = stored(
        [
            record(**{"job.array.id": "5", "job.array.task": "2"}),
            record(**{"job.id": "fox/8", "job.run": "fox/8@1", "job.het.id": "6"})
            | {"job.het.offset": 1},
            {
                "dataset": "job_state",
                "@timestamp": format_time(START),
                "cluster": "fox",
                "job.id": "fox/7",
                "job.run": "fox/7@1",
                "state.name": "RUNNING",
                "state.hash": "x",
            },
        ]
    )
    task, part = (job_view(told, EVERYTHING, name, NOW) for name in ("fox/5_2", "fox/6+1"))
    assert ("fox/7", "fox/8") == (task.job, part.job)
    assert "task 2 of array 5" in summary(task, [])
    assert "part 1 of 6" in summary(part, [])
    assert ["fox/7"] == [row["job"] for row in job_life(told, EVERYTHING, "fox/5_2", NOW)]


def test_what_a_running_job_is_accounted_is_not_its_use() -> None:
    """
    Schedulers say 0 until a step ends: the mean of a running job comes from its samples.
    """
    gone = ("job.end", "job.wall.seconds")
    running = {k: v for k, v in record().items() if k not in gone}
    seen = view({**running, "job.core_seconds.used": 0.0}, *samples(8, 30))
    assert (8.0, 0.5) == (seen.cpu.mean, seen.cpu.share)


def test_an_array_names_a_task_of_it() -> None:
    """
    Where each task has an id of its own the array is no job: one to ask for is told.
    """
    tasks = [
        {**record(), "job.id": f"fox/7.{n}", "job.run": f"fox/7.{n}@1", "job.array.id": "7"}
        for n in (2, 1)
    ]
    with pytest.raises(NothingKnownError, match=r"fox/7: an array; .* as fox/7\.1$"):
        job_view(stored(tasks), EVERYTHING, "fox/7", NOW)
