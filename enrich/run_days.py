"""
The days of a run, dataset `job_slice`: its hours, split over the local days on which it ran.

Whoever tells of a run tells of it whole. What is asked of hours (allocated, used, wall) is asked by
day, so wherever a run is taken in, by the worker or from a file, its days are written with it.
"""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

from enrich.days import days
from leadline.formats import Document
from leadline.formats.times import epoch_seconds, from_epoch

SHARED = (
    *("cluster", "schema.version", "event.ingested", "record.version", "user.name", "user.id"),
    *("user.group", "job.id", "job.run", "project", "partition", "qos", "job.state", "job.class"),
    *("gpu.models", "job.cores", "job.gpus", "job.node.count", "job.nodes"),
    *("job.wait.seconds", "job.wall.seconds"),
)

Days = Callable[[Document], list[Document]]


def no_days(document: Document) -> list[Document]:
    return []


def days_by(zone: Callable[[str | None], ZoneInfo]) -> Days:
    """
    For documents of any kind: the days of those that are runs and have ended.
    """

    def of(document: Document) -> list[Document]:
        if document["dataset"] != "job" or "job.end" not in document or "job.run" not in document:
            return []
        until = epoch_seconds(str(document["job.end"]))
        return run_days(document, zone(str(document["cluster"])), until)

    return of


def run_days(job: Document, zone: ZoneInfo, until: int) -> list[Document]:
    """
    The run's days until UNTIL. Suspended time is taken off evenly: nobody wrote down when it was.
    """
    wall = job.get("job.wall.seconds")
    if "job.start" not in job or not isinstance(wall, int | float):
        return []
    start = epoch_seconds(str(job["job.start"]))
    if until <= start:
        return []
    scale = min(wall / (until - start), 1.0)
    shared = {name: job[name] for name in SHARED if name in job}
    found = []
    for day in days(start, until, zone):
        seconds = day.seconds * scale
        document: Document = {
            **shared,
            "dataset": "job_slice",
            "@timestamp": from_epoch(day.begin),
            "local.day": day.day.isoformat(),
            "local.hour": 0,
            "local.weekday": day.day.isoweekday(),
            "wall.seconds": seconds,
            "hours": {hour: value * scale for hour, value in day.hours.items()},
        }
        for name, amount, of in (
            ("core_seconds_allocated", "job.cores", seconds),
            ("gpu_seconds_allocated", "job.gpus", seconds),
            ("core_seconds_used", "job.core_seconds.used", day.seconds / (until - start)),
        ):
            if amount in job:  # what nobody told is not 0
                document[name] = float(str(job[amount])) * of
        found.append(document)
    return found
