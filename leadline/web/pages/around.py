"""
What a job was made of, and who ran beside it: its processes, and the others on its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from flask import url_for

from leadline.formats.times import parse_time
from leadline.language import _
from leadline.query import DEFAULT_PERIOD
from leadline.reports.job import JobView
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.web.asking import desk
from leadline.web.links import told_of
from leadline.web.words import number, size, stamp

MOST_NODES = 64  # looked at for neighbours
MOST = 20  # rows of either table
SPENT = Aggregate("spent", Function.SUM, "core_seconds")
MEMORY = Aggregate("memory", Function.MAX, "memory.rss.bytes")
FIRST = Aggregate("first", Function.MIN, "@timestamp")
LAST = Aggregate("last", Function.MAX, "@timestamp")


@dataclass(frozen=True, slots=True)
class Process:
    name: str
    host: str
    host_link: str
    pid: str
    program: str
    program_link: str
    hours: str
    memory: str
    threads: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    job: str
    link: str
    user: str
    user_link: str
    program: str
    program_link: str
    nodes: str
    hours: str
    memory: str


@dataclass(frozen=True, slots=True)
class Around:
    named: Sequence[Neighbour] = ()
    told: str = ""
    count: int = 0  # of those with a name, shown or not


def _span(view: JobView) -> tuple[datetime | None, datetime | None]:
    """
    While the job ran; samples are written at the middle of what they speak for.
    """
    start = view.start or view.profile.start
    end = view.end or (desk().now if view.running else view.profile.end)
    return start, end


def days_of(view: JobView) -> str:
    """
    The days a job ran in, as a period: what else was done then.
    """
    start, end = _span(view)
    if start is None or end is None:
        return DEFAULT_PERIOD
    zone = desk().site.zone
    return f"{start.astimezone(zone).date()}..{end.astimezone(zone).date()}"


def processes(view: JobView) -> list[Process]:
    """
    The processes that used most, one line each; like ones that were rolled up are one.
    """
    if not view.profile.samples:
        return []
    start, end = _span(view)
    names = ("host.name", "process.pid", "process.name", "program.name")
    plan = Plan(
        "process",
        (SPENT, MEMORY, Aggregate("threads", Function.MAX, "process.thread.count"), FIRST, LAST),
        by=tuple(Group(name) for name in names),
        where=(Condition("job.id", Op.IN, (view.job,)),),
        start=start,
        end=None if end is None else end + timedelta(seconds=view.profile.interval),
        best="spent",
        limit=MOST,
    )
    rows = _asked(plan)
    ordered = sorted(rows, key=lambda row: (-_amount(row, "spent"), str(row["process.name"])))
    return [_process(row, view) for row in ordered[:MOST]]


def _asked(plan: Plan) -> list[Row]:
    store, seen = desk().open(), desk().scope
    return desk().once(("around", plan, seen), lambda: store.ask(plan, seen))


def _process(row: Row, view: JobView) -> Process:
    pid, threads, host = row["process.pid"], row["threads"], str(row["host.name"])
    return Process(
        name=str(row["process.name"] or "–"),
        host=host,
        host_link=url_for("node", cluster=view.job.partition("/")[0], host=host),
        pid="–" if pid is None else str(pid),
        program=str(row["program.name"] or _("unmatched")),
        program_link=_told_of("program", row["program.name"], days_of(view)),
        hours=number(_amount(row, "spent") / 3600, "hours"),
        memory=size(_amount(row, "memory")) if row["memory"] is not None else "–",
        threads="–" if threads is None else number(float(threads)),
        first=_local(row["first"]),
        last=_local(row["last"]),
    )


def _told_of(name: str, value: object, days: str) -> str:
    return told_of(name, None if value is None else str(value), days)


def _local(value: object) -> str:
    return "–" if value is None else stamp(parse_time(str(value)).astimezone(desk().site.zone))


def neighbours(view: JobView) -> Around:
    """
    Who else ran on the job's nodes while it did: by name those the reader may see; what the
    nodes did beside is told without names.
    """
    start, end = _span(view)
    hosts = tuple(node.host for node in view.nodes[:MOST_NODES])
    if not hosts or start is None or end is None:
        return Around()
    places = (
        Condition("cluster", Op.IN, (view.job.partition("/")[0],)),
        Condition("host.name", Op.IN, hosts),
    )
    by = tuple(Group(name) for name in ("job.id", "user.name", "program.name", "host.name"))
    plan = Plan("process", (SPENT, MEMORY), by=by, where=places, start=start, end=end)
    rows = [row for row in _asked(plan) if row["job.id"] != view.job]
    found = _joined(rows, days_of(view))
    whole = replace(
        plan,
        dataset="node",
        aggregates=(SPENT,),
        by=(),
        where=(*places, Condition("job.id", Op.MISSING)),
    )
    own = sum((node.cores or 0.0) for node in view.nodes) * view.profile.watched
    (total,) = desk().totals(whole)
    rest = _amount(total, "spent") - own - sum(_amount(row, "spent") for row in rows)
    told = ""
    if not desk().scope.everything and rest > 0.05 * _amount(total, "spent"):
        told = _("Others, and the system itself, used {hours} core hours on these nodes.").format(
            hours=number(rest / 3600, "hours")
        )
    return Around(found[:MOST], told, len(found))


def _joined(rows: Sequence[Row], days: str) -> list[Neighbour]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((str(row["job.id"] or ""), str(row["user.name"] or "")), []).append(row)
    spent = {key: sum(_amount(row, "spent") for row in known) for key, known in groups.items()}
    ordered = sorted(groups, key=lambda key: (-spent[key], key))
    return [_neighbour(key, groups[key], spent[key], days) for key in ordered]


def _neighbour(key: tuple[str, str], rows: Sequence[Row], spent: float, days: str) -> Neighbour:
    job, user = key
    most = max(rows, key=lambda row: _amount(row, "spent"))
    return Neighbour(
        job=job or _("(no job)"),
        link=url_for("job", job=job) if job else "",
        user=user,
        user_link=told_of("user", user, days) if user else "",
        program=str(most["program.name"] or _("unmatched")),
        program_link=_told_of("program", most["program.name"], days),
        nodes=number(len({row["host.name"] for row in rows})),
        hours=number(spent / 3600, "hours"),
        memory=size(max(_amount(row, "memory") for row in rows)),
    )


def _amount(row: Row, name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
