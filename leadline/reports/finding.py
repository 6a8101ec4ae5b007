"""
What a finding is: something that should be looked at, with evidence, and what it costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from leadline.formats.times import parse_time
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Plan, Row
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
    severity: Literal["note", "red"] = "note"


@dataclass(frozen=True, slots=True)
class Limits:
    """
    When something is worth a word. Shares are of 1.
    """

    hog_share: float = 0.4  # of a node's cores, outside any job
    busy_share: float = 0.5  # a node below this is not busy: nobody hogs there
    hog_hours: int = 1
    stray_core_hours: float = 0.01
    stray_seconds: float = 0.5 * HOUR  # seen for so long, whatever it used
    dead_seconds: float = 2 * HOUR  # without CPU
    dead_memory: float = 2**30
    gpu_job_seconds: float = 2 * HOUR
    gpu_peak_percent: float = 25.0
    waste_share: float = 0.65
    waste_core_hours: float = 100.0
    late_seconds: float = 300.0  # past the limit
    silent_seconds: float = 900.0
    sparse_share: float = 0.8
    short_seconds: float = 60.0
    short_jobs: int = 500
    short_core_hours: float = 1.0


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
    limits: Limits = field(default_factory=Limits)

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


def seconds_between(first: object, last: object) -> float:
    return (parse_time(str(last)) - parse_time(str(first))).total_seconds()
