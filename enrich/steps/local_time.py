"""
Step `local_time`: hour, weekday and day as the people of the cluster count them.
"""

from __future__ import annotations

from functools import lru_cache

from enrich.step import Context, Fields, Step
from leadline.formats import DATASETS
from leadline.formats.times import parse_time


def build(context: Context) -> Step:
    @lru_cache(maxsize=100_000)
    def of_minute(cluster: str, minute: str) -> Fields:
        local = parse_time(f"{minute}:00.000Z").astimezone(context.zone(cluster))
        return {
            "local.hour": local.hour,
            "local.weekday": local.isoweekday(),
            "local.day": local.date().isoformat(),
        }

    def local_time(cluster: str, time: str) -> Fields:
        return of_minute(cluster, time[:16])  # no zone has had an offset of seconds since 1990

    return Step(
        name="local_time",
        reads=("cluster", "@timestamp"),
        writes=("local.hour", "local.weekday", "local.day"),
        compute=local_time,
        # Where the day is part of the key, whoever wrote the document has said which day it is.
        datasets=frozenset(n for n, d in DATASETS.items() if "local.day" not in d.key),
    )
