"""
Which part of a question hourly usage can answer, and the plan that asks it there.

Roll-ups leave a mark when a run of theirs is complete: whatever was taken in before it began is in
`usage`. Hours that ended before the mark are answered from there, up to the first that has taken in
something since; the rest from raw samples. The two are joined part by part, so nothing is counted
twice and nothing is missed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from leadline.formats import DATASETS
from leadline.formats.times import format_time, parse_time
from leadline.query.measure import JOINED, Measure
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING

RULE, OBJECT, NOBODY = "chore", "rollup", "-"
LATE = timedelta(minutes=10)  # what a worker may still hold when a run begins
CAPACITY_CLOSED = timedelta(minutes=20)  # capacity is made of hours that ended so long ago
HOUR = timedelta(hours=1)
HELD = Condition("sample.count", Op.AT_LEAST, (1,))  # documents made void hold none

SUMMED = {
    "core_seconds": "core_seconds",
    "core_seconds_user": "core_seconds_user",
    "core_seconds_system": "core_seconds_system",
    "gpu_seconds": "gpu_seconds",
    "gpu_held_seconds": "gpu_held_seconds",
    "io.read.bytes": "io.read.bytes",
    "io.write.bytes": "io.write.bytes",
    "memory.rss.bytes": "memory.rss.sum",
    "process.count": "process.count",
}
GREATEST = {"memory.rss.bytes": "memory.rss.max", "gpu.memory.bytes": "gpu.memory.max"}
COUNTED = {"": "sample.count", "memory.rss.bytes": "memory.rss.count"}
MEMORY, KEPT_CLASSES = "memory.rss.bytes", "memory.classes"
FIELDS = frozenset(DATASETS["usage"].by_name)
ALONE = (Condition("process.count", Op.MISSING),)  # counted with process.count in usage


@dataclass(frozen=True, slots=True)
class Pieces:
    """
    One plan as several that hold each document once; `zero` parts are nothing in usage.
    """

    raw: tuple[Plan, ...]
    usage: Plan | None = None


def complete_until(store: Store) -> datetime | None:
    """
    The hour before which usage is complete; None when no roll-up has ever run to its end, or usage
    has nothing before that hour.

    History that is read in after a run is not in usage before the next one: hours from the first
    of it on are left to raw samples until then, as far back as there still are any.
    """
    where = (
        Condition("rule.name", Op.IN, (RULE,)),
        Condition("event.object", Op.IN, (OBJECT,)),
        Condition("event.end", Op.EXISTS),
    )
    begun = Aggregate("begun", Function.MAX, "event.start")
    (row,) = store.ask(Plan("event", (begun,), where=where), EVERYTHING)
    if row["begun"] is None:
        return None
    since = parse_time(str(row["begun"])) - LATE
    until = hour_of(since)
    late = first_taken_in(store, "process", since, until)
    if late is not None:
        gone = _gone_before(store, hour_of(late), until)
        if gone is not None:  # what came late for those must not hide their usage
            late = first_taken_in(store, "process", since, until, start=gone)
    until = until if late is None else hour_of(late)
    return until if _begins_before(store, until) else None


def _begins_before(store: Store, until: datetime) -> bool:
    first = Aggregate("first", Function.MIN, "@timestamp")
    (row,) = store.ask(Plan("usage", (first,)), EVERYTHING)
    return row["first"] is not None and parse_time(str(row["first"])) < until


def capacity_until(store: Store) -> datetime | None:
    """
    The hour before which capacity is complete; None when it was never made to its end.
    """
    where = (
        Condition("rule.name", Op.IN, (RULE,)),
        Condition("event.object", Op.IN, ("capacity",)),
        Condition("event.end", Op.EXISTS),
    )
    begun = Aggregate("begun", Function.MAX, "event.start")
    (row,) = store.ask(Plan("event", (begun,), where=where), EVERYTHING)
    if row["begun"] is None:
        return None
    moment = parse_time(str(row["begun"]))
    until = hour_of(moment - CAPACITY_CLOSED)
    late = first_taken_in(store, "node", moment - LATE, until)
    return until if late is None else hour_of(late)


def rolls(asked: Measure) -> bool:
    """
    Whether hourly usage keeps what the measure is made from.
    """
    return asked.dataset == "process" and None not in [_aggregate(a) for a in asked.parts]


def first_taken_in(
    store: Store, dataset: str, since: datetime, until: datetime, *, start: datetime | None = None
) -> datetime | None:
    """
    The earliest sample, from START and before UNTIL, of those that came in after SINCE.
    """
    new = (Condition("event.ingested", Op.AT_LEAST, (format_time(since),)),)
    first = Aggregate("first", Function.MIN, "@timestamp")
    (row,) = store.ask(Plan(dataset, (first,), (), new, start, until), EVERYTHING)
    return None if row["first"] is None else parse_time(str(row["first"]))


def _gone_before(store: Store, start: datetime, until: datetime) -> datetime | None:
    """
    The moment from START on before which raw samples are no longer kept; None when all are there.

    Where raw holds fewer samples than usage has counted, some have gone; months go from the oldest.
    """
    if holds(store, start, until):
        return None
    end = until
    while end > start:
        begin = max(start, month_of(end - HOUR))
        if not holds(store, begin, end):
            return end
        end = begin
    return None


def holds(store: Store, start: datetime | None, end: datetime | None) -> bool:
    """
    Whether all samples that usage has counted from START to END are there still.
    """
    counted = Aggregate("n", Function.SUM, "sample.count")
    (usage,) = store.ask(Plan("usage", (counted,), (), (HELD,), start, end), EVERYTHING)
    counted = Aggregate("n", Function.COUNT)
    (raw,) = store.ask(Plan("process", (counted,), (), (), start, end), EVERYTHING)
    return int(raw["n"] or 0) >= int(usage["n"] or 0)


def hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def month_of(moment: datetime) -> datetime:
    return hour_of(moment).replace(day=1, hour=0)


def pieces(plan: Plan, until: datetime | None) -> Pieces:
    """
    PLAN cut where usage takes over and where it ends.
    """
    if until is None or plan.dataset != "process" or plan.time != "@timestamp":
        return Pieces((plan,))
    usage = _on_usage(plan)
    first = None if plan.start is None else next_hour(plan.start)
    last = until if plan.end is None else min(until, hour_of(plan.end))
    if usage is None or (first is not None and first >= last):
        return Pieces((plan,))
    whole = first == plan.start and last == plan.end
    if not whole and not all(a.function in JOINED for a in plan.aggregates):
        return Pieces((plan,))
    if not whole:
        plan, usage = replace(plan, limit=None), replace(usage, limit=None)  # parts must be joined
    raw = []
    if first != plan.start:
        raw.append(replace(plan, end=first))
    if last != plan.end:
        raw.append(replace(plan, start=last))
    return Pieces(tuple(raw), replace(usage, start=first, end=last))


def mixes(plan: Plan, distinct: Aggregate, until: datetime) -> bool:
    """
    Whether usage and raw samples together can list what is counted, where neither can alone.
    """
    if distinct.where or distinct.field in [group.field for group in plan.by]:
        return False
    listed = Group(distinct.field)
    asked = replace(plan, by=(*plan.by, listed), aggregates=(Aggregate("n", Function.COUNT),))
    cut = pieces(asked, until)
    return cut.usage is not None and bool(cut.raw)


def next_hour(moment: datetime) -> datetime:
    begin = hour_of(moment)
    return begin if begin == moment else begin + HOUR


def _on_usage(plan: Plan) -> Plan | None:
    """
    The same question to usage; None when it does not keep what is asked. Of classes of memory it
    keeps how many samples of each a document stands for, not a document for each.
    """
    by = tuple(Group(KEPT_CLASSES) if g == Group(MEMORY, Bucket.CLASS) else g for g in plan.by)
    fields = [group.field for group in by]
    fields += [c.field for conditions in (plan.where, *plan.without) for c in conditions]
    if not all(name in FIELDS for name in fields):
        return None
    aggregates = [a if by != plan.by else _aggregate(a) for a in plan.aggregates]
    if None in aggregates:
        return None
    return replace(
        plan,
        dataset="usage",
        by=by,
        aggregates=tuple(a for a in aggregates if a is not None),
        where=(*plan.where, HELD),
    )


def _aggregate(asked: Aggregate) -> Aggregate | None:
    function, field = asked.function, asked.field
    if asked.where == ALONE and function is Function.COUNT and not field:
        # Never true of a usage document: 0, for process.count holds these already.
        return replace(asked, where=(Condition("sample.count", Op.BELOW, (0,)),))
    if asked.where:
        return None
    if function is Function.SUM and field in SUMMED:
        return replace(asked, field=SUMMED[field])
    if function is Function.MAX and field in GREATEST:
        return replace(asked, field=GREATEST[field])
    if function is Function.COUNT and field in COUNTED:
        return replace(asked, function=Function.SUM, field=COUNTED[field])
    if function is Function.COUNT and field in FIELDS:
        held = (Condition(field, Op.EXISTS),)
        return replace(asked, function=Function.SUM, field="sample.count", where=held)
    if function is Function.DISTINCT and field in FIELDS:
        return asked
    return None
