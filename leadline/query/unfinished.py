"""
Hours of runs that have not ended: schedulers tell of hours when a run is over, so an answer about a
time in which runs are running says how much is still to come.

It is said and not counted: nobody told yet whether a run was suspended, or that it is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from leadline.formats.times import format_time, parse_time
from leadline.query.compile import Source, conditions_of
from leadline.query.dimensions import dimension
from leadline.query.measure import per_hour
from leadline.query.periods import Period
from leadline.query.question import Question
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import Scope

OLDEST = timedelta(days=60)  # what was submitted before and never ended was lost from sight
COUNT = Aggregate("n", Function.COUNT)
UNENDED = (Condition("job.start", Op.EXISTS), Condition("job.end", Op.MISSING))
GOING_ON = Condition("job.state", Op.IN, ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED"))
UNITS = {  # of which a run has how many at a time
    "core_seconds_allocated": ("core hours", "job.cores"),
    "gpu_seconds_allocated": ("GPU hours", "job.gpus"),
    "wall.seconds": ("hours", ""),
}
BY = (Group("job.start"), Group("job.cores"), Group("job.gpus"))


def still_running(
    question: Question,
    sources: Sequence[Source],
    period: Period,
    store: Store,
    scope: Scope,
    now: datetime,
) -> list[str]:
    """
    A note on runs that ran in the period, have not ended, and whose hours are not counted yet.
    """
    source = next((s for s in sources if s.plan.dataset == "job_slice"), None)
    end = min(period.end or now, now)
    if source is None or end <= now - OLDEST:
        return []
    plan = Plan("job", (COUNT,), (), UNENDED, now - OLDEST)
    if scope.totals_only:
        (row,) = store.ask(plan, scope)
        return ["runs that are still running are not counted yet"] if row["n"] else []
    before = Condition("job.start", Op.BELOW, (format_time(end),))
    filters = [f for f in question.where if not dimension(f.dimension).clock]
    known = [c for each in filters for c in conditions_of(each, plan, store, scope)]
    rows = store.ask(replace(plan, by=BY, where=(*UNENDED, before, *known)), scope)
    count = sum(int(row["n"] or 0) for row in rows)
    if not count:
        return []
    said = "1 run is" if count == 1 else f"{count:,} runs are"
    so_far = "hours so far are"
    if filters == [*question.where]:
        so_far = _hours(source, rows, period, store, scope, end) or so_far
    listed = "`leadline jobs --running` lists them"
    return [f"{said} still running: {so_far} not counted yet; {listed}"]


def _hours(
    source: Source, rows: Sequence[Row], period: Period, store: Store, scope: Scope, end: datetime
) -> str:
    """
    About how much the runs have had in the period, without what was told of them as they ran.
    """
    field = source.plan.aggregates[0].field
    if field not in UNITS:
        return ""
    unit, many = UNITS[field]
    seconds = 0.0
    for row in rows:
        begin = parse_time(str(row["job.start"]))
        begin = begin if period.start is None else max(begin, period.start)
        each = float(row[many] or 0) if many else 1.0
        seconds += int(row["n"] or 0) * each * (end - begin).total_seconds()
    told = replace(
        source.plan,
        aggregates=(Aggregate("told", Function.SUM, field),),
        where=(*source.plan.where, GOING_ON),
    )
    (row,) = store.ask(told, scope)
    hours = per_hour((max(0.0, seconds - float(row["told"] or 0)),)) or 0.0
    return f"about {hours:,.{0 if hours >= 9.95 else 1}f} {unit} are"
