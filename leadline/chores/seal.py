"""
Months of raw samples whose summaries are made for good: only those may go.

A mark is an event for each month and family, kept in the store beside what it speaks of. Months are
sealed in their order, so the end of the last one says it all. What comes in for a sealed month
while its samples are still there is rolled up like any other; until that is done the month counts
as not sealed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from leadline.chores.rollup import last_begun
from leadline.formats import DATASETS, Document
from leadline.formats.times import format_time, parse_time
from leadline.query.rollups import HOUR, LATE, NOBODY, OBJECT, RULE, first_taken_in, month_of
from leadline.settings.common import RetentionSettings
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.retention import RAW, Gone
from leadline.store.retention import gone as retained
from leadline.store.scope import EVERYTHING

SETTLED = timedelta(days=1)  # a month is over for so long
MARK = "sealed."
SUMMARY = {"process": OBJECT, "node": "capacity", "gpu": "capacity"}  # which chore makes it

_SEALS = (
    Condition("rule.name", Op.IN, (RULE,)),
    Condition("event.object", Op.IN, tuple(MARK + family for family in RAW)),
)


def seal(store: Store, now: datetime) -> list[str]:
    """
    Mark the months that are complete; those newly marked, as family and month.
    """
    ends = _marks(store)
    marks = []
    for family in RAW:
        begin = ends.get(family) or _oldest(store, family)
        until = _complete(store, family, month_of(now - SETTLED))
        if begin is not None and until is not None:
            marks += [_mark(family, month, end, now) for month, end in _months(begin, until)]
    if marks:
        outcome = store.write(marks, "create")
        if outcome.kept or outcome.rejected:
            raise RuntimeError(f"seal: {outcome.reason or outcome.rejected[0][1]}")
    return [str(mark["event.reason"]) for mark in marks]


def sealed(store: Store) -> dict[str, datetime]:
    """
    Family → the end of its last month that may go: sealed, and nothing new waits in it.
    """
    found = {}
    for family, end in _marks(store).items():
        until = _complete(store, family, end)
        if until is not None:
            found[family] = until
    return found


def _marks(store: Store) -> dict[str, datetime]:
    last = Aggregate("last", Function.MAX, "event.end")
    rows = store.ask(Plan("event", (last,), (Group("event.object"),), _SEALS), EVERYTHING)
    return {
        str(row["event.object"]).removeprefix(MARK): parse_time(str(row["last"])) for row in rows
    }


def gone(store: Store, retention: RetentionSettings, now: datetime) -> Gone:
    """
    What comes too late for the store: its period is kept no longer, and was summarised.
    """
    sealed = set()
    fields = ("event.object", "event.start")
    for batch in store.scan("event", EVERYTHING, where=_SEALS, fields=fields):
        for mark in batch:
            family = str(mark["event.object"]).removeprefix(MARK)
            sealed.add((family, str(mark["event.start"])[:7]))
    return retained(retention, now, frozenset(sealed))


def _complete(store: Store, family: str, until: datetime) -> datetime | None:
    """
    The beginning of the first month, at most UNTIL, that the family's summary is not done with.
    """
    begun = last_begun(store, SUMMARY[family])
    if begun is None:
        return None
    until = min(until, month_of(begun - HOUR))
    waiting = first_taken_in(store, family, begun - LATE, until)
    return until if waiting is None else month_of(waiting)


def _oldest(store: Store, family: str) -> datetime | None:
    datasets = store.health().datasets
    times = [
        health.oldest
        for name, health in datasets.items()
        if DATASETS[name].family == family and health.oldest
    ]
    return month_of(parse_time(min(times))) if times else None


def _months(begin: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    while begin < until:
        end = month_of(begin + timedelta(days=32))
        yield begin, end
        begin = end


def _mark(family: str, month: datetime, end: datetime, now: datetime) -> Document:
    return {
        "dataset": "event",
        "@timestamp": format_time(end),
        "cluster": NOBODY,
        "rule.name": RULE,
        "event.object": MARK + family,
        "event.kind": "notice",
        "event.severity": "info",
        "event.start": format_time(month),
        "event.end": format_time(end),
        "event.reason": f"{family} {month.astimezone(UTC):%Y-%m}",
        "message": f"The {family} samples of {month.astimezone(UTC):%Y-%m} are summarised",
        "record.version": int(now.timestamp() * 1000),
    }
