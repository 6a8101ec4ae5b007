"""
Jobs that had far more than they used, or run where they should not any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from leadline.formats import Document
from leadline.formats.counted import counted
from leadline.formats.times import format_time, parse_time
from leadline.reports.finding import (
    COUNT,
    FIRST,
    HOUR,
    LAST,
    Case,
    Finding,
    amount,
    greatest,
    groups,
    seconds_between,
    text,
    total,
)
from leadline.reports.job import number
from leadline.reports.job_cards import USED
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row

WATCHED = 0.7  # of its time a job must have been seen before it is said to have used nothing
PIECE = 500  # job ids in one plan
INTERACTIVE = ("interact", "jupyter", "notebook", "devel")


def idle_gpus(case: Case) -> list[Finding]:
    """
    Jobs that had GPUs for hours and used none while they were watched for most of the time, on
    nodes where an open card would have been noticed.
    """
    jobs = [
        job
        for job in seen_jobs(case, "job.gpus")
        if wall_seconds(case, job) >= case.limits.gpu_job_seconds
    ]
    sums = total("gpu", "gpu_seconds"), total("opened", "gpu.count")
    used = by_job(per_job(case, jobs, "process", *sums, FIRST, LAST))
    watched = _watched(case)
    found = []
    for job in jobs:
        row, seconds = used.get(str(job["job.id"])), within(case, job)
        if row is None or amount(row, "gpu") > 0 or not seconds:
            continue
        if row["gpu"] is None and amount(row, "opened"):
            continue  # open, and the driver does not tell how busy
        nodes, cluster = job.get("job.nodes"), str(job["cluster"])
        looked = isinstance(nodes, list) and all((cluster, node) in watched for node in nodes)
        if not looked and row["gpu"] is None:
            continue
        if seconds_between(row["first"], row["last"]) < WATCHED * seconds:
            continue
        gpus = number(job, "job.gpus") or 0
        evidence = f"GPUs allocated: {gpus:.0f}, used: none in {seconds / HOUR:.0f} h"
        remedy = "leave --gpus out, or look why the program does not find them"
        hours = gpus * seconds / HOUR
        one = about_job(job, "idle GPUs", evidence, remedy, hours, "GPU hours", 1.0)
        found.append(replace(one, since=max(str(one.since), format_time(case.start))))
    return found


def _watched(case: Case) -> set[tuple[str, str]]:
    """
    Nodes where a card that somebody opens is noticed, or whose cards did nothing at all.
    """
    counted = Aggregate("counted", Function.COUNT, "gpu.processes")
    told = Aggregate("told", Function.COUNT, "gpu_seconds")
    sums = counted, told, total("busy", "gpu_seconds"), total("seconds", "interval.seconds")
    return {
        (str(row["cluster"]), str(row["host.name"]))
        for row in case.ask("gpu", groups("cluster", "host.name"), *sums)
        if row["counted"] or (row["told"] and amount(row, "busy") <= USED * amount(row, "seconds"))
    }


def poor_gpu_use(case: Case) -> list[Finding]:
    """
    Not interactive, two hours or longer, and peaks below a quarter on both use and memory.
    """
    jobs = [
        job
        for job in seen_jobs(case, "job.gpus")
        if wall_seconds(case, job) >= case.limits.gpu_job_seconds and not _interactive(job)
    ]
    peaks = greatest("busy", "gpu.percent"), greatest("memory", "gpu.memory.percent")
    rows = by_job(per_job(case, jobs, "process_gpu", *peaks, total("gpu", "gpu_seconds")))
    found = []
    for job in jobs:
        row = rows.get(str(job["job.id"]))
        if row is None or row["busy"] is None or row["memory"] is None or not amount(row, "gpu"):
            continue
        if max(amount(row, "busy"), amount(row, "memory")) < case.limits.gpu_peak_percent:
            evidence = (
                f"at peak {amount(row, 'busy'):.0f} % busy"
                f" and {amount(row, 'memory'):.0f} % of GPU memory"
            )
            hours = (number(job, "job.gpus") or 0) * within(case, job) / HOUR
            remedy = "a smaller or shared GPU would do"
            found.append(about_job(job, "poor GPU use", evidence, remedy, hours, "GPU hours"))
    return found


def unused_cores(case: Case) -> list[Finding]:
    """
    Ended jobs that used little of many core hours: the share and the hours must both be bad.
    """
    found = []
    for job in seen_jobs(case, "job.core_seconds.allocated"):
        allocated = number(job, "job.core_seconds.allocated")
        used = number(job, "job.core_seconds.used")
        if job.get("provisional") or not allocated or used is None or number(job, "job.gpus"):
            continue
        waste = (allocated - used) / HOUR
        if used < case.limits.waste_share * allocated and waste >= case.limits.waste_core_hours:
            share = waste * HOUR / allocated
            evidence = f"{100 * used / allocated:.0f} % of {allocated / HOUR:,.0f} core hours used"
            remedy = f"leadline job {job.get('job.id')} says what would have sufficed"
            found.append(
                about_job(job, "unused cores", evidence, remedy, waste, "core hours", share)
            )
    return found


def past_limit(case: Case) -> list[Finding]:
    """
    Running longer than they asked for: the scheduler, or the record, is stuck.
    """
    found = []
    for job in (known for known in lasting_jobs(case) if "job.start" in known):
        limit = number(job, "job.limit.seconds")
        late = wall_seconds(case, job) - (limit or 0)
        if limit and late > case.limits.late_seconds:
            evidence = f"{late / HOUR:.1f} h past its limit of {limit / HOUR:.1f} h"
            remedy = "look whether it still runs: scontrol show job"
            found.append(about_job(job, "past its limit", evidence, remedy, None, "core hours"))
    return found


def many_short(case: Case) -> list[Finding]:
    """
    Users whose short jobs are many enough together to be a load; few of them are noise.
    """
    where = (
        *case.where,
        Condition("job.wall.seconds", Op.BELOW, (case.limits.short_seconds,)),
        Condition("job.wall.seconds", Op.AT_LEAST, (0,)),
    )
    plan = Plan(
        "job",
        (COUNT, total("cpu", "job.core_seconds.allocated")),
        groups("cluster", "user.name"),
        where,
        case.start,
        case.end,
        "job.end",
    )
    return [
        Finding(
            kind="many short jobs",
            cluster=str(row["cluster"]),
            object=f"short jobs of {text(row, 'user.name') or 'nobody known'}",
            user=text(row, "user.name"),
            since=format_time(case.start),
            until=format_time(case.end),
            evidence=f"{counted(amount(row, 'n'), 'job')} of less than"
            f" {case.limits.short_seconds:.0f} s",
            remedy="put many into one job, as an array or a loop",
            hours=amount(row, "cpu") / HOUR,
        )
        for row in case.store.ask(plan, case.scope)
        if amount(row, "n") >= case.limits.short_jobs
    ]


def seen_jobs(case: Case, field: str) -> Iterator[Document]:
    """
    Jobs with something in FIELD that ran in the window, ended or not.
    """
    last = format_time(case.end)
    for job in (*over_jobs(case), *lasting_jobs(case)):
        if str(job.get("job.start", last)) < last and (number(job, field) or 0) >= 1:
            yield job


def over_jobs(case: Case) -> Iterator[Document]:
    """
    Jobs submitted before the window ended that ended after it had begun.
    """
    return _jobs(case, Condition("job.end", Op.AT_LEAST, (format_time(case.start),)))


def lasting_jobs(case: Case) -> Iterator[Document]:
    """
    Jobs submitted before the window ended that have not ended, or not begun.
    """
    return _jobs(case, Condition("job.end", Op.MISSING))


def _jobs(case: Case, end: Condition) -> Iterator[Document]:
    """
    In full and for whoever asks: several detectors look at the same jobs (leadline.reports.once).
    """
    batches = case.store.scan("job", case.scope, where=(*case.where, end), end=case.end)
    return (job for batch in batches for job in batch)


def per_job(
    case: Case,
    jobs: list[Document],
    dataset: str,
    *aggregates: Aggregate,
    by: tuple[Group, ...] = (),
) -> list[Row]:
    """
    What samples say of each job.
    """
    ids = sorted({str(job["job.id"]) for job in jobs if "job.id" in job})
    found: list[Row] = []
    for place in range(0, len(ids), PIECE):
        where = (Condition("job.id", Op.IN, tuple(ids[place : place + PIECE])),)
        found += case.ask(dataset, (*groups("job.id"), *by), *aggregates, where=where)
    return found


def by_job(rows: list[Row]) -> dict[str, Row]:
    return {str(row["job.id"]): row for row in rows}


def wall_seconds(case: Case, job: Document) -> float:
    wall = number(job, "job.wall.seconds")
    if wall is not None and "job.end" in job:
        return wall
    start = job.get("job.start")
    elapsed = case.now - parse_time(str(start)) if start else timedelta()
    return elapsed.total_seconds()


def within(case: Case, job: Document) -> float:
    """
    Seconds the job ran within the time that is looked at.
    """
    start, end = job.get("job.start"), job.get("job.end")
    until = min(case.end, case.now) if end is None else min(case.end, parse_time(str(end)))
    begun = case.start if start is None else max(case.start, parse_time(str(start)))
    return max(0.0, (until - begun).total_seconds())


def _interactive(job: Document) -> bool:
    words = f"{job.get('job.name', '')} {job.get('partition', '')} {job.get('qos', '')}".lower()
    return any(word in words for word in INTERACTIVE)


def about_job(
    job: Document,
    kind: str,
    evidence: str,
    remedy: str,
    hours: float | None,
    unit: str,
    share: float | None = None,
) -> Finding:
    user, start, end = job.get("user.name"), job.get("job.start"), job.get("job.end")
    return Finding(
        kind=kind,
        cluster=str(job["cluster"]),
        object=str(job.get("job.id", job.get("job.run"))),
        user=None if user is None else str(user),
        since=None if start is None else str(start),
        until=None if end is None else str(end),
        evidence=evidence,
        remedy=remedy,
        hours=hours,
        unit=unit,
        share=share,
    )
