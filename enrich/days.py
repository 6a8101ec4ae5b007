"""
A run's days: what each local day and each of its hours holds of it, to the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    begin: int  # the day's first second, since 1970
    seconds: int
    hours: dict[str, int]  # by the clock on the wall: "02" may hold 7,200 in autumn


def days(start: int, end: int, zone: ZoneInfo) -> Iterator[Day]:
    """
    The days of [START, END): their seconds add up to the run's.
    """
    day = datetime.fromtimestamp(start, UTC).astimezone(zone).date()
    while True:
        begin, following = _begin(day, zone), _begin(day + timedelta(days=1), zone)
        if begin >= end:
            return
        since, until = max(start, begin), min(end, following)
        if until > since:
            yield Day(day, begin, until - since, _hours(since, until, zone))
        day += timedelta(days=1)


def _begin(day: date, zone: ZoneInfo) -> int:
    return int(datetime.combine(day, time(), zone).timestamp())


def _hours(since: int, until: int, zone: ZoneInfo) -> dict[str, int]:
    hours: dict[str, int] = {}
    while since < until:
        following = min(until, since - since % 1800 + 1800)  # some zones are half an hour off
        clock = datetime.fromtimestamp(since, UTC).astimezone(zone)
        hours[f"{clock:%H}"] = hours.get(f"{clock:%H}", 0) + following - since
        since = following
    return hours
