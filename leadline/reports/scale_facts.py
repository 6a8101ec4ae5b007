"""
What a job's nodes had and how they waited, and how other runs of its name did on other sizes.

Figures of a node or a disk are a job's only while it is alone there.
"""

from __future__ import annotations

from dataclasses import dataclass

from leadline.reports.job import JobView
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING, Scope

SIZES = 8  # told at most


@dataclass(frozen=True, slots=True)
class Machine:
    """
    The job's nodes together; None is not measured.
    """

    cores: float | None = None
    memory: float | None = None
    alone: bool = False  # no other job was seen on them
    pressure: float | None = None  # share of the time tasks waited for I/O
    disk: float | None = None  # share of the time the busiest disk had I/O in flight
    waiting: float | None = None  # share of the job's own processes that waited for I/O


@dataclass(frozen=True, slots=True)
class Size:
    """
    Completed runs of one name and user on so many cores.
    """

    cores: int
    runs: int
    wall: float | None  # seconds, the mean
    efficiency: float | None  # CPU used of the cores allocated, 0 to 1


def machine(store: Store, scope: Scope, view: JobView) -> Machine:
    """
    What a node has is nobody's secret; what its processes did goes by SCOPE.
    """
    hosts = tuple(node.host for node in view.nodes)
    if not hosts or not view.profile.samples:
        return Machine()
    here = (
        Condition("cluster", Op.IN, (view.job.partition("/")[0],)),
        Condition("host.name", Op.IN, hosts),
    )
    start, end = view.profile.start, view.profile.end
    fitted = Plan(
        "node",
        (
            Aggregate("cores", Function.MAX, "node.cores"),
            Aggregate("memory", Function.MAX, "memory.total.bytes"),
            Aggregate("pressure", Function.SUM, "pressure.io.percent"),
            Aggregate("looks", Function.COUNT, "pressure.io.percent"),
        ),
        (Group("host.name"),),
        (*here, Condition("job.id", Op.MISSING)),
        start,
        end,
    )
    rows = store.ask(fitted, EVERYTHING)
    others = (Condition("job.id", Op.EXISTS), Condition("job.id", Op.NOT_IN, (view.job,)))
    counted = (Aggregate("n", Function.COUNT),)
    (other,) = store.ask(Plan("process", counted, (), (*here, *others), start, end), EVERYTHING)
    looks = sum(float(row["looks"] or 0) for row in rows)
    waited = sum(float(row["pressure"] or 0) for row in rows)
    return Machine(
        _sum([row["cores"] for row in rows], len(hosts)),
        _sum([row["memory"] for row in rows], len(hosts)),
        not other["n"],
        waited / looks / 100 if looks else None,
        _disk(store, Plan("disk", (), (), here, start, end)),
        _waiting(store, scope, view),
    )


def _sum(values: list[object], count: int) -> float | None:
    """
    Of all nodes together: unknown of one is unknown of all.
    """
    known = [float(str(value)) for value in values if value is not None]
    return sum(known) if known and len(known) == count else None


def _disk(store: Store, plan: Plan) -> float | None:
    aggregates = (
        Aggregate("busy", Function.SUM, "disk.busy.seconds"),
        Aggregate("seconds", Function.SUM, "interval.seconds"),
    )
    by = (Group("host.name"), Group("disk.name"))
    asked = Plan(plan.dataset, aggregates, by, plan.where, plan.start, plan.end)
    rows = store.ask(asked, EVERYTHING)
    shares = [
        float(row["busy"]) / float(row["seconds"])
        for row in rows
        if row["busy"] is not None and row["seconds"]
    ]
    return max(shares, default=None)


def _waiting(store: Store, scope: Scope, view: JobView) -> float | None:
    """
    Of the job's processes that ran or waited for I/O: those that sleep say nothing.
    """
    plan = Plan(
        "process",
        (Aggregate("n", Function.COUNT),),
        (Group("process.state"),),
        (Condition("job.id", Op.IN, (view.job,)),),
        view.profile.start,
        view.profile.end,
    )
    states = {str(row["process.state"])[:1]: int(row["n"] or 0) for row in store.ask(plan, scope)}
    active = states.get("R", 0) + states.get("D", 0)
    return states.get("D", 0) / active if active else None


def sizes(store: Store, scope: Scope, view: JobView) -> tuple[Size, ...]:
    """
    How completed runs of the same user and job name did, by cores, the smallest first.
    """
    name, cluster = view.record.get("job.name"), view.job.partition("/")[0]
    if name is None or view.user is None:
        return ()
    both = (
        Condition("job.core_seconds.used", Op.EXISTS),
        Condition("job.core_seconds.allocated", Op.EXISTS),
    )
    plan = Plan(
        "job",
        (
            Aggregate("runs", Function.COUNT),
            Aggregate("wall", Function.SUM, "job.wall.seconds"),
            Aggregate("walls", Function.COUNT, "job.wall.seconds"),
            Aggregate("used", Function.SUM, "job.core_seconds.used", where=both),
            Aggregate("had", Function.SUM, "job.core_seconds.allocated", where=both),
        ),
        (Group("job.cores"),),
        (
            Condition("cluster", Op.IN, (cluster,)),
            Condition("user.name", Op.IN, (view.user,)),
            Condition("job.name", Op.IN, (str(name),)),
            Condition("job.state", Op.IN, ("COMPLETED",)),
            Condition("job.cores", Op.EXISTS),
        ),
    )
    found = [
        Size(
            int(row["job.cores"] or 0),
            int(row["runs"] or 0),
            float(row["wall"] or 0) / float(row["walls"]) if row["walls"] else None,
            float(row["used"]) / float(row["had"])
            if row["used"] is not None and row["had"]
            else None,
        )
        for row in store.ask(plan, scope)
    ]
    return tuple(sorted(found, key=lambda size: size.cores)[:SIZES]) if len(found) > 1 else ()
