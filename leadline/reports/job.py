"""
What happened with a job: asked, used, when, where, in which programs. From samples alone, from
accounting alone, and better from both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from leadline.errors import NothingKnownError
from leadline.formats import Document
from leadline.reports.job_cards import Card
from leadline.reports.job_nodes import all_nodes
from leadline.reports.job_runs import moment, own_id, run_of, tasks_of
from leadline.reports.profile import Node, Profile, Seen, Share, profile
from leadline.store.contract import Store
from leadline.store.scope import Scope

ALIKE = 0.8  # samples that saw less of the CPU time accounted know no peak


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
    runs: tuple[str, ...] = field(default=())  # every accounted run of the id, the newest first
    covered: float | None = None  # share of its time, on all its nodes, that samples speak for
    agreed: float | None = None  # CPU time in samples of what was accounted, once it has ended

    @property
    def missing(self) -> int:
        """
        Intervals of the run without a sample, also before the first and after the last.
        """
        seen = self.profile
        looks = len(seen.memory) - seen.missing
        return max(seen.missing, int((self.wall or 0) / seen.interval) - looks - 1)

    @property
    def sources(self) -> tuple[str, ...]:
        found = ["accounting"] if self.record else []
        return (*found, "samples") if self.profile.samples else tuple(found)


def job_view(
    store: Store, scope: Scope, job: str, now: datetime, *, run: str | None = None
) -> JobView:
    """
    The newest run of JOB (`fox/1234567`, `fox/110_2`), or the RUN named.
    """
    job = own_id(store, scope, job)
    found = run_of(store, scope, job, now, run)
    record, running = found.record, found.running
    start, end = moment(record, "job.start"), moment(record, "job.end")
    seen = profile(store, scope, job, found.begin, found.until or (now if running else None))
    if not record and not seen.profile.samples:
        if tasks := tasks_of(store, scope, job):
            raise NothingKnownError(f"job {job}: an array; ask for a task of it, as {tasks[0]}")
        raise NothingKnownError(
            f"job {job}: neither sampled nor accounted; write CLUSTER/NUMBER, as in fox/1234567"
        )
    if not record:
        start, end = seen.profile.start, seen.profile.end
        running = end is not None and now - end < timedelta(seconds=2.5 * seen.profile.interval)
    wall = _wall(record, start, end, running, now)
    nodes = all_nodes(store, job, record, seen)
    covered, agreed = _covered(seen.profile, nodes, wall), None
    if not running and (used := number(record, "job.core_seconds.used")):
        agreed = ratio(seen.profile.core_seconds, used)
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
        cpu=_cpu(record, seen.profile, wall, running=running),
        memory=_memory(record, seen.profile),
        gpu=_gpu(record, seen),
        time=_time(record, wall),
        profile=seen.profile,
        cards=seen.cards,
        nodes=nodes,
        programs=seen.programs,
        runs=found.runs,
        covered=covered,
        agreed=agreed,
    )


def _covered(seen: Profile, nodes: Sequence[Node], wall: float | None) -> float | None:
    """
    What lies before the first look and after the last one is not held against them.
    """
    if not seen.samples or not wall:
        return None
    looked = sum(node.cores is not None for node in nodes) / len(nodes)
    return min(1.0, (seen.watched + seen.interval) / wall) * looked


def _cpu(record: Document, seen: Profile, wall: float | None, *, running: bool) -> Resource:
    """
    The mean comes from accounting when the run has ended, for it misses no short process; until
    then schedulers account nothing, or what ended steps used. A peak below the mean is none.
    """
    asked = _asked(record, "cores")
    used = None if running else number(record, "job.core_seconds.used")
    mean = used / wall if used is not None and wall else seen.mean(seen.cores)
    peak = seen.peak(seen.cores)
    if peak is not None and mean is not None:
        peak = None if peak < ALIKE * mean else max(peak, mean)
    return Resource(asked, peak, mean, ratio(mean, asked))


def _asked(record: Document, what: str) -> float | None:
    """
    What it was given, or, while it waits, what it asked for.
    """
    given = number(record, f"job.{what}")
    return number(record, f"job.asked.{what}") if given is None else given


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
    A card nobody opened is unused only if somebody looked; one of which nobody told how busy it
    was is not measured.
    """
    asked = _asked(record, "gpus")
    busy = seen.profile.mean(seen.profile.gpus)
    if not asked and not seen.cards and not busy:
        return Resource()
    used, mean = None, None
    if seen.cards:
        means = [card.mean for card in seen.cards if card.mean is not None]
        if len(means) == len(seen.cards):
            used, mean = float(sum(card.used for card in seen.cards)), sum(means)
    elif busy:  # told of processes, not by card
        mean, used = busy, 1.0 if asked == 1 else None
    elif busy is not None or seen.gpus_watched:
        used, mean = 0.0, 0.0
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
