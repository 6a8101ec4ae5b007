"""
Why jobs wait: the time each reason held, by partition and QOS, and over time.

A reason holds from the state that gave it to the next state of the run. Times are those within
the period; a run that waits is told anew each day, so one that is not told any more has gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from leadline.formats import Document
from leadline.formats.times import from_epoch, parse_time
from leadline.render import Column
from leadline.reports.nodes import BEFORE
from leadline.reports.timeline import TOLD
from leadline.store.contract import Store
from leadline.store.plan import Condition
from leadline.store.scope import Scope

FIELDS = (
    *("@timestamp", "cluster", "partition", "qos", "job.run", "state.name", "state.reason"),
    *("snapshot", "job.id", "user.name", "job.priority", "job.cores", "job.gpus", "job.submit"),
)
BY = ("cluster", "partition", "qos", "reason")
HELD = (
    Column("mean_seconds", "Mean wait", "seconds"),
    Column("median_seconds", "Median wait", "seconds"),
)
WAITING = (
    Column("reason", "Reason"),
    Column("jobs", "Jobs", ""),
    *HELD,
    Column("max_seconds", "Longest", "seconds"),
    Column("hours", "Hours waited", "hours"),
    Column("times", "Times given", ""),
    Column("partition", "Partition"),
    Column("qos", "QOS"),
    Column("cluster", "Cluster"),
)
NOW = (
    Column("job", "Job"),
    Column("user", "User"),
    Column("priority", "Priority", ""),
    Column("partition", "Partition"),
    Column("qos", "QOS"),
    Column("seconds", "Waits", "seconds"),
    Column("cores", "Cores", ""),
    Column("gpus", "GPUs", ""),
    Column("reason", "Reason"),
)
OVER_TIME = (
    Column("time", "From"),
    Column("reason", "Reason"),
    Column("waiting", "Jobs waiting, mean", "ratio", bars=True),
    Column("jobs", "Jobs", ""),
    *HELD,
)


@dataclass(slots=True)
class Wait:
    """
    A run that waits for one reason, Unix seconds.
    """

    cluster: str
    partition: str
    qos: str
    reason: str
    run: str
    start: float
    end: float
    given: bool  # the reason was given in the period, not before it

    @property
    def seconds(self) -> float:
        return self.end - self.start


def waiting_now(
    store: Store, scope: Scope, now: datetime, where: Sequence[Condition] = ()
) -> list[dict[str, Any]]:
    """
    Jobs that wait at this moment, the highest priority first.
    """
    last: dict[str, Document] = {}
    for document in _states(store, scope, now, now, where):
        known = last.get(str(document["job.run"]))
        same = known is not None and known["@timestamp"] == document["@timestamp"]
        if not (same and document["state.name"] == "PENDING"):
            last[str(document["job.run"])] = document
    rows = [
        {
            "job": document.get("job.id"),
            "user": document.get("user.name"),
            "priority": document.get("job.priority"),
            "partition": document.get("partition"),
            "qos": document.get("qos"),
            "reason": document.get("state.reason"),
            "cores": document.get("job.cores"),
            "gpus": document.get("job.gpus"),
            "submit": document.get("job.submit"),
            "seconds": _since(document.get("job.submit"), now),
        }
        for document in last.values()
        if document["state.name"] == "PENDING"
    ]
    return sorted(rows, key=lambda row: (-(row["priority"] or 0), str(row["submit"])))


def _since(moment: object, now: datetime) -> float | None:
    return None if moment is None else (now - parse_time(str(moment))).total_seconds()


def waits(
    store: Store, scope: Scope, start: datetime, end: datetime, where: Sequence[Condition] = ()
) -> list[Wait]:
    """
    All waiting from START to END of runs that match WHERE.
    """
    first, last = start.timestamp(), end.timestamp()
    found: list[Wait] = []
    pending: dict[str, Wait] = {}
    over: dict[str, float] = {}  # runs that wait no more, and since when
    for document in _states(store, scope, start, end, where):
        run = str(document["job.run"])
        moment = parse_time(str(document["@timestamp"])).timestamp()
        reason = _reason(document)
        open_ = pending.get(run)
        if document["state.name"] != "PENDING":
            over[run] = moment
        elif over.get(run) == moment:
            continue  # told in the same second: it went on from there
        if open_ is not None and (document["state.name"] != "PENDING" or open_.reason != reason):
            open_.end = moment
            found.append(pending.pop(run))
        elif open_ is not None:
            open_.end = moment + TOLD
            continue
        if document["state.name"] == "PENDING":
            pending[run] = _wait(document, reason, moment, moment >= first)
    found += pending.values()
    return [one for one in (_within(wait, first, last) for wait in found) if one.seconds > 0]


def waiting_rows(found: Iterable[Wait], by: Sequence[str] = BY) -> list[dict[str, Any]]:
    """
    One row for each reason of each partition and QOS, or of what BY names: how many jobs, and how
    long a job waited for it.
    """
    groups: dict[tuple[str, ...], list[Wait]] = {}
    for wait in found:
        groups.setdefault(tuple(getattr(wait, name) for name in by), []).append(wait)
    rows = []
    for key, members in groups.items():
        runs: dict[str, float] = {}
        for wait in members:
            runs[wait.run] = runs.get(wait.run, 0.0) + wait.seconds
        rows.append(
            {
                **dict(zip(by, key, strict=True)),
                "jobs": len(runs),
                "times": sum(wait.given for wait in members),
                "hours": sum(runs.values()) / 3600,
                "mean_seconds": fmean(runs.values()),
                "median_seconds": median(runs.values()),
                "max_seconds": max(runs.values()),
            }
        )
    return sorted(rows, key=lambda row: (-row["hours"], *(str(row[name]) for name in by)))


def waiting_series(
    found: Iterable[Wait], edges: Sequence[datetime], by: str = "reason"
) -> list[dict[str, Any]]:
    """
    How many jobs waited on average between two EDGES, for each reason, or what BY names; with the
    mean and the median of the time that those jobs had waited for it in there.
    """
    waits_by = sorted(found, key=lambda wait: wait.start)
    rows = []
    for begin, until in pairwise(edge.timestamp() for edge in edges):
        parts: dict[str, dict[str, float]] = {}
        for wait in waits_by:
            if wait.start >= until:
                break
            if wait.end > begin:
                runs = parts.setdefault(str(getattr(wait, by)), {})
                seconds = min(wait.end, until) - max(wait.start, begin)
                runs[wait.run] = runs.get(wait.run, 0.0) + seconds
        for name, runs in sorted(parts.items()):
            rows.append(
                {
                    "time": from_epoch(begin),
                    by: name,
                    "waiting": round(sum(runs.values()) / (until - begin), 3),
                    "jobs": len(runs),
                    "mean_seconds": fmean(runs.values()),
                    "median_seconds": median(runs.values()),
                }
            )
    return rows


def edges(start: datetime, end: datetime, every: str, zone: tzinfo) -> list[datetime]:
    """
    START, every whole hour or local day in between, END.
    """
    local = start.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    found = [start]
    while True:
        if every == "day":
            local += timedelta(days=1)  # by the wall clock: a day may have 23 hours
            cut = local.astimezone(UTC)
        else:
            cut = found[-1].replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        if cut >= end:
            return [*found, end]
        found.append(cut)


def _states(
    store: Store, scope: Scope, start: datetime, end: datetime, where: Sequence[Condition]
) -> Iterator[Document]:
    batches = store.scan(
        "job_state",
        scope,
        where=tuple(where),
        start=start - BEFORE,
        end=end,
        fields=FIELDS,
        order=("@timestamp",),
    )
    for batch in batches:
        yield from batch


def _reason(document: Document) -> str:
    """
    Without the names of nodes, which would make each reason another.
    """
    text = str(document.get("state.reason") or "(none)")
    return text.partition(", UnavailableNodes")[0].partition("(Unavailable")[0].strip()


def _wait(document: Document, reason: str, moment: float, given: bool) -> Wait:
    return Wait(
        cluster=str(document["cluster"]),
        partition=str(document.get("partition") or "(none)"),
        qos=str(document.get("qos") or "(none)"),
        reason=reason,
        run=str(document["job.run"]),
        start=moment,
        end=moment + TOLD,
        given=given and not document.get("snapshot"),
    )


def _within(wait: Wait, first: float, last: float) -> Wait:
    wait.start, wait.end = max(wait.start, first), min(wait.end, last)
    return wait
