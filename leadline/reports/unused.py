"""
Nodes and queues that were there and that no job used.

What was there is known from capacity and from the scheduler's states; used is what a job ran on, as
accounted, as told by the scheduler, or as seen in samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from leadline.formats.times import format_time
from leadline.query.rollups import complete_until, pieces
from leadline.query.unused import COUNT, Name, nodes_up, there
from leadline.reports.inventory import Inventory
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import Scope

Kind = Literal["node", "partition"]
DIMENSIONS: dict[Kind, str] = {"node": "host", "partition": "partition"}
FIELDS: dict[Kind, str] = {"node": "job.nodes", "partition": "partition"}
STARTED = Condition("job.start", Op.EXISTS)


def never_used(
    store: Store,
    scope: Scope,
    start: datetime,
    end: datetime,
    where: tuple[Condition, ...] = (),
    kinds: tuple[Kind, ...] = ("node", "partition"),
    inventory: Inventory | None = None,
) -> list[dict[str, Any]]:
    """
    One row each, with the hours it was up (nodes) and when a job last ended there. WHERE names
    clusters; queues of the INVENTORY, where the settings have one, are there too.
    """
    rows = []
    for kind in kinds:
        names = there(store, scope, DIMENSIONS[kind], lambda dataset: where, start, end)
        if kind == "partition":
            names |= {(c, p) for (c, _), has in (inventory or {}).items() for p in has.partitions}
        used = set(_used(store, scope, start, end, where, kind))
        unused = sorted(names - used)
        up = nodes_up(store, scope, where, start, end) if kind == "node" else {}
        last = _last_used(store, scope, start, unused, kind)
        rows += [
            {
                "cluster": name[0],
                "kind": kind,
                "name": name[1],
                **({} if kind == "partition" else _amounts(up.get(name, {}))),
                "last_used": last.get(name),
            }
            for name in unused
        ]
    return rows


def _amounts(row: Row) -> Row:
    return {"up_seconds": row.get("up") or None, "cores": row.get("cores")}


def _used(
    store: Store,
    scope: Scope,
    start: datetime,
    end: datetime,
    where: tuple[Condition, ...],
    kind: Kind,
) -> Iterator[Name]:
    """
    By runs that overlap the period, whenever they were submitted; by states; by samples.
    """
    field = FIELDS[kind]
    began = Condition("job.start", Op.BELOW, (format_time(end),))
    ended = Condition("job.end", Op.AT_LEAST, (format_time(start),))
    for over in (ended, Condition("job.end", Op.MISSING)):
        runs = Plan("job", (COUNT,), _by(field), (*where, began, over))
        yield from (_name(row, field) for row in store.ask(runs, scope))
    held = (*where, Condition("job.nodes", Op.EXISTS))
    states = Plan("job_state", (COUNT,), _by(field), held, start, end)
    yield from (_name(row, field) for row in store.ask(states, scope))
    sampled = "host.name" if kind == "node" else "partition"
    in_job = (*where, Condition("job.id", Op.EXISTS))
    cut = pieces(Plan("process", (COUNT,), _by(sampled), in_job, start, end), complete_until(store))
    for plan in (*cut.raw, *((cut.usage,) if cut.usage is not None else ())):
        yield from (_name(row, sampled) for row in store.ask(plan, scope) if row["n"])


def _last_used(
    store: Store, scope: Scope, before: datetime, names: list[Name], kind: Kind
) -> dict[Name, str]:
    if not names:
        return {}
    field = FIELDS[kind]
    where = (
        Condition("cluster", Op.IN, tuple(sorted({cluster for cluster, _ in names}))),
        Condition(field, Op.IN, tuple(sorted({name for _, name in names}))),
        STARTED,
    )
    last = Aggregate("last", Function.MAX, "job.end")
    rows = store.ask(Plan("job", (last,), _by(field), where, None, before), scope)
    return {_name(row, field): str(row["last"]) for row in rows if row["last"] is not None}


def _by(field: str) -> tuple[Group, ...]:
    return Group("cluster"), Group(field)


def _name(row: Row, field: str) -> Name:
    return str(row["cluster"]), str(row[field])
