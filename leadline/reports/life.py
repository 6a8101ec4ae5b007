"""
A job's whole life: every state of every run of it, why, and for how long.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from leadline.errors import NothingKnownError
from leadline.formats.nodestate import written
from leadline.formats.runs import ENDED
from leadline.formats.times import parse_time
from leadline.render import Column
from leadline.reports.job_runs import own_id
from leadline.store.contract import Store
from leadline.store.plan import Condition, Op
from leadline.store.scope import Scope

COLUMNS = (
    Column("time", "From"),
    Column("seconds", "For", "seconds"),
    Column("state", "State"),
    Column("reason", "Reason"),
    Column("partition", "Partition"),
    Column("qos", "QOS"),
    Column("priority", "Priority", ""),
    Column("nodes", "Nodes", below=True),
    Column("run", "Run"),
)


def job_life(store: Store, scope: Scope, job: str, now: datetime) -> list[dict[str, Any]]:
    """
    One row for each state, the first first. What was told again without a change is left out, but
    for another priority, partition or QOS of a job that waits.
    """
    job = own_id(store, scope, job)
    asked = (Condition("job.id", Op.IN, (job,)),)
    found = [told for batch in store.scan("job_state", scope, where=asked) for told in batch]
    rows: list[dict[str, Any]] = []
    for told in sorted(found, key=_place):
        row = _row(told)
        if not (rows and told.get("snapshot") and _same(rows[-1], row)):
            rows.append(row)
    if not rows:
        raise NothingKnownError(f"job {job}: no scheduler told of its states")
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        until = now if after is None else parse_time(after["time"])
        over = after is None and row["state"] in ENDED
        row["seconds"] = None if over else (until - parse_time(row["time"])).total_seconds()
    return rows


def _place(told: dict[str, Any]) -> tuple[str, str, int]:
    """
    What was told of one second in the order in which it must have been.
    """
    name = str(told["state.name"])
    rank = 0 if name == "PENDING" else 2 if name in ENDED else 1
    return str(told["@timestamp"]), str(told.get("job.run")), rank


def _row(told: dict[str, Any]) -> dict[str, Any]:
    nodes = told.get("job.nodes")
    return {
        "job": told.get("job.id"),
        "run": told.get("job.run"),
        "time": str(told["@timestamp"]),
        "seconds": None,
        "state": written(str(told["state.name"]), told.get("state.flags") or ()),
        "reason": told.get("state.reason"),
        "partition": told.get("partition"),
        "qos": told.get("qos"),
        "priority": told.get("job.priority"),
        "nodes": ",".join(map(str, nodes)) if isinstance(nodes, list) else None,
    }


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(one[name] == other[name] for name in one if name not in ("time", "seconds"))
