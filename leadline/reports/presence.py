"""
Who had a job where and when, as the scheduler told: what a stray process is judged by.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leadline.formats import Document
from leadline.formats.runs import ENDED
from leadline.formats.times import epoch_seconds
from leadline.reports.nodes import BEFORE, Host, look_times
from leadline.reports.timeline import Interval, covered
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import Scope

GRACE = 300.0  # seconds after a job's end in which what is left of it may still go
FIELDS = (
    *("@timestamp", "cluster", "job.run", "user.name"),
    *("job.nodes", "job.start", "job.end", "state.name"),
)
Owner = tuple[str, str, str]  # cluster, host, user


@dataclass(frozen=True, slots=True)
class Presence:
    """
    Jobs of some users on some nodes. Only nodes that the scheduler has can be judged, and only in
    time it was asked.
    """

    ruled: frozenset[Host]
    looked: Mapping[str, list[Interval]]
    jobs: Mapping[Owner, list[Interval]]

    def had_job(self, host: Host, user: str, first: str, last: str) -> bool | None:
        """
        Whether USER had a job on HOST at any time between FIRST and LAST; None where the
        scheduler does not have the node, or nobody asked it then.
        """
        begin, end = epoch_seconds(first), epoch_seconds(last)
        asked = any(a <= begin and end <= b for a, b in self.looked.get(host[0], ()))
        if host not in self.ruled or not asked:
            return None
        return any(a <= end and begin <= b for a, b in self.jobs.get((*host, user), ()))


def presence(
    store: Store, scope: Scope, start: datetime, end: datetime, owners: Collection[Owner]
) -> Presence:
    """
    What the scheduler told of OWNERS' jobs on their nodes from START to END.
    """
    clusters = tuple(sorted({cluster for cluster, _, _ in owners}))
    there = (Condition("cluster", Op.IN, clusters),)
    by = (Group("cluster"), Group("host.name"))
    known = Plan("node_state", (Aggregate("n", Function.COUNT),), by, there, start - BEFORE, end)
    ruled = {(str(r["cluster"]), str(r["host.name"])) for r in store.ask(known, scope)}
    if not ruled:
        return Presence(frozenset(), {}, {})
    looks = look_times(store, scope, start, end, there)
    told = _told(store, scope, start, end, owners, there)
    jobs: dict[Owner, list[Interval]] = {}
    for documents in told.values():
        for owner, interval in _lives(documents):
            jobs.setdefault(owner, []).append(interval)
    looked = {cluster: covered(times) for cluster, times in looks.items()}
    return Presence(frozenset(ruled), looked, jobs)


def _told(
    store: Store,
    scope: Scope,
    start: datetime,
    end: datetime,
    owners: Collection[Owner],
    where: tuple[Condition, ...],
) -> dict[str, list[Document]]:
    """
    States of the runs that had nodes, by run and time. A run that lasts is told each day anew.
    """
    users = tuple(sorted({user for _, _, user in owners}))
    where = (
        *where,
        Condition("user.name", Op.IN, users),
        Condition("job.nodes", Op.EXISTS),
    )
    found: dict[str, list[Document]] = {}
    batches = store.scan(
        "job_state",
        scope,
        where=where,
        start=start - BEFORE,
        end=end,
        fields=FIELDS,
        order=("@timestamp",),
    )
    for batch in batches:
        for document in batch:
            found.setdefault(str(document["job.run"]), []).append(document)
    return found


def _lives(documents: list[Document]) -> list[tuple[Owner, Interval]]:
    """
    From a run's start to its end, and GRACE; a run whose end nobody told lasts until the next
    daily telling would have come.
    """
    first, last = documents[0], documents[-1]
    begin = epoch_seconds(str(first.get("job.start", first["@timestamp"])))
    end = epoch_seconds(str(last["@timestamp"])) + BEFORE.total_seconds()
    if str(last["state.name"]) in ENDED:
        end = epoch_seconds(str(last.get("job.end", last["@timestamp"]))) + GRACE
    nodes: Any = last.get("job.nodes", ())
    user, cluster = str(last.get("user.name", "")), str(last["cluster"])
    return [((cluster, str(node), user), (begin, end)) for node in nodes]
