"""
Whether samples and accounting tell the same: core hours of the same runs, measured twice.

They are two measures, and both are right: samples miss what lived between two looks, accounting
misses what no scheduler started. How far they are apart says how much of the truth is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from leadline.formats.counted import counted
from leadline.formats.times import parse_time
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import Scope

HOUR = 3600.0
SHORTEST = 300.0  # seconds of a run that should have been seen
SETTLED = timedelta(hours=6)  # after its last sample a run should be accounted
WORST = 10
BY = (Group("cluster"), Group("job.id"))
ENDED = (
    Condition("provisional", Op.NOT_IN, (True,)),
    Condition("job.core_seconds.used", Op.EXISTS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """
    One job of which samples and accounting tell different things, in core hours.
    """

    job: str
    sampled: float
    accounted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """
    Jobs whose runs began and ended within the time asked about, in core hours.
    """

    cluster: str
    jobs: int = 0  # told of by both
    sampled: float = 0.0
    accounted: float = 0.0
    unseen: int = 0  # accounted, long enough to be seen, and never sampled
    unseen_hours: float = 0.0
    unknown: int = 0  # sampled, over for hours, and not accounted
    unknown_hours: float = 0.0
    worst: tuple[Apart, ...] = ()

    @property
    def share(self) -> float | None:
        """
        Of the core hours accounted for these jobs, what samples saw; None: nothing to compare.
        """
        accounted = self.accounted + self.unseen_hours
        return self.sampled / accounted if accounted else None

    def __str__(self) -> str:
        return f"{self.cluster}: {self.told}."

    @property
    def told(self) -> str:
        if self.share is None:
            return "no run was both sampled and accounted"
        told = [
            f"samples saw {100 * self.share:.1f} % of the"
            f" {self.accounted + self.unseen_hours:,.1f} core hours accounted for"
            f" {counted(self.jobs + self.unseen, 'job')}"
        ]
        if self.unseen:
            told.append(
                f"never sampled: {counted(self.unseen, 'job')} ({self.unseen_hours:,.1f} h)"
            )
        if self.unknown:
            told.append(
                f"not accounted: {counted(self.unknown, 'job')} ({self.unknown_hours:,.1f} h)"
            )
        return "; ".join(told)


def agreement(store: Store, scope: Scope, start: datetime, end: datetime) -> list[Agreement]:
    """
    Both measures of each cluster's jobs from START to END; clusters with neither are left out.
    """
    sampled = _sampled(store, scope, start, end)
    accounted = _accounted(store, scope, start, end)
    known = _known(store, scope, [key for key in sampled if key not in accounted])
    clusters = sorted({cluster for cluster, _ in (*sampled, *accounted)})
    return [_of(cluster, sampled, accounted, known, end) for cluster in clusters]


Key = tuple[str, str]


def _of(
    cluster: str,
    sampled: dict[Key, tuple[float, datetime]],
    accounted: dict[Key, tuple[float, float]],
    known: set[Key],
    end: datetime,
) -> Agreement:
    both = [
        Apart(job=key[1], sampled=sampled[key][0] / HOUR, accounted=used / HOUR)
        for key, (used, _) in accounted.items()
        if key[0] == cluster and key in sampled
    ]
    unseen = [
        used / HOUR
        for key, (used, wall) in accounted.items()
        if key[0] == cluster and key not in sampled and wall >= SHORTEST
    ]
    unknown = [
        seconds / HOUR
        for key, (seconds, last) in sampled.items()
        if key[0] == cluster and key not in known and last < end - SETTLED
        if key not in accounted
    ]
    return Agreement(
        cluster=cluster,
        jobs=len(both),
        sampled=sum(one.sampled for one in both),
        accounted=sum(one.accounted for one in both),
        unseen=len(unseen),
        unseen_hours=sum(unseen),
        unknown=len(unknown),
        unknown_hours=sum(unknown),
        worst=tuple(sorted(both, key=lambda one: -abs(one.sampled - one.accounted))[:WORST]),
    )


def _sampled(
    store: Store, scope: Scope, start: datetime, end: datetime
) -> dict[Key, tuple[float, datetime]]:
    """
    Core seconds of schedulers' jobs, and when they were last seen; sessions are nobody's account.
    """
    sums = (
        Aggregate("used", Function.SUM, "core_seconds"),
        Aggregate("last", Function.MAX, "@timestamp"),
    )
    where = (Condition("job.id", Op.EXISTS),)
    rows = store.ask(Plan("process", sums, BY, where, start, end), scope)
    return {
        key: (_number(row["used"]), parse_time(str(row["last"])))
        for row in rows
        if (key := _key(row))[1].count("/") == 1
    }


def _accounted(
    store: Store, scope: Scope, start: datetime, end: datetime
) -> dict[Key, tuple[float, float]]:
    """
    Core seconds and wall seconds of jobs all of whose runs in the time lie within it.
    """
    sums = (
        Aggregate("used", Function.SUM, "job.core_seconds.used"),
        Aggregate("wall", Function.SUM, "job.wall.seconds"),
        Aggregate("began", Function.MIN, "job.start"),
    )
    rows = store.ask(Plan("job", sums, BY, ENDED, start, end, time="job.end"), scope)
    return {
        _key(row): (_number(row["used"]), _number(row["wall"]))
        for row in rows
        if row["began"] is not None and parse_time(str(row["began"])) >= start
    }


def _known(store: Store, scope: Scope, keys: Sequence[Key]) -> set[Key]:
    """
    Those of KEYS that any record tells of: they run still, or reach over an edge of the time.
    """
    if not keys:
        return set()
    where = (Condition("job.id", Op.IN, tuple(sorted({job for _, job in keys}))),)
    rows = store.ask(Plan("job", (Aggregate("n", Function.COUNT),), BY, where), scope)
    return {_key(row) for row in rows}


def _key(row: Row) -> Key:
    return str(row["cluster"]), str(row["job.id"])


def _number(value: object) -> float:
    return float(str(value or 0))
