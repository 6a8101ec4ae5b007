"""
What was held and not used: nodes of a job on which it did nothing, reservations nobody came to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from leadline.formats import Document
from leadline.formats.counted import counted
from leadline.formats.times import format_time, parse_time
from leadline.reports.advice import IDLE, fewer_nodes
from leadline.reports.detectors.jobs import (
    WATCHED,
    about_job,
    lasting_jobs,
    over_jobs,
    per_job,
    seen_jobs,
    within,
)
from leadline.reports.detectors.sizes import fitted
from leadline.reports.finding import (
    BY_HOUR,
    COUNT,
    HOUR,
    Case,
    Finding,
    amount,
    doings,
    groups,
    total,
)
from leadline.reports.job import number
from leadline.reports.names import shown
from leadline.reports.nodes import Host
from leadline.reports.reservations import for_maintenance, reservations
from leadline.store.plan import Condition, Op

NO_JOB = Condition("job.id", Op.MISSING)
Hours = Mapping[Host, set[str]]


def idle_nodes(case: Case) -> list[Finding]:
    """
    Runs on several nodes that for hours kept no core busy on one of them, while they did on others.

    A node counts as idle where its heartbeats came for most of the time, and no process of the
    user's ran there that nobody took for the job's.
    """
    wide = [
        job
        for job in seen_jobs(case, "job.cores")
        if len(_hosts(job)) > 1 and within(case, job) >= case.limits.idle_node_seconds
    ]
    if not wide:
        return []
    heard, stray = _heard(case), _outside(case)
    busy: dict[tuple[str, str], float] = defaultdict(float)
    for row in per_job(case, wide, "process", total("cpu", "core_seconds"), by=groups("host.name")):
        busy[(str(row["job.id"]), str(row["host.name"]))] = amount(row, "cpu")
    found = []
    for job in wide:
        seconds = within(case, job)
        own = {host: busy.get((str(job["job.id"]), host), 0.0) for host in _hosts(job)}
        idle = [host for host, cpu in own.items() if cpu < IDLE * seconds]
        if not idle or len(idle) == len(own) or not _watched(case, job, heard, own, stray):
            continue
        cores = (number(job, "job.cores") or 0.0) * len(idle) / len(own)
        evidence = (
            f"{len(idle)} of {counted(len(own), 'node')} did nothing"
            f" in {seconds / HOUR:.0f} h: {shown(idle)}"
        )
        remedy = fewer_nodes(job, len(own) - len(idle))
        hours, share = cores * seconds / HOUR, len(idle) / len(own)
        found.append(about_job(job, "idle node", evidence, remedy, hours, "core hours", share))
    return found


def _hosts(job: Document) -> list[str]:
    hosts = job.get("job.nodes")
    return list(map(str, hosts)) if isinstance(hosts, list) else []


def _heard(case: Case) -> Hours:
    rows = case.ask("node", (*groups("cluster", "host.name"), BY_HOUR), COUNT, where=(NO_JOB,))
    found: dict[Host, set[str]] = defaultdict(set)
    for row in rows:
        found[(str(row["cluster"]), str(row["host.name"]))].add(str(row["@timestamp"]))
    return found


def _outside(case: Case) -> set[tuple[str, str, str]]:
    """
    Who used a core outside any job where.
    """
    return {
        (str(row["cluster"]), str(row["host.name"]), str(row["user.name"]))
        for row in doings(case)
        if amount(row, "alone") > 0
    }


def _watched(
    case: Case,
    job: Document,
    heard: Hours,
    own: Mapping[str, float],
    stray: set[tuple[str, str, str]],
) -> bool:
    cluster, user = str(job["cluster"]), str(job.get("user.name"))
    first, last = _span(case, job.get("job.start"), job.get("job.end"))
    hours = max(1, int((last - first).total_seconds() // HOUR))
    edges = format_time(first - timedelta(hours=1)), format_time(last)
    return all(
        sum(edges[0] < hour < edges[1] for hour in heard.get((cluster, host), ()))
        >= WATCHED * hours
        and (cluster, host, user) not in stray
        for host in own
    )


def _span(case: Case, start: object, end: object) -> tuple[datetime, datetime]:
    """
    What lies within the time that is looked at, and is over.
    """
    first = case.start if start is None else max(case.start, parse_time(str(start)))
    last = min(case.end, case.now)
    return first, last if end is None else min(last, parse_time(str(end)))


def empty_reservations(case: Case) -> list[Finding]:
    """
    Reservations on at least half of whose nodes no job ran, for hours; maintenance is left out.

    Where no job of a cluster is known at all, nobody can say who came.
    """
    rows = reservations(case.store, case.scope, case.start, case.end, case.where)
    if not rows:
        return []
    jobs = [job for job in (*over_jobs(case), *lasting_jobs(case)) if "job.start" in job]
    sampled: dict[Host, set[str]] = defaultdict(set)
    for row in doings(case):
        if row["in_jobs"]:
            sampled[(str(row["cluster"]), str(row["host.name"]))].add(str(row["@timestamp"]))
    known = {str(job["cluster"]) for job in jobs} | {cluster for cluster, _ in sampled}
    rooms = fitted(case)
    found = []
    for held in rows:
        first, last = _span(case, held["start"], held["end"])
        hosts, cluster = [str(host) for host in held["hosts"]], str(held["cluster"])
        if (last - first).total_seconds() < case.limits.idle_node_seconds or not hosts:
            continue
        if cluster not in known or for_maintenance(held):
            continue
        used = set(_used(case, cluster, jobs, sampled, first, last))
        empty = [host for host in hosts if host not in used]
        if len(empty) >= case.limits.empty_share * len(hosts):
            cores = [rooms.get((cluster, host), (0.0, 0.0))[0] for host in empty]
            found.append(_empty(held, empty, cores, (first, last)))
    return found


def _used(
    case: Case,
    cluster: str,
    jobs: Sequence[Document],
    sampled: Hours,
    first: datetime,
    last: datetime,
) -> Iterator[str]:
    for job in jobs:
        if str(job["cluster"]) == cluster:
            begun, over = _span(case, job["job.start"], job.get("job.end"))
            if begun < last and over > first:
                yield from _hosts(job)
    edges = format_time(first), format_time(last - timedelta(hours=1))
    for (where, host), hours in sampled.items():
        if where == cluster and any(edges[0] <= hour <= edges[1] for hour in hours):
            yield host


def _empty(
    row: Mapping[str, object],
    hosts: Sequence[str],
    cores: Sequence[float],
    span: tuple[datetime, datetime],
) -> Finding:
    seconds = (span[1] - span[0]).total_seconds()
    held = row["hosts"]
    of = counted(len(held), "node") if isinstance(held, list) else ""
    return Finding(
        kind="empty reservation",
        cluster=str(row["cluster"]),
        object=f"reservation {row['name']}",
        since=format_time(span[0]),
        until=format_time(span[1]),
        evidence=f"no job on {len(hosts)} of {of} in {seconds / HOUR:.0f} h: {shown(hosts)}",
        remedy="ask whom it is for; scontrol delete reservation frees its nodes",
        hours=sum(cores) * seconds / HOUR if all(cores) else None,
    )
