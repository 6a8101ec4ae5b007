"""
Processes that should not be there, or take what others wait for.
"""

from __future__ import annotations

from collections import defaultdict

from leadline.formats.counted import counted
from leadline.reports.finding import (
    BY_HOUR,
    COUNT,
    FIRST,
    HOUR,
    LAST,
    Case,
    Finding,
    amount,
    doings,
    greatest,
    groups,
    seconds_between,
    text,
    total,
)
from leadline.reports.presence import presence
from leadline.store.plan import Condition, Op, Row, Scalar

WHO = groups("cluster", "host.name", "user.name")
NO_JOB = Condition("job.id", Op.MISSING)


def stray(case: Case) -> list[Finding]:
    """
    Processes of a user on a node where that user has no job.

    An hour counts where the scheduler was asked and had no job of the user there. Where it was
    not: the shipper says so, or the user had none in an hour on a node where jobs were seen.
    Login nodes, where no job ever is, and system users are left out.
    """
    here = (*WHO, BY_HOUR)
    with_job = [row for row in doings(case) if row["in_jobs"]]
    nodes = {_node(row) for row in with_job}
    owners = {(*_node(row), row["user.name"], row["@timestamp"]) for row in with_job}
    rows = case.ask(
        "process",
        (*here, *groups("user.id", "process.name", "stray")),
        total("cpu", "core_seconds"),
        FIRST,
        LAST,
        COUNT,
        where=(NO_JOB,),
    )
    rows = [row for row in rows if row["stray"] or (row["stray"] is None and _person(row))]
    asked = {(*_node(row), str(row["user.name"])) for row in rows}
    told = presence(case.store, case.scope, case.start, case.end, asked)
    seen: dict[tuple[str, str, str | None, str], list[Row]] = defaultdict(list)
    for row in rows:
        node, user = _node(row), text(row, "user.name")
        job = told.had_job(node, str(user), str(row["first"]), str(row["last"]))
        if job is None:
            own = (*node, row["user.name"], row["@timestamp"]) in owners
            job = row["stray"] is not True and (node not in nodes or own)
        if not job:
            seen[(*node, user, str(row["process.name"]))].append(row)
    found = [_stray(key, members) for key, members in seen.items()]
    return [
        one
        for one in found
        if (one.hours or 0) >= case.limits.stray_core_hours
        or seconds_between(one.since, one.until) >= case.limits.stray_seconds
    ]


def _stray(key: tuple[str, str, str | None, str], rows: list[Row]) -> Finding:
    cluster, host, user, name = key
    count = sum(amount(row, "n") for row in rows)
    return Finding(
        kind="stray",
        cluster=cluster,
        object=f"{host}: {name}",
        user=user,
        since=min(str(row["first"]) for row in rows),
        until=max(str(row["last"]) for row in rows),
        evidence=f"in {counted(count, 'sample')} outside any job of the user",
        remedy="end it, or ask what it is for",
        hours=sum(amount(row, "cpu") for row in rows) / HOUR,
    )


def _node(row: Row) -> tuple[str, str]:
    return str(row["cluster"]), str(row["host.name"])


def _person(row: Row) -> bool:
    """
    Not a system user: those have ids below 1000.
    """
    uid = str(row["user.id"] or "")
    return not uid.isdigit() or int(uid) >= 1000


def zombies(case: Case) -> list[Finding]:
    """
    Dead processes whose parent never asked how they ended. Each is dead for a moment: one that a
    second look finds gone is none.
    """
    rows = case.ask(
        "process",
        (*WHO, *groups("process.name", "process.entity_id")),
        FIRST,
        LAST,
        COUNT,
        where=(Condition("process.state", Op.IN, ("Z",)),),
    )
    alike: dict[tuple[Scalar | None, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if amount(row, "n") > 1:
            alike[row["cluster"], row["host.name"], row["user.name"], row["process.name"]].append(
                row
            )
    found = []
    for those in alike.values():
        since = min(str(row["first"]) for row in those)
        about = {**those[0], "first": since, "last": max(str(row["last"]) for row in those)}
        seen = counted(sum(amount(row, "n") for row in those), "sample")
        found.append(_about(about, "zombie", f"defunct in {seen}", "end its parent"))
    return found


def dead_weight(case: Case) -> list[Finding]:
    """
    Orphans that hold memory for hours and use no CPU.
    """
    rows = case.ask(
        "process",
        (*WHO, *groups("process.entity_id", "process.name")),
        total("cpu", "core_seconds"),
        greatest("memory", "memory.rss.bytes"),
        greatest("gpu_memory", "gpu.memory.bytes"),
        FIRST,
        LAST,
        where=(Condition("process.parent.pid", Op.IN, (1,)),),
    )
    found = []
    for row in rows:
        held = max(amount(row, "memory"), amount(row, "gpu_memory"))
        idle = seconds_between(row["first"], row["last"])
        if row["cpu"] is None or amount(row, "cpu") >= idle / 1000:
            continue
        if idle < case.limits.dead_seconds or held < case.limits.dead_memory:
            continue
        evidence = f"{held / 2**30:.1f} GiB held, no CPU used for {idle / HOUR:.0f} h, parent gone"
        found.append(_about(row, "dead weight", evidence, "end it, or ask what it is for"))
    return found


def _about(row: Row, kind: str, evidence: str, remedy: str) -> Finding:
    return Finding(
        kind=kind,
        cluster=str(row["cluster"]),
        object=f"{row['host.name']}: {row['process.name']}",
        user=text(row, "user.name"),
        since=text(row, "first"),
        until=text(row, "last"),
        evidence=evidence,
        remedy=remedy,
    )


def hogs(case: Case) -> list[Finding]:
    """
    Somebody outside any job takes a large part of a node that is busy.

    An hour counts when the node's cores were busy for at least `busy_share` and this user's
    processes without a job took at least `hog_share` of all its cores. On a node that is mostly
    idle nobody hogs, however much one user takes.
    """
    busy: dict[tuple[str, str, str], tuple[float, float]] = {}
    rows = case.ask(
        "node",
        (*groups("cluster", "host.name"), BY_HOUR),
        total("cpu", "core_seconds"),
        total("seconds", "interval.seconds"),
        greatest("cores", "node.cores"),
        where=(NO_JOB,),
    )
    for row in rows:
        if row["cpu"] is not None and amount(row, "cores") and amount(row, "seconds"):
            key = (str(row["cluster"]), str(row["host.name"]), str(row["@timestamp"]))
            room = amount(row, "cores") * amount(row, "seconds")
            busy[key] = (amount(row, "cpu") / room, room)
    taken: dict[tuple[str, str, str | None], list[tuple[str, float, float]]] = defaultdict(list)
    for row in doings(case):
        key = (str(row["cluster"]), str(row["host.name"]), str(row["@timestamp"]))
        share, room = busy.get(key, (0.0, 0.0))
        own = amount(row, "alone")
        if room and share >= case.limits.busy_share and own >= case.limits.hog_share * room:
            who = (key[0], key[1], text(row, "user.name"))
            taken[who].append((key[2], own, own / room))
    return [
        Finding(
            kind="hog",
            cluster=cluster,
            object=host,
            user=user,
            since=min(hour for hour, _, _ in hours),
            until=max(hour for hour, _, _ in hours),
            evidence=f"up to {100 * max(s for _, _, s in hours):.0f} % of all cores"
            f" in {counted(len(hours), 'busy hour')}, outside any job",
            remedy="run it as a job",
            hours=sum(cpu for _, cpu, _ in hours) / HOUR,
            severity="red",
        )
        for (cluster, host, user), hours in taken.items()
        if len(hours) >= case.limits.hog_hours
    ]
