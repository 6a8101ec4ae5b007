"""
Which run is meant by a job's id: ids are used again, by a requeue within minutes, by a counter that
wrapped around after years. What is not accounted yet is a run of its own all the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from leadline.errors import QuestionError
from leadline.formats import Document
from leadline.formats.times import format_time, parse_time
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Op, Plan
from leadline.store.scope import Scope

RUN_LIMIT = 100  # runs of one id that are told apart
LATELY = timedelta(days=7)  # a run is accounted by then
PART = re.compile(r"(?P<number>\d+)(?P<sign>[_+])(?P<part>\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    A run as it was accounted, and the time its samples lie in.
    """

    record: Document  # empty: not accounted
    begin: datetime | None
    until: datetime | None
    running: bool
    runs: tuple[str, ...]  # every accounted run of the id, the newest first


def run_of(store: Store, scope: Scope, job: str, now: datetime, named: str | None) -> Run:
    """
    The run NAMED, or the newest.
    """
    records = _records(store, scope, job)
    runs = tuple(str(known["job.run"]) for known in records if "job.run" in known)
    record = _chosen(records, job, named)
    start, end = moment(record, "job.start"), moment(record, "job.end")
    running = bool(record) and end is None and start is not None
    if named is None and end is not None:
        since = max(end, now - LATELY)
        if _begun(store, scope, job, since, now):
            return Run(record={}, begin=since, until=None, running=False, runs=runs)
    begin = start or moment(record, "job.submit")
    return Run(record=record, begin=begin, until=end, running=running, runs=runs)


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


def _begun(store: Store, scope: Scope, job: str, start: datetime, end: datetime) -> bool:
    """
    Whether processes were seen that are younger than START: what a run left behind is not.
    """
    where = (
        Condition("job.id", Op.IN, (job,)),
        Condition("process.start", Op.AT_LEAST, (format_time(start),)),
    )
    counted = (Aggregate("n", Function.COUNT),)
    return bool(store.ask(Plan("process", counted, (), where, start, end), scope)[0]["n"])


def moment(record: Document, name: str) -> datetime | None:
    value = record.get(name)
    return None if value is None else parse_time(str(value))


def own_id(store: Store, scope: Scope, job: str) -> str:
    """
    The id of `fox/110_2`, task 2 of array 110, and of `fox/130+1`, part 1 of a heterogeneous job:
    the scheduler counts and shows them so, and gives each a number of its own.
    """
    cluster, _, name = job.partition("/")
    part = PART.fullmatch(name)
    if part is None:
        return job
    where = [Condition("cluster", Op.IN, (cluster,))]
    if part["sign"] == "_":
        where.append(Condition("job.array.id", Op.IN, (part["number"],)))
        where.append(Condition("job.array.task", Op.IN, (part["part"],)))
    else:
        where.append(Condition("job.het.id", Op.IN, (part["number"],)))
        where.append(Condition("job.het.offset", Op.IN, (int(part["part"]),)))
    found = store.scan("job", scope, where=where, order=("-@timestamp",), limit=1)
    return next((str(known["job.id"]) for batch in found for known in batch), job)


def tasks_of(store: Store, scope: Scope, job: str) -> list[str]:
    """
    The jobs that are tasks of the array JOB, which is itself none where each has an id of its own.
    """
    cluster, _, number = job.partition("/")
    where = (
        Condition("cluster", Op.IN, (cluster,)),
        Condition("job.array.id", Op.IN, (number,)),
    )
    found = store.scan("job", scope, where=where, fields=("job.id",), limit=RUN_LIMIT)
    return sorted({str(known["job.id"]) for batch in found for known in batch})
