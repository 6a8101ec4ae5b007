"""
Processes as Sonar saw them, with what each used since the snapshot before: it writes totals.

A document stands at its snapshot's own time, not amid the interval, so that the same record has
the same key whichever files were read before it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.times import from_epoch, parse_time

LONGEST = 3600.0  # seconds; snapshots further apart do not speak for the time between them


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    index: int
    uuid: str
    percent: float
    memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    time: str
    host: str
    user: str
    command: str
    pid: int | None
    parent: int | None = None
    job: int = 0  # 0: none
    epoch: int = 0  # 0: the job is the scheduler's
    average: float  # percent of a core over the process's life
    now: float | None = None  # percent of a core at the snapshot
    cpu_time: float | None = None  # seconds so far, ended children included
    resident: int | None = None
    virtual: int | None = None
    read: int | None = None  # bytes so far
    written: int | None = None
    merged: int = 0  # others in this record
    threads: int | None = None
    container: bool = False
    cards: int | None = None
    gpu_percent: float | None = None
    gpu_memory: int | None = None
    per_card: tuple[Card, ...] = ()
    project: str | None = None


@dataclass(slots=True)
class Samples:
    """
    What was last seen of each host and process.
    """

    _hosts: dict[str, tuple[float, float]] = field(default_factory=dict)
    _totals: dict[tuple[object, ...], tuple[float, tuple[float | None, ...]]] = field(
        default_factory=dict
    )

    def span(self, host: str, taken: float) -> float:
        """
        Seconds since HOST's snapshot before; 0 where it does not speak for them.
        """
        last, span = self._hosts.get(host, (taken, 0.0))
        if taken != last:
            span = taken - last if 0 < taken - last <= LONGEST else 0.0
            self._hosts[host] = (taken, span)
        elif host not in self._hosts:
            self._hosts[host] = (taken, 0.0)
        return span

    def since(
        self, key: tuple[object, ...], taken: float, span: float, now: tuple[float | None, ...]
    ) -> tuple[float | None, ...]:
        """
        How much each total grew since the snapshot before; None where it fell or is not known.
        """
        before, totals = self._totals.get(key, (0.0, ()))
        self._totals[key] = (taken, now)
        if not span or abs(before - (taken - span)) > 1 or len(totals) != len(now):
            return (None,) * len(now)
        grown = (
            None if a is None or b is None else b - a for a, b in zip(totals, now, strict=True)
        )
        return tuple(None if value is None or value < 0 else value for value in grown)

    def process(self, sample: Sample) -> Iterator[Document]:
        taken = parse_time(sample.time).timestamp()
        host = short(sample.host)
        span = self.span(host, taken)
        if sample.command == "_heartbeat_":
            yield {"dataset": "node", **stamp(taken, host, span)}
            return
        kin = f"{sample.user}\t{sample.job}\t{sample.epoch}\t{sample.command}"
        if not sample.pid and sample.parent:
            kin = f"{kin}\t{sample.parent}"  # like ones of another parent are another roll-up
        digest = hashlib.blake2b(kin.encode("utf-8", "replace"), digest_size=8).hexdigest()
        entity = f"{sample.pid or 'rolled'}-{digest}"
        totals = (sample.cpu_time, sample.read, sample.written)
        used, read, written = self.since((host, entity), taken, span, totals)
        common = {**stamp(taken, host, span), **_who(sample), "process.entity_id": entity}
        seconds = _seconds(sample, span, used)
        yield {
            "dataset": "process",
            **common,
            "process.parent.pid": sample.parent or None,
            "process.count": sample.merged + 1 if sample.merged else None,
            "rolled_up": True if sample.merged else None,
            "process.thread.count": sample.threads,
            "core_seconds": seconds,
            "cpu.percent": _percent(sample, span, seconds),
            "memory.rss.bytes": sample.resident,
            "memory.virtual.bytes": sample.virtual,
            "io.read.bytes": read,
            "io.write.bytes": written,
            "container": "unknown" if sample.container else None,
            **_gpu(sample, span),
        }
        for card in sample.per_card:
            yield {
                "dataset": "process_gpu",
                **common,
                "gpu.uuid": card.uuid or f"{host}/{card.index}",
                "gpu.index": card.index,
                "gpu.percent": card.percent,
                "gpu_seconds": card.percent / 100 * span if span else None,
                "gpu.memory.bytes": card.memory,
            }


def short(host: str) -> str:
    """
    A host by its own name: files of one node have it with and without its domain.
    """
    name = host.strip().lower().partition(".")[0]
    if not name:
        raise FormatError("host: missing")
    return name


def stamp(taken: float, host: str, span: float) -> Document:
    written = from_epoch(taken)
    return {
        "@timestamp": written,
        "sample.time": written,
        "host.name": host,
        "interval.seconds": span or None,
    }


def number(name: str, value: object) -> float:
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise FormatError(f"{name}: {str(value)[:40]!r} is not a number") from None
    if isinstance(value, bool) or not math.isfinite(found) or not 0 <= found < 2**62:
        raise FormatError(f"{name}: {str(value)[:40]!r} is out of range")
    return found


def _who(sample: Sample) -> Document:
    session = f"{sample.epoch}-{sample.job}"
    return {
        "user.name": sample.user or None,
        "process.name": sample.command or None,
        "process.pid": sample.pid or None,
        "project": sample.project,
        "boot.id": str(sample.epoch) if sample.epoch else None,
        "job.local_id": (session if sample.epoch else str(sample.job)) if sample.job else None,
    }


def _seconds(sample: Sample, span: float, used: float | None) -> float | None:
    """
    CPU time since the snapshot before. More than the threads could use is that of children that
    ended, counted as theirs already; then, and at first sight, the average of its life speaks.
    """
    if not span:
        return None
    most = (sample.threads + sample.merged) * span * 1.05 + 1 if sample.threads else math.inf
    if used is not None and used <= most:
        return used
    fallen = sample.average / 100 * span
    return fallen if sample.cpu_time is None else min(fallen, sample.cpu_time)


def _percent(sample: Sample, span: float, seconds: float | None) -> float:
    if seconds is not None and span:
        return seconds / span * 100
    return sample.average if sample.now is None else sample.now


def _gpu(sample: Sample, span: float) -> Document:
    cards = len(sample.per_card) or sample.cards
    percent = sum(c.percent for c in sample.per_card) if sample.per_card else sample.gpu_percent
    memory = sum(c.memory for c in sample.per_card) if sample.per_card else sample.gpu_memory
    if not cards:
        return {}
    return {
        "gpu.count": cards,
        "gpu_seconds": (percent or 0) / 100 * span if span else None,
        "gpu_held_seconds": cards * span if span else None,
        "gpu.memory.bytes": memory,
    }
