"""
Reservations that held nodes in a period: when, where, for whom, as the scheduler told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from leadline.formats import Document
from leadline.formats.times import format_time, parse_time
from leadline.render import Column
from leadline.store.contract import Store
from leadline.store.plan import Condition, Op
from leadline.store.scope import Scope

RULE = "slurm.reservation"
BEFORE = timedelta(days=366)  # a reservation is told when it is made, and when it changes
GONE = "gone"
MAINTENANCE = re.compile(r"\bflags [^;]*\bMAINT\b")
ALWAYS = "9999"  # after any time as text
COLUMNS = (
    Column("name", "Reservation"),
    Column("start", "From"),
    Column("end", "To"),
    Column("nodes", "Nodes", ""),
    Column("what", "Nodes, for whom", below=True),
    Column("cluster", "Cluster"),
)


def reservations(
    store: Store, scope: Scope, start: datetime, end: datetime, where: tuple[Condition, ...] = ()
) -> list[dict[str, Any]]:
    """
    One row for each time it was held, by its beginning; one that was deleted ends when it was.
    """
    asked = (*where, Condition("rule.name", Op.IN, (RULE,)))
    batches = store.scan(
        "event", scope, where=asked, start=start - BEFORE, end=end, order=("@timestamp",)
    )
    held: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for batch in batches:
        for event in batch:
            _take(held.setdefault((str(event["cluster"]), str(event["event.object"])), []), event)
    found = [
        {**row, "end": None if row["end"] == ALWAYS else row["end"]}
        for rows in held.values()
        for row in rows
        if _overlaps(row, start, end)
    ]
    return sorted(found, key=lambda row: (row["start"], row["cluster"], row["name"]))


def for_maintenance(row: Mapping[str, Any]) -> bool:
    """
    Nobody shall come.
    """
    return bool(MAINTENANCE.search(str(row["what"] or "")))


def _take(rows: list[dict[str, Any]], event: Document) -> None:
    """
    A change is of the same reservation when it begins at the same time.
    """
    told = str(event["@timestamp"])
    last = rows[-1] if rows else None
    if str(event.get("event.reason")) == GONE:
        if last is not None and last["end"] > told:
            last["end"] = told
        return
    nodes = event.get("event.names")
    row = {
        "cluster": event["cluster"],
        "name": event["event.object"],
        "start": str(event.get("event.start", told)),
        "end": str(event.get("event.end", ALWAYS)),
        "nodes": len(nodes) if isinstance(nodes, list) else 0,
        "hosts": nodes or [],
        "what": event.get("event.reason"),
    }
    if last is not None and last["start"] == row["start"]:
        rows[-1] = row
    else:
        if last is not None and last["end"] > told:
            last["end"] = max(last["start"], told)
        rows.append(row)


def _overlaps(row: dict[str, Any], start: datetime, end: datetime) -> bool:
    return parse_time(row["start"]) < end and row["end"] > format_time(start)
