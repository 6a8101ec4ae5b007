"""
The period of a plan: documents that lie in it, each cluster's by its own clocks.

A plan has one start and one end. Where clusters lie in several zones these are the first and the
last of theirs, and what is outside a cluster's own span is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from leadline.formats.times import EARLIEST, format_time
from leadline.query.periods import Period
from leadline.store.plan import Condition, Op, Plan

Conditions = tuple[Condition, ...]
TICK = timedelta(milliseconds=1)


def by_clocks(period: Period) -> Iterator[tuple[Conditions, Period]]:
    """
    Clusters that go by the same clocks, and their span.
    """
    if not period.own:
        yield (), period
        return
    members: dict[Period, list[str]] = {}
    for name, its in period.own:
        members.setdefault(its, []).append(name)
    names = tuple(name for name, _ in period.own)
    yield (Condition("cluster", Op.NOT_IN, names),), replace(period, own=())
    for its, named in members.items():
        yield (Condition("cluster", Op.IN, tuple(named)),), its


def within(plan: Plan, period: Period) -> Plan:
    """
    Documents whose time lies in the period; of runs' days, those that reach into it.
    """
    start, end = hull(period)
    if plan.dataset != "job_slice":
        beyond = _beyond(period, lambda span: _outside(plan.time, span.start, span.end))
        return replace(plan, start=start, end=end, without=beyond)
    days = [_days(span) for span in period.spans]
    first = [] if start is None else [min(low for low, _ in days if low)]
    after = [] if end is None else [max(high for _, high in days if high)]
    where = [
        *(Condition("local.day", Op.AT_LEAST, (day,)) for day in first),
        *(Condition("local.day", Op.BELOW, (day,)) for day in after),
    ]
    beyond = _beyond(period, lambda span: _outside("local.day", *_days(span)))
    return replace(plan, where=(*plan.where, *where), without=beyond)


def running_within(plan: Plan, period: Period) -> Plan:
    """
    Runs that started before the period ended; that they ended in it or later, parts say.
    """
    _, end = hull(period)
    if end is None:
        return plan
    before = Condition("job.start", Op.BELOW, (format_time(end),))
    beyond = _beyond(period, _not_running)
    return replace(plan, where=(*plan.where, before), without=beyond)


def hull(period: Period) -> tuple[datetime | None, datetime | None]:
    starts = [span.start for span in period.spans if span.start is not None]
    ends = [span.end for span in period.spans if span.end is not None]
    return min(starts, default=None), max(ends, default=None)


def running_since(start: datetime | None) -> str:
    """
    The least end of a run that ran after START: what ends as a period begins did not run in it.
    """
    return format_time((EARLIEST if start is None else max(start, EARLIEST)) + TICK)


def _not_running(span: Period) -> Conditions:
    over = Condition("job.end", Op.BELOW, (running_since(span.start),))
    return (over, *_outside("job.start", None, span.end))


def _beyond(period: Period, outside: Callable[[Period], Conditions]) -> tuple[Conditions, ...]:
    """
    What is to be left out: a cluster's documents outside its own span.
    """
    if len({outside(span) for span in period.spans}) == 1:
        return ()
    return tuple(
        (*cluster, condition) for cluster, span in by_clocks(period) for condition in outside(span)
    )


def _outside(field: str, start: datetime | str | None, end: datetime | str | None) -> Conditions:
    edges = ((Op.BELOW, start), (Op.AT_LEAST, end))
    return tuple(
        Condition(field, op, (edge if isinstance(edge, str) else format_time(edge),))
        for op, edge in edges
        if edge is not None
    )


def _days(span: Period) -> tuple[str | None, str | None]:
    """
    Its first day and the one after its last.
    """
    first = None if span.start is None else span.start.astimezone(span.zone).date().isoformat()
    if span.end is None:
        return first, None
    last = (span.end - timedelta(microseconds=1)).astimezone(span.zone).date()
    return first, (last + timedelta(days=1)).isoformat()
