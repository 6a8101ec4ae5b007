"""
What a finding is: something that should be looked at, with evidence, and what it costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from leadline.formats.times import parse_time
from leadline.reports.settings import FindingSettings
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import Scope

HOUR = 3600.0
FIRST = Aggregate("first", Function.MIN, "@timestamp")
LAST = Aggregate("last", Function.MAX, "@timestamp")
COUNT = Aggregate("n", Function.COUNT)
BY_HOUR = Group("@timestamp", Bucket.HOUR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    kind: str
    cluster: str
    object: str  # host, host/card, job id, or user on host
    user: str | None = None
    since: str | None = None
    until: str | None = None  # last seen
    evidence: str = ""  # figures in one sentence, no blame
    remedy: str = ""
    hours: float | None = None  # at stake: core hours, or GPU hours where unit says so
    unit: str = "core hours"
    share: float | None = None  # of 1: how much of what was allocated went unused
    severity: Literal["note", "red"] = "note"


@dataclass(frozen=True, slots=True)
class Case:
    """
    What a detector may look at.
    """

    store: Store
    scope: Scope
    start: datetime
    end: datetime
    now: datetime
    where: tuple[Condition, ...] = ()  # clusters asked about
    limits: FindingSettings = field(default_factory=FindingSettings)

    def ask(
        self,
        dataset: str,
        by: tuple[Group, ...],
        *aggregates: Aggregate,
        where: tuple[Condition, ...] = (),
    ) -> list[Row]:
        plan = Plan(dataset, aggregates, by, (*self.where, *where), self.start, self.end)
        return self.store.ask(plan, self.scope)


Detector = Callable[[Case], list[Finding]]


def groups(*names: str) -> tuple[Group, ...]:
    return tuple(Group(name) for name in names)


def total(name: str, field_name: str, *where: Condition) -> Aggregate:
    return Aggregate(name, Function.SUM, field_name, where=where)


def greatest(name: str, field_name: str) -> Aggregate:
    return Aggregate(name, Function.MAX, field_name)


def text(row: Row, name: str) -> str | None:
    value = row[name]
    return None if value is None else str(value)


def amount(row: Row, name: str) -> float:
    value = row[name]
    return float(value) if isinstance(value, int | float) else 0.0


def doings(case: Case) -> list[Row]:
    """
    What each user did on each node, hour by hour: core seconds, those outside any job, and how
    many samples belong to a job. Asked alike by all, so that it is asked once.
    """
    by = (*groups("cluster", "host.name", "user.name"), BY_HOUR)
    outside = total("alone", "core_seconds", Condition("job.id", Op.MISSING))
    in_jobs = Aggregate("in_jobs", Function.COUNT, "job.id")
    return case.ask("process", by, total("cpu", "core_seconds"), outside, in_jobs)


def seconds_between(first: object, last: object) -> float:
    return (parse_time(str(last)) - parse_time(str(first))).total_seconds()
