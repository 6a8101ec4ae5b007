"""
Runs that shippers or files tell of are stored with their days, so that hours can be asked of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from zoneinfo import ZoneInfo

import orjson

from enrich.chain import Chain
from enrich.delivery import Delivery
from enrich.identity import Identities, Span
from enrich.rules import Rules
from enrich.run_days import days_by, run_days
from enrich.step import Context
from enrich.steps.identity import build
from leadline.formats import Document
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

OSLO = ZoneInfo("Europe/Oslo")
RUN: Document = {
    "dataset": "job",
    "@timestamp": "2026-11-19T20:00:00.000Z",
    "cluster": "fox",
    "job.id": "fox/7",
    "job.run": "fox/7@1795118400",
    "record.version": 5,
    "user.name": "alice",
    "job.submit": "2026-11-19T20:00:00.000Z",
    "job.start": "2026-11-19T22:00:00.000Z",
    "job.end": "2026-11-20T01:00:00.000Z",
    "job.wall.seconds": 3 * 3600.0,
    "job.cores": 4,
    "job.core_seconds.used": 6 * 3600.0,
}


def test_hours_belong_to_the_local_day() -> None:
    """
    22:00 to 01:00 UTC is an hour of one day and two of the next in Oslo; parts make the whole.
    """
    first, second = run_days(RUN, OSLO, 1795136400)
    assert ("2026-11-19", "2026-11-20") == (first["local.day"], second["local.day"])
    assert (4 * 3600.0, 8 * 3600.0) == (
        first["core_seconds_allocated"],
        second["core_seconds_allocated"],
    )
    assert (2 * 3600.0, 4 * 3600.0) == (first["core_seconds_used"], second["core_seconds_used"])
    assert {"23": 3600.0} == first["hours"]


def test_days_know_what_their_run_is_told_by() -> None:
    """
    How long the whole run waited and ran and where stands with each of its days.
    """
    known = {"job.wait.seconds": 7200.0, "job.nodes": ["c1-1"], "job.wall.seconds": 3 * 3600.0}
    for day in run_days({**RUN, **known}, OSLO, 1795136400):
        assert known == {name: day[name] for name in known}


def test_what_nobody_told_is_not_nought() -> None:
    """
    A run without its cores or its CPU time has no such hours; one without an end has no days yet.
    """
    bare = {k: v for k, v in RUN.items() if k not in ("job.cores", "job.core_seconds.used")}
    assert (
        not {"core_seconds_allocated", "core_seconds_used"}
        & run_days(bare, OSLO, 1795136400)[0].keys()
    )
    days = days_by(lambda cluster: OSLO)
    assert [] == days({k: v for k, v in RUN.items() if k != "job.end"})
    assert [] == days({**RUN, "dataset": "job_state"})
    assert 2 == len(days(RUN))


def test_delivery_stores_a_run_with_its_days(deliver: Callable[..., Delivery]) -> None:
    """
    The days are stored and not counted: nobody sent them. A correction replaces them.
    """
    store = MemoryStore()
    delivery = replace(deliver(store), days=days_by(lambda cluster: OSLO))
    tally = delivery.lines([orjson.dumps(RUN)], "node")
    assert (1, 0, 0) == (tally.stored, tally.duplicate, tally.dead_lettered)
    assert 12.0 == hours(store)
    corrected = {**RUN, "job.cores": 8, "record.version": 6}
    delivery.lines([orjson.dumps(corrected), orjson.dumps(RUN)], "node")
    assert 24.0 == hours(store)


def test_each_day_of_a_run_has_the_groups_of_that_day(deliver: Callable[..., Delivery]) -> None:
    """
    Who changes group while a run is under way takes its later hours along, metagroups too.
    """
    moved = {"alice": [Span("chem", "", "2026-11-20", ""), Span("bio", "2026-11-20", "", "")]}
    above = {"bio": [Span("science", "", "", "")], "chem": [Span("nature", "", "", "")]}
    context = Context(rules=Rules([]), identities=Identities(moved, above))
    store = MemoryStore()
    delivery = replace(
        deliver(store), chain=Chain([build(context)]), days=days_by(lambda cluster: OSLO)
    )
    delivery.lines([orjson.dumps(RUN)], "node")
    assert {("2026-11-19", "chem", ("nature",)), ("2026-11-20", "bio", ("science",))} == {
        (str(day["local.day"]), str(day["user.group"]), tuple(day["user.metagroup"]))  # type: ignore[arg-type]
        for batch in store.scan("job_slice", EVERYTHING)
        for day in batch
    }


def hours(store: MemoryStore) -> float:
    days = [day for batch in store.scan("job_slice", EVERYTHING) for day in batch]
    assert 2 == len(days)
    return sum(float(str(day["core_seconds_allocated"])) for day in days) / 3600
