"""
Jobs of the wrong size: too small for the node they hold, too big for the system, too many together.

Each needs to know what there is. Where nobody told how many cores a node has, nothing is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from leadline.formats import Document
from leadline.formats.counted import counted
from leadline.reports.detectors.jobs import (
    about_job,
    lasting_jobs,
    over_jobs,
    per_job,
    seen_jobs,
    wall_seconds,
    within,
)
from leadline.reports.finding import (
    BY_HOUR,
    HOUR,
    Case,
    Finding,
    amount,
    greatest,
    groups,
    text,
    total,
)
from leadline.reports.job import number
from leadline.store.plan import Aggregate, Condition, Function, Op

Host = tuple[str, str]
IN_JOB = Condition("job.id", Op.EXISTS)


def mice(case: Case) -> list[Finding]:
    """
    Runs that hold their nodes whole, for hours, and need a tenth of them at their busiest.

    Runs with cards are left to the detectors of cards: a card may well need a whole node.
    """
    there = fitted(case)
    held: list[tuple[Document, float, float]] = []
    for job in seen_jobs(case, "job.cores"):
        hosts = job.get("job.nodes")
        if not isinstance(hosts, list) or number(job, "job.gpus"):
            continue
        rooms = [there.get((str(job["cluster"]), str(host)), (0.0, 0.0)) for host in hosts]
        cores, memory = (sum(room) for room in zip(*rooms, strict=True)) if rooms else (0.0, 0.0)
        whole = all(room[0] for room in rooms) and (number(job, "job.cores") or 0) >= 0.9 * cores
        if cores and whole and wall_seconds(case, job) >= case.limits.mouse_seconds:
            held.append((job, cores, memory))
    peaks = _busiest_hour(case, [job for job, _, _ in held])
    found = []
    for job, cores, memory in held:
        peak, used = peaks.get(str(job["job.id"])), number(job, "job.memory.peak.bytes")
        if peak is None or used is None or not memory:
            continue
        if max(peak / cores, used / memory) >= case.limits.mouse_share:
            continue
        hours = cores * within(case, job) / HOUR
        evidence = (
            f"whole nodes of {counted(cores, 'core')} and {memory / 2**30:,.0f} GiB held, "
            f"{peak:.1f} cores and {used / 2**30:.1f} GiB used at most"
        )
        remedy = "ask for what it needs, and let others in beside it"
        share = 1 - peak / cores
        found.append(about_job(job, "mouse", evidence, remedy, hours * share, "core hours", share))
    return found


def whales(case: Case) -> list[Finding]:
    """
    Runs, waiting or running, that want a large part of all cores or cards their cluster has.
    """
    cores, cards = _system(case)
    found = []
    for job in _wanted(case, "cores", cores):
        found += _whale(case, job, _either(job, "cores"), cores, "cores")
    for job in _wanted(case, "gpus", cards):
        found += _whale(case, job, _either(job, "gpus"), cards, "GPUs")
    return found


def _whale(
    case: Case, job: Document, wanted: float | None, system: Mapping[str, float], what: str
) -> list[Finding]:
    there = system.get(str(job["cluster"]), 0.0)
    if not there or wanted is None or wanted < case.limits.whale_share * there:
        return []
    evidence = f"{wanted:,.0f} of the cluster's {counted(there, 'core')}"
    if what == "GPUs":
        evidence = f"{wanted:,.0f} of the cluster's {counted(there, 'GPU')}"
    remedy = "agree on a time for it, or on a smaller run"
    if wanted > there and "job.start" not in job:
        evidence = f"waits for {evidence}: it can never start"
        remedy = "tell its owner; cancel it"
    hours = wanted * wall_seconds(case, job) / HOUR if "job.start" in job else None
    unit = "core hours" if what == "cores" else "GPU hours"
    return [about_job(job, "whale", evidence, remedy, hours, unit)]


def vampires(case: Case) -> list[Finding]:
    """
    Somebody's many small jobs that together take a large part of a cluster that is busy.

    An hour counts when the cluster's cores were busy for at least `busy_share`, and at least
    `vampire_jobs` jobs of the user, none of them big by itself, took `vampire_share` of them all.
    """
    limits = case.limits
    rooms: dict[tuple[str, str], tuple[float, float]] = {}
    rows = case.ask(
        "node",
        (*groups("cluster", "host.name"), BY_HOUR),
        total("cpu", "core_seconds"),
        total("seconds", "interval.seconds"),
        greatest("cores", "node.cores"),
        where=(Condition("job.id", Op.MISSING),),
    )
    for row in rows:
        key = str(row["cluster"]), str(row["@timestamp"])
        busy, room = rooms.get(key, (0.0, 0.0))
        more = amount(row, "cores") * amount(row, "seconds")
        rooms[key] = busy + amount(row, "cpu"), room + more
    taken: dict[tuple[str, str | None], list[tuple[str, float, float, float]]] = defaultdict(list)
    jobs = Aggregate("jobs", Function.DISTINCT, "job.id")
    by = (*groups("cluster", "user.name"), BY_HOUR)
    for row in case.ask("process", by, total("cpu", "core_seconds"), jobs, where=(IN_JOB,)):
        busy, room = rooms.get((str(row["cluster"]), str(row["@timestamp"])), (0.0, 0.0))
        cpu, count = amount(row, "cpu"), amount(row, "jobs")
        small = count >= limits.vampire_jobs and cpu / count < limits.vampire_cores * HOUR
        if small and busy >= limits.busy_share * room and cpu >= limits.vampire_share * room > 0:
            who = str(row["cluster"]), text(row, "user.name")
            taken[who].append((str(row["@timestamp"]), cpu, cpu / room, count))
    return [
        Finding(
            kind="vampire",
            cluster=cluster,
            object=f"small jobs of {user}",
            user=user,
            since=min(hour for hour, _, _, _ in hours),
            until=max(hour for hour, _, _, _ in hours),
            evidence=f"up to {counted(max(n for _, _, _, n in hours), 'small job')} an hour"
            f" took up to {100 * max(share for _, _, share, _ in hours):.0f} % of all cores"
            f" in {counted(len(hours), 'busy hour')}",
            remedy="limit how many run at once, as an array with %N",
            hours=sum(cpu for _, cpu, _, _ in hours) / HOUR,
        )
        for (cluster, user), hours in taken.items()
    ]


def fitted(case: Case) -> dict[Host, tuple[float, float]]:
    """
    Cores and memory of each node, as the hours of capacity or else its own samples tell.
    """
    found: dict[Host, tuple[float, float]] = {}
    for dataset in ("node", "capacity"):
        rows = case.ask(
            dataset,
            groups("cluster", "host.name"),
            greatest("cores", "node.cores"),
            greatest("memory", "memory.total.bytes"),
        )
        for row in rows:
            key = str(row["cluster"]), str(row["host.name"])
            cores, memory = found.get(key, (0.0, 0.0))
            found[key] = amount(row, "cores") or cores, amount(row, "memory") or memory
    return found


def _system(case: Case) -> tuple[dict[str, float], dict[str, float]]:
    """
    Cores and cards of each cluster.
    """
    cores: dict[str, float] = defaultdict(float)
    cards: dict[str, float] = defaultdict(float)
    for (cluster, _), (count, _) in fitted(case).items():
        cores[cluster] += count
    by = groups("cluster", "host.name", "gpu.model")
    carded = (Condition("gpu.model", Op.EXISTS),)
    for row in case.ask("capacity", by, greatest("cards", "gpu.total"), where=carded):
        cards[str(row["cluster"])] += amount(row, "cards")
    return cores, cards


def _wanted(case: Case, what: str, system: Mapping[str, float]) -> list[Document]:
    """
    Runs of the window, also those that wait, that have or ask for so many that one may be a whale.
    """
    sizes = [size for size in system.values() if size]
    if not sizes:
        return []
    least = case.limits.whale_share * min(sizes)
    jobs = (*over_jobs(case), *lasting_jobs(case))
    return [job for job in jobs if (_either(job, what) or 0) >= least]


def _either(job: Document, what: str) -> float | None:
    had = number(job, f"job.{what}")
    return number(job, f"job.asked.{what}") if had is None else had


def _busiest_hour(case: Case, jobs: list[Document]) -> dict[str, float]:
    """
    The most cores each job kept busy over an hour, as its samples show.
    """
    found: dict[str, float] = {}
    for row in per_job(case, jobs, "process", total("cpu", "core_seconds"), by=(BY_HOUR,)):
        if row["cpu"] is not None:
            job = str(row["job.id"])
            found[job] = max(found.get(job, 0.0), amount(row, "cpu") / HOUR)
    return found
