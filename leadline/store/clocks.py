"""
What a cluster's clocks showed at an instant that a document tells of: `hour of job.end`.

`local.hour` and its like are stored and belong to @timestamp. Of other instants clocks are read
when somebody asks, wherever a plan names a field: to group by, and in conditions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from leadline.formats import Document, Field, Type
from leadline.formats.field import Kind
from leadline.formats.times import parse_time

NUMBERS = ("hour", "weekday")  # 0 to 23, 1 (Monday) to 7
DAYS = ("day", "week", "month", "quarter", "year")  # the first day of it
BETWEEN = " of "


@dataclass(frozen=True, slots=True)
class Clocks:
    """
    The zone that clocks go by, and those of clusters that have one of their own.
    """

    zone: str = "UTC"
    own: tuple[tuple[str, str], ...] = ()  # cluster and zone


UTC = Clocks()


@dataclass(frozen=True, slots=True)
class Reading(Field):
    """
    What CLOCKS showed at an instant.
    """

    instant: str = ""
    shows: str = ""
    clocks: Clocks = UTC

    def of(self, document: Document) -> int | str | None:
        value = document.get(self.instant)
        if value is None:
            return None
        zone = dict(self.clocks.own).get(str(document.get("cluster")), self.clocks.zone)
        local = parse_time(str(value)).astimezone(ZoneInfo(zone))
        if self.shows == "hour":
            return local.hour
        return local.isoweekday() if self.shows == "weekday" else first_day(local, self.shows)


def first_day(day: date, unit: str) -> str:
    first = {
        "day": day,
        "week": day - timedelta(days=day.isoweekday() - 1),
        "month": day.replace(day=1),
        "quarter": day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
        "year": day.replace(month=1, day=1),
    }
    return f"{first[unit]:%Y-%m-%d}"


def shown(what: str, instant: str) -> str:
    """
    How a plan names it.
    """
    return f"{what}{BETWEEN}{instant}"


def readings(names: Iterable[str], clocks: Clocks) -> dict[str, Field]:
    """
    Those among NAMES that clocks tell.
    """
    found: dict[str, Field] = {}
    for name in names:
        what, between, instant = name.partition(BETWEEN)
        if between and what in (*NUMBERS, *DAYS):
            kind = Type.LONG if what in NUMBERS else Type.DAY
            found[name] = Reading(name, kind, "", Kind.ATTRIBUTE, "", False, instant, what, clocks)
    return found
