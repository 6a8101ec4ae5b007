"""
Runs in a list: what each had and used, one row each.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from leadline.formats import Document
from leadline.formats.times import format_time, parse_time
from leadline.query import Period
from leadline.render import Column
from leadline.render.table import Value
from leadline.reports.job import number, ratio
from leadline.store.contract import Store
from leadline.store.plan import Condition, Op
from leadline.store.scope import Scope

COLUMNS = (
    Column("job", "Job"),
    Column("user", "User"),
    Column("partition", "Partition"),
    Column("state", "State"),
    Column("cores", "cores", ""),
    Column("gpus", "GPUs", ""),
    Column("wait", "wait", "seconds"),
    Column("run_time", "run time", "seconds"),
    Column("cpu", "CPU", "percent"),
    Column("memory", "memory", "percent"),
    Column("gpu", "GPU", "percent"),
    Column("core_hours", "core hours", "hours"),
    Column("end", "End"),
    Column("name", "Name"),
)


def job_rows(
    store: Store,
    scope: Scope,
    where: Sequence[Condition],
    period: Period | None,
    *,
    shortest: float = 0,
    limit: int = 50,
    now: datetime | None = None,
) -> list[dict[str, Value]]:
    """
    Runs that ended in PERIOD, or without one those that run, with their time until NOW; the newest
    first.
    """
    conditions = list(where)
    if period is None:
        conditions.append(Condition("job.end", Op.MISSING))
        conditions.append(Condition("job.start", Op.EXISTS))
    else:
        conditions.append(Condition("job.end", Op.EXISTS))
        if period.start is not None:
            conditions.append(Condition("job.end", Op.AT_LEAST, (format_time(period.start),)))
        if period.end is not None:
            conditions.append(Condition("job.end", Op.BELOW, (format_time(period.end),)))
    if shortest:
        conditions.append(Condition("job.wall.seconds", Op.AT_LEAST, (shortest,)))
    order = ("-job.start" if period is None else "-job.end", "job.run")
    batches = store.scan("job", scope, where=conditions, order=order, limit=limit)
    return [_row(document, now) for batch in batches for document in batch]


def _row(record: Document, now: datetime | None) -> dict[str, Value]:
    allocated = number(record, "job.core_seconds.allocated")
    used = number(record, "job.core_seconds.used") if "job.end" in record else None
    peak = number(record, "job.memory.peak.bytes")
    if record.get("job.memory.basis") == "virtual":
        peak = None
    return {
        "job": _text(record, "job.id"),
        "run": _text(record, "job.run"),
        "user": _text(record, "user.name"),
        "partition": _text(record, "partition"),
        "state": _text(record, "job.state"),
        "cores": _count(record, "job.cores"),
        "gpus": _count(record, "job.gpus"),
        "wait": number(record, "job.wait.seconds"),
        "run_time": _lasted(record, now),
        "cpu": _percent(used, allocated),  # while it runs schedulers say 0
        "memory": _percent(peak, number(record, "job.asked.memory.bytes")),
        "gpu": _percent(
            number(record, "job.gpu_seconds.busy"), number(record, "job.gpu_seconds.allocated")
        ),
        "core_hours": None if allocated is None else allocated / 3600,
        "start": _text(record, "job.start"),
        "end": _text(record, "job.end"),
        "name": _text(record, "job.name"),
    }


def _count(record: Document, name: str) -> float | None:
    """
    64 cores, not 64.0.
    """
    value = number(record, name)
    return int(value) if value is not None and value.is_integer() else value


def _lasted(record: Document, now: datetime | None) -> float | None:
    start = record.get("job.start")
    if now is None or start is None or "job.end" in record:
        return number(record, "job.wall.seconds")
    return (now - parse_time(str(start))).total_seconds()


def _percent(over: float | None, under: float | None) -> float | None:
    share = ratio(over, under)
    return None if share is None else 100 * share


def _text(record: Document, name: str) -> str | None:
    value = record.get(name)
    return None if value is None else str(value)
