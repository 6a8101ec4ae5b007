"""
Which hours of capacity a run makes: those that have none yet, and those that took in something
since the run before it began.

An hour of a month whose raw samples have gone is left as it is: what is there knows more.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from leadline.formats.times import format_time, parse_time
from leadline.query.rollups import HOUR, LATE, hour_of, month_of
from leadline.reports.timeline import TOLD
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING

CHUNK = 24  # hours made in one go
LOOKED = Condition("slurm.nodes", Op.EXISTS)
COUNT = Aggregate("n", Function.COUNT)
BY_HOUR = (Group("@timestamp", Bucket.HOUR),)


def spans_to_make(
    store: Store, since: datetime | None, end: datetime
) -> list[tuple[datetime, datetime]]:
    """
    Runs of whole hours before END, none longer than CHUNK.
    """
    known = store.health().datasets
    times = [h.oldest for n, h in known.items() if n in ("node", "node_state") and h.oldest]
    if not times:
        return []
    oldest = hour_of(parse_time(min(times)))
    newest = known["capacity"].newest if "capacity" in known else None
    first = oldest if newest is None else hour_of(parse_time(newest)) + HOUR
    hours = set(_hours(first, end))
    hours |= {hour for hour in _touched(store, since, oldest, end) if oldest <= hour < end}
    months = {month_of(hour) for hour in hours} - {month_of(end)}
    gone = {month for month in months if _is_gone(store, since, month)}
    return list(_runs(sorted(hour for hour in hours if month_of(hour) not in gone)))


def _hours(start: datetime, end: datetime) -> Iterator[datetime]:
    while start < end:
        yield start
        start += HOUR


def _touched(
    store: Store, since: datetime | None, oldest: datetime, end: datetime
) -> Iterator[datetime]:
    if since is None:
        yield from _hours(oldest, end)
        return
    new = Condition("event.ingested", Op.AT_LEAST, (format_time(since - LATE),))
    told = timedelta(seconds=TOLD)
    for dataset, where, before, after in (
        ("node", (), timedelta(0), timedelta(0)),
        ("gpu", (), timedelta(0), timedelta(0)),
        ("node", (LOOKED,), HOUR, HOUR),  # from the look before to this one
        ("node_state", (), timedelta(0), told),  # as long as the state may hold
    ):
        rows = store.ask(Plan(dataset, (COUNT,), BY_HOUR, (new, *where)), EVERYTHING)
        for row in rows:
            hour = parse_time(str(row["@timestamp"]))
            yield from _hours(hour - before, min(end, hour + after + HOUR))


def _is_gone(store: Store, since: datetime | None, month: datetime) -> bool:
    """
    Whether capacity knows something of the month, and of the samples it knew it from none is left.
    """
    end = month_of(month + timedelta(days=32))
    names = ("seconds.up", "seconds.down", "seconds.drained")
    known = tuple(Aggregate(name, Function.SUM, name) for name in names)
    (kept,) = store.ask(Plan("capacity", known, (), (), month, end), EVERYTHING)
    if not any(kept[name] for name in names):
        return False
    before = [Condition("event.ingested", Op.MISSING)]
    if since is None:
        before.append(Condition("event.ingested", Op.EXISTS))
    else:
        before.append(Condition("event.ingested", Op.BELOW, (format_time(since - LATE),)))
    plans = [Plan("node", (COUNT,), (), (condition,), month, end) for condition in before]
    return not any(store.ask(plan, EVERYTHING)[0]["n"] for plan in plans)


def _runs(hours: list[datetime]) -> Iterator[tuple[datetime, datetime]]:
    begin = 0
    for at in range(1, len(hours) + 1):
        if at == len(hours) or hours[at] != hours[at - 1] + HOUR or at - begin == CHUNK:
            yield hours[begin], hours[at - 1] + HOUR
            begin = at
