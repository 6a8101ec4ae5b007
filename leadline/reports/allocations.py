"""
Allocations: of what was granted, what is used, what is left, and where it will end.

The burn rate is the mean of the last days (`allocations.recent_days`), of fewer when the grant is
younger; the projection goes on at that rate to the grant's end. Figures come from `ask`, like all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Literal

from leadline.formats.times import format_time
from leadline.query import Answer, Question, ask, measure
from leadline.query.periods import first_of, midnight, move
from leadline.render import Column
from leadline.render.table import Value
from leadline.reports.grants import Grant
from leadline.reports.settings import AllocationSettings
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Op, Plan
from leadline.store.scope import EVERYTHING, Scope

Verdict = Literal[
    "not begun", "not measured", "used up", "over", "will run out", "behind", "on course"
]
DAY = 86400.0
DEFAULT = AllocationSettings()
SPENT: tuple[Verdict, ...] = ("used up", "will run out")

COLUMNS = (
    Column("project", "Project"),
    Column("cluster", "Cluster"),
    Column("partition", "Partition"),
    Column("gpu_model", "GPU model"),
    Column("resource", "Hours of"),
    Column("period", "Period"),
    Column("granted", "granted", "hours"),
    Column("used", "used", "hours"),
    Column("share", "used", "percent", bars=True),
    Column("elapsed", "time gone", "percent"),
    Column("left", "left", "hours"),
    Column("burn", "a day now", "hours"),
    Column("pace", "a day to use it", "hours"),
    Column("projected", "at the end", "hours"),
    Column("verdict", "Verdict", answer=True),
    Column("runs_out", "Used up"),
)
NARROW = ("partition", "gpu_model")
RATES = ("elapsed", "burn", "pace", "projected")


def columns(told: Sequence[Mapping[str, Value]]) -> tuple[Column, ...]:
    """
    What a table of TOLD needs: where a grant holds, only where one is narrower than its cluster,
    and nothing that `alike` says once. What is left and until when comes before the rates.
    """
    empty = {name for name in NARROW if not any(row[name] for row in told)}
    shown = [c for c in COLUMNS if c.name not in empty | alike(told).keys()]
    return tuple(sorted(shown, key=lambda column: column.name in RATES))


def alike(told: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """
    The cluster and the period that grants have in common.
    """
    values = {name: {row[name] for row in told} for name in ("cluster", "period")}
    return {
        name: same.pop() for name, same in values.items() if len(same) == 1 and None not in same
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """
    A grant and its use. None is not measured, or nothing to tell yet; hours throughout.
    """

    grant: Grant
    elapsed: float  # share of the grant's time that is over, 0 to 1
    used: float | None
    burn: float | None = None  # hours a day, lately
    pace: float | None = None  # hours a day that would use exactly what is left
    projected: float | None = None  # used at the end of the grant, at that burn rate
    runs_out: datetime | None = None  # when it was or will be used up, within the grant's time
    verdict: Verdict
    by_day: tuple[tuple[str, float], ...] = ()  # hours used until the end of each day

    @property
    def left(self) -> float | None:
        return None if self.used is None else self.grant.hours - self.used

    @property
    def share(self) -> float | None:
        return None if self.used is None else self.used / self.grant.hours

    @property
    def alarming(self) -> bool:
        """
        Somebody must act: not where its time is over anyway.
        """
        return self.verdict in SPENT and self.elapsed < 1


def allocations(
    store: Store,
    scope: Scope,
    grants: Sequence[Grant],
    now: datetime,
    settings: AllocationSettings = DEFAULT,
) -> tuple[Allocation, ...]:
    """
    Each grant with its use until NOW, in the order given.
    """
    answers: dict[tuple[object, ...], Answer] = {}
    kept: dict[tuple[str, str | None], bool] = {}
    found = []
    for grant in grants:
        key = (grant.places, grant.start, grant.end, grant.measure)
        if grant.start < now and key not in answers:
            answers[key] = ask(_question(grant), store, scope, now, zone=grant.period.zone)
        whose = (grant.measure, grant.cluster)
        if whose not in kept:
            kept[whose] = _kept(store, grant)
        known = key in answers and kept[whose]
        days = _by_day(grant, answers[key], now) if known else None
        found.append(_allocation(grant, days, now, settings))
    return tuple(found)


def _question(grant: Grant) -> Question:
    period = f"{format_time(grant.start)}..{format_time(grant.end)}"
    return Question((grant.measure,), ("project",), grant.places, period, "day")


def _kept(store: Store, grant: Grant) -> bool:
    """
    Whether anything at all tells of what is granted: without, none used is not 0.
    """
    asked = measure(grant.measure)
    counted = Aggregate("n", Function.COUNT, asked.parts[0].field)
    where = (Condition("cluster", Op.IN, (grant.cluster,)),) if grant.cluster else ()
    (row,) = store.ask(Plan(asked.dataset, (counted,), where=where), EVERYTHING)
    return bool(row["n"])


def _by_day(grant: Grant, answer: Answer, now: datetime) -> dict[str, float]:
    """
    Hours by day of the grant's project, or of all, on the days that had begun by NOW.
    """
    last = (now - timedelta(microseconds=1)).astimezone(grant.period.zone).date().isoformat()
    days: dict[str, float] = {}
    for row in answer.rows:
        hours = row[grant.measure]
        if hours is None or not row["day"] or str(row["day"]) > last:
            continue
        if grant.project in (None, row["project"]):
            days[str(row["day"])] = days.get(str(row["day"]), 0.0) + float(hours)
    return dict(sorted(days.items()))


def _allocation(
    grant: Grant, days: Mapping[str, float] | None, now: datetime, settings: AllocationSettings
) -> Allocation:
    length = (grant.end - grant.start).total_seconds()
    gone = min(max((now - grant.start).total_seconds(), 0.0), length)
    elapsed = gone / length
    if not gone:
        return Allocation(
            grant=grant,
            elapsed=0.0,
            used=0.0,
            pace=grant.hours / (length / DAY),
            verdict="not begun",
        )
    if days is None:
        return Allocation(grant=grant, elapsed=elapsed, used=None, verdict="not measured")
    by_day = tuple(zip(days, accumulate(days.values()), strict=True))
    used = by_day[-1][1] if by_day else 0.0  # rounded as the days are: it was used up on one
    rest = (length - gone) / DAY
    burn = _burn(days, grant, now, settings.recent_days) if rest else None
    projected = used + burn * rest if burn is not None else used
    return Allocation(
        grant=grant,
        elapsed=elapsed,
        used=used,
        burn=burn,
        pace=max(0.0, grant.hours - used) / rest if rest else None,
        projected=projected,
        runs_out=_runs_out(grant, by_day, used, burn, now),
        verdict=_verdict(grant, used, projected, bool(rest), settings),
        by_day=by_day,
    )


def _burn(days: Mapping[str, float], grant: Grant, now: datetime, recent: float) -> float:
    """
    Hours a day over the last days: whole days and as much of today as is over.
    """
    begin = max(grant.start, now - timedelta(days=recent))
    first = begin.astimezone(grant.period.zone).date()
    since = max(grant.start, midnight(first, grant.period.zone))
    used = sum(hours for day, hours in days.items() if day >= first.isoformat())
    return used / ((now - since).total_seconds() / DAY)


def _runs_out(
    grant: Grant,
    by_day: Sequence[tuple[str, float]],
    used: float,
    burn: float | None,
    now: datetime,
) -> datetime | None:
    if used >= grant.hours:
        day = next(day for day, hours in by_day if hours >= grant.hours)
        return midnight(datetime.fromisoformat(day).date(), grant.period.zone)
    if not burn:
        return None
    days = (grant.hours - used) / burn
    if days * DAY > (grant.end - now).total_seconds():
        return None
    return now + timedelta(days=days)


def _verdict(
    grant: Grant, used: float, projected: float, running: bool, settings: AllocationSettings
) -> Verdict:
    if used >= grant.hours:
        return "used up"
    if not running:
        return "over"
    if projected > grant.hours:
        return "will run out"
    return "behind" if projected < settings.behind * grant.hours else "on course"


def rows(found: Sequence[Allocation]) -> list[dict[str, Value]]:
    """
    One row a grant, for tables and scripts.
    """
    return [
        {
            "project": known.grant.project,
            "cluster": known.grant.cluster,
            "partition": known.grant.partition,
            "gpu_model": known.grant.gpu_model,
            "resource": "cores" if known.grant.resource == "core" else "GPUs",
            "period": known.grant.period.text,
            "from": format_time(known.grant.start),
            "to": format_time(known.grant.end),
            "charge": known.grant.charge,
            "granted": known.grant.hours,
            "used": known.used,
            "share": None if known.share is None else 100 * known.share,
            "elapsed": 100 * known.elapsed,
            "left": known.left,
            "burn": known.burn,
            "pace": known.pace,
            "projected": known.projected,
            "verdict": known.verdict,
            "runs_out": None if known.runs_out is None else _day(known),
            "note": known.grant.note or None,
        }
        for known in found
    ]


def _day(known: Allocation) -> str:
    assert known.runs_out is not None
    return known.runs_out.astimezone(known.grant.period.zone).date().isoformat()


@dataclass(frozen=True, slots=True)
class Threshold:
    """
    A line in a chart: so much of the first measure was granted.
    """

    label: str
    value: float
    by_time: tuple[tuple[str, float], ...] = ()  # with a time bucket: bucket by bucket


def thresholds(answer: Answer, grants: Sequence[Grant]) -> tuple[Threshold, ...]:
    """
    What was granted for what ANSWER shows, spread evenly over the time of each grant: nothing when
    its first measure is not what grants are charged by, or the period has no ends.
    """
    question, period = answer.question, answer.period
    if period.start is None or period.end is None:
        return ()
    fits = [g for g in grants if g.measure == question.measures[0] and _asked(g, question)]
    fits = [g for g in fits if g.start < period.end and g.end > period.start]
    if not fits:
        return ()
    whole = sum(_within(grant, period.start, period.end) for grant in fits)
    by_time: tuple[tuple[str, float], ...] = ()
    if question.bucket not in (None, "hour"):
        buckets = _buckets(answer)
        by_time = tuple(
            (label, sum(_within(grant, start, end) for grant in fits))
            for label, start, end in buckets
        )
    names = sorted({grant.project or grant.cluster or "granted" for grant in fits})
    return (Threshold(f"granted: {', '.join(names[:3])}", whole, by_time),)


def _asked(grant: Grant, question: Question) -> bool:
    """
    Whether filters of the question let the grant's project and places through, none narrows what is
    counted further, and a grant of one project, partition or model is asked for by its name.
    """
    whose = {
        "project": grant.project,
        "cluster": grant.cluster,
        "partition": grant.partition,
        "gpu_model": grant.gpu_model,
    }
    named = set()
    for known in question.where:
        if known.negated or whose.get(known.dimension) not in (set(known.values) - {None}):
            return False
        named.add(known.dimension)
    return all(name in named or name == "cluster" for name, value in whose.items() if value)


def _within(grant: Grant, start: datetime, end: datetime) -> float:
    common = (min(end, grant.end) - max(start, grant.start)).total_seconds()
    return grant.hours * max(0.0, common) / (grant.end - grant.start).total_seconds()


def _buckets(answer: Answer) -> Iterator[tuple[str, datetime, datetime]]:
    period, unit = answer.period, str(answer.question.bucket)
    assert period.start is not None
    assert period.end is not None
    start = period.start
    while start < period.end:
        day = first_of(start.astimezone(period.zone).date(), unit)
        after = midnight(move(day, unit, 1), period.zone)
        yield day.isoformat(), start, min(after, period.end)
        start = after
