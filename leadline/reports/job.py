"""
What happened with a job: asked, used, when, where, in which programs. From samples alone, from
accounting alone, and better from both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from leadline.errors import QuestionError
from leadline.formats import Document
from leadline.formats.times import parse_time
from leadline.reports.profile import Card, Node, Profile, Seen, Share, profile
from leadline.store.contract import Store
from leadline.store.plan import Condition, Op
from leadline.store.scope import Scope

RUN_LIMIT = 100  # runs of one id that are told apart


@dataclass(frozen=True, slots=True)
class Resource:
    """
    One thing a job asks for; None is not measured, or not told.
    """

    asked: float | None = None
    peak: float | None = None
    mean: float | None = None
    share: float | None = None  # used of asked, 0–1: mean for CPU and GPU, peak for memory

    @property
    def known(self) -> bool:
        return any(v is not None for v in (self.asked, self.peak, self.mean))


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    job: str
    run: str | None
    record: Document  # the accounting record, empty when there is none
    user: str | None
    state: str | None
    start: datetime | None
    end: datetime | None
    running: bool
    wall: float | None  # seconds so far
    cpu: Resource
    memory: Resource
    gpu: Resource
    time: Resource
    profile: Profile
    cards: tuple[Card, ...]
    nodes: tuple[Node, ...]
    programs: tuple[Share, ...]
    runs: tuple[str, ...] = field(default=())  # every run of the id, the newest first

    @property
    def sources(self) -> tuple[str, ...]:
        found = ["accounting"] if self.record else []
        return (*found, "samples") if self.profile.samples else tuple(found)


def job_view(
    store: Store, scope: Scope, job: str, now: datetime, *, run: str | None = None
) -> JobView:
    """
    The newest run of JOB (`fox/1234567`), or the RUN named.
    """
    records = _records(store, scope, job)
    record = _chosen(records, job, run)
    start, end = _moment(record, "job.start"), _moment(record, "job.end")
    running = bool(record) and end is None and start is not None
    where = (Condition("job.id", Op.IN, (job,)),)
    seen = profile(store, scope, where, start, end or (now if running else None))
    if not record and not seen.profile.samples:
        raise QuestionError(
            f"job {job}: neither sampled nor accounted; write CLUSTER/NUMBER, as in fox/1234567"
        )
    if not record:
        start, end = seen.profile.start, seen.profile.end
        running = end is not None and now - end < timedelta(seconds=2.5 * seen.profile.interval)
    wall = _wall(record, start, end, running, now)
    return JobView(
        job=job,
        run=_text(record, "job.run"),
        record=record,
        user=_text(record, "user.name") or seen.user,
        state="RUNNING" if running else _text(record, "job.state"),
        start=start,
        end=None if running else end,
        running=running,
        wall=wall,
        cpu=_cpu(record, seen.profile, wall),
        memory=_memory(record, seen.profile),
        gpu=_gpu(record, seen),
        time=_time(record, wall),
        profile=seen.profile,
        cards=seen.cards,
        nodes=seen.nodes,
        programs=seen.programs,
        runs=tuple(str(known["job.run"]) for known in records if "job.run" in known),
    )


def _records(store: Store, scope: Scope, job: str) -> list[Document]:
    where = (Condition("job.id", Op.IN, (job,)),)
    batches = store.scan("job", scope, where=where, order=("-@timestamp",), limit=RUN_LIMIT)
    return [document for batch in batches for document in batch]


def _chosen(records: Sequence[Document], job: str, run: str | None) -> Document:
    if run is None:
        return records[0] if records else {}
    for record in records:
        if record.get("job.run") == run:
            return record
    raise QuestionError(f"job {job} has no run {run}; leave --run out for the newest")


def _cpu(record: Document, seen: Profile, wall: float | None) -> Resource:
    """
    The mean comes from accounting when the run has ended, for it misses no short process.
    """
    asked = number(record, "job.cores")
    used = number(record, "job.core_seconds.used")
    mean = used / wall if used is not None and wall else seen.mean(seen.cores)
    return Resource(asked, seen.peak(seen.cores), mean, ratio(mean, asked))


def _memory(record: Document, seen: Profile) -> Resource:
    asked = number(record, "job.asked.memory.bytes")
    peak = number(record, "job.memory.peak.bytes")
    if record.get("job.memory.basis") == "virtual":
        peak = None
    peaks = [value for value in (peak, seen.peak(seen.memory)) if value is not None]
    highest = max(peaks, default=None)
    return Resource(asked, highest, seen.mean(seen.memory), ratio(highest, asked))


def _gpu(record: Document, seen: Seen) -> Resource:
    """
    A card nobody opened is unused only if somebody looked.
    """
    asked = number(record, "job.gpus")
    if not asked and not seen.cards:
        return Resource()
    used, mean = None, None
    if seen.cards or seen.gpus_watched:
        used = float(sum(card.used for card in seen.cards))
        mean = sum(card.mean or 0.0 for card in seen.cards)
    return Resource(asked or None, used, mean, ratio(mean, asked or used))


def _time(record: Document, wall: float | None) -> Resource:
    asked = number(record, "job.limit.seconds")
    return Resource(asked, wall, None, ratio(wall, asked))


def _wall(
    record: Document, start: datetime | None, end: datetime | None, running: bool, now: datetime
) -> float | None:
    wall = number(record, "job.wall.seconds")
    if wall is not None and not running:
        return wall
    until = now if running else end
    return (until - start).total_seconds() if until and start else None


def number(record: Document, name: str) -> float | None:
    value = record.get(name)
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None


def ratio(over: float | None, under: float | None) -> float | None:
    return None if over is None or not under else over / under


def _text(record: Document, name: str) -> str | None:
    value = record.get(name)
    return None if value is None else str(value)


def _moment(record: Document, name: str) -> datetime | None:
    value = record.get(name)
    return None if value is None else parse_time(str(value))
