"""
Runs, projects and partitions of samples that came before the scheduler's word, or through a worker
that had not heard it: looked up when their hour is closed, and for a week again while unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta

from leadline.formats import Document
from leadline.formats.times import parse_time
from leadline.query.rollups import HELD, HOUR
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING

AGAIN = timedelta(days=7)
OLDEST = timedelta(days=60)  # a job may have waited and run for so long
AT_ONCE = 500  # jobs of one question
TOLD = ("job.run", "project", "partition")
NO_RUN = (Condition("job.id", Op.EXISTS), Condition("job.run", Op.MISSING))

Unit = tuple[str, str, str]  # cluster, host, hour
Runs = dict[str, list[Document]]  # by job, the latest first


def with_runs(store: Store, rows: Iterable[Row], start: datetime, end: datetime) -> Iterator[Row]:
    """
    ROWS of hours, those of a job without a run with the one it was of, where it is known.
    """
    rows = list(rows)
    runs = _runs(store, {str(row["job.id"]) for row in rows if _lacks_run(row)}, start, end)
    for row in rows:
        yield row | _told(row, runs) if _lacks_run(row) else row


def known_now(store: Store, now: datetime) -> set[Unit]:
    """
    Hours in usage of jobs that had no run then and have one by now.
    """
    by = (Group("cluster"), Group("host.name"), Group("@timestamp", Bucket.HOUR), Group("job.id"))
    count = (Aggregate("n", Function.COUNT),)
    plan = Plan("usage", count, by, (*NO_RUN, HELD), now - AGAIN, now)
    rows = [row for row in store.ask(plan, EVERYTHING) if _is_scheduled(str(row["job.id"]))]
    runs = _runs(store, {str(row["job.id"]) for row in rows}, now - AGAIN, now)
    return {
        (str(row["cluster"]), str(row["host.name"]), str(row["@timestamp"]))
        for row in rows
        if _told(row, runs)
    }


def _lacks_run(row: Row) -> bool:
    job = row["job.id"]
    return job is not None and row["job.run"] is None and _is_scheduled(str(job))


def _is_scheduled(job: str) -> bool:
    """
    fox/17, not fox/n1/<session>: a session is no scheduler's.
    """
    return job.count("/") == 1


def _told(row: Row, runs: Runs) -> Row:
    """
    Of the latest run submitted before the hour was over.
    """
    until = parse_time(str(row["@timestamp"])) + HOUR
    for run in runs.get(str(row["job.id"]), ()):
        if parse_time(str(run["job.submit"])) < until:
            return {n: str(run[n]) for n in TOLD if run.get(n) is not None and row.get(n) is None}
    return {}


def _runs(store: Store, jobs: Collection[str], start: datetime, end: datetime) -> Runs:
    found: Runs = {}
    names, ordered = ("job.id", "job.submit", *TOLD), sorted(jobs)
    for first in range(0, len(ordered), AT_ONCE):
        some = Condition("job.id", Op.IN, tuple(ordered[first : first + AT_ONCE]))
        submitted = Condition("job.submit", Op.EXISTS)
        batches = store.scan(
            "job",
            EVERYTHING,
            where=(some, submitted),
            start=start - OLDEST,
            end=end,
            fields=names,
            order=("-job.submit",),
        )
        for batch in batches:
            for run in batch:
                found.setdefault(str(run["job.id"]), []).append(run)
    return found
