"""
Nodes as the scheduler saw them: states, time in each, availability.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from leadline.formats import Document
from leadline.formats.nodestate import REMOVED, written
from leadline.formats.times import parse_time
from leadline.reports.timeline import (
    GAP,
    TOLD,
    Interval,
    Span,
    availability,
    by_class,
    covered,
    spans,
)
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import Scope

BEFORE = timedelta(seconds=TOLD)  # a full set is sent each day: within it every node was told
REMEMBERED = timedelta(days=35)  # a node not told of for longer is none of the scheduler's
EXACT = timedelta(days=8)  # longer periods look only into hours that may have holes
HOUR = timedelta(hours=1)
WHOLE = 0.9  # share of the usual looks that makes an hour one without holes

Host = tuple[str, str]  # cluster and name


@dataclass(frozen=True, slots=True)
class Fleet:
    """
    Every node's documents and the time they speak for.
    """

    start: float
    end: float
    changes: Mapping[Host, list[Document]]
    looked: Mapping[str, list[Interval]]  # by cluster
    seen: frozenset[Host] = field(default_factory=frozenset)  # nodes that sent samples themselves

    def hosts(self) -> list[Host]:
        return sorted(self.changes)

    def timeline(self, host: Host) -> list[Span]:
        return spans(self.changes[host], self.looked.get(host[0], []), self.start, self.end)

    def latest(self, host: Host) -> Document:
        return self.changes[host][-1]

    def is_known(self, host: Host) -> bool:
        """
        Whether somebody looked lately, and was told of the node.
        """
        looked = self.looked.get(host[0], [])
        told = parse_time(str(self.latest(host)["@timestamp"])).timestamp()
        seen = max((last for _, last in looked), default=0.0)
        return seen >= self.end - GAP and told + TOLD >= self.end


def fleet(
    store: Store, scope: Scope, start: datetime, end: datetime, where: tuple[Condition, ...] = ()
) -> Fleet:
    """
    States from START to END; WHERE names clusters and hosts.
    """
    changes = _last_before(store, scope, start - BEFORE, where)
    for document in _states(store, scope, where, start - BEFORE, end):
        changes.setdefault(_host(document), []).append(document)
    clusters = tuple(sorted({cluster for cluster, _ in changes}))
    by_cluster = (Condition("cluster", Op.IN, clusters),) if clusters else ()
    looks = look_times(store, scope, start, end, by_cluster)
    return Fleet(
        start.timestamp(),
        end.timestamp(),
        changes,
        {cluster: covered(times) for cluster, times in looks.items()},
        _sampled(store, scope, start, end, by_cluster),
    )


def _states(
    store: Store, scope: Scope, where: tuple[Condition, ...], start: datetime, end: datetime
) -> Iterator[Document]:
    batches = store.scan(
        "node_state", scope, where=where, start=start, end=end, order=("@timestamp",)
    )
    for batch in batches:
        yield from batch


def _host(told: Mapping[str, object]) -> Host:
    return str(told.get("cluster", "")), str(told["host.name"])


def _last_before(
    store: Store, scope: Scope, start: datetime, where: tuple[Condition, ...]
) -> dict[Host, list[Document]]:
    """
    The last that was told of nodes before START: perhaps nobody asks, but they are there.
    """
    by = (Group("cluster"), Group("host.name"))
    last = Aggregate("last", Function.MAX, "@timestamp")
    rows = store.ask(Plan("node_state", (last,), by, where, start - REMEMBERED, start), scope)
    times = {_host(row): parse_time(str(row["last"])) for row in rows}
    if not times:
        return {}
    hosts = Condition("host.name", Op.IN, tuple(sorted({name for _, name in times})))
    since = min(times.values())
    found = {_host(d): [d] for d in _states(store, scope, (*where, hosts), since, start)}
    return {
        host: told
        for host, told in found.items()
        if host in times and told[0]["state.name"] != REMOVED
    }


def look_times(
    store: Store, scope: Scope, start: datetime, end: datetime, where: tuple[Condition, ...]
) -> dict[str, list[float]]:
    """
    When slurmctld was asked, by cluster. Of long periods only hours that have fewer looks than
    usual are read one by one; the others have none missing.
    """
    where = (*where, Condition("slurm.nodes", Op.EXISTS))
    first, last = start - timedelta(seconds=GAP), end + timedelta(seconds=GAP)
    if end - start <= EXACT:
        return _looks(store, scope, first, last, where)
    by = (Group("cluster"), Group("@timestamp", Bucket.HOUR))
    counted = (
        Aggregate("n", Function.COUNT),
        Aggregate("first", Function.MIN, "sample.time"),
        Aggregate("last", Function.MAX, "sample.time"),
    )
    rows = store.ask(Plan("node", counted, by, where, first, last), scope)
    found: dict[str, list[float]] = {}
    for cluster in {str(row["cluster"]) for row in rows}:
        hours = {str(row["@timestamp"]): row for row in rows if row["cluster"] == cluster}
        counts = sorted(int(row["n"] or 0) for row in hours.values())
        usual = counts[len(counts) // 2]
        own = (*where, Condition("cluster", Op.IN, (cluster,)))
        times = found.setdefault(cluster, [])
        holes: list[datetime] = []
        for hour, row in sorted(hours.items()):
            known = _whole_hour(row) if int(row["n"] or 0) >= WHOLE * usual else []
            times += known
            if not known:
                holes.append(parse_time(hour))
        for begin, until in _runs(holes):
            times += _looks(store, scope, begin, until, own).get(cluster, [])
    return found


def _runs(hours: list[datetime]) -> Iterator[tuple[datetime, datetime]]:
    """
    Neighbouring hours together.
    """
    begin = 0
    for at in range(1, len(hours) + 1):
        if at == len(hours) or hours[at] != hours[at - 1] + HOUR:
            yield hours[begin], hours[at - 1] + HOUR
            begin = at


def _whole_hour(row: Row) -> list[float]:
    """
    Looks of an hour that has none missing, as far as spans need them.
    """
    if row["first"] is None or row["last"] is None:
        return []
    begin, end = (parse_time(str(row[name])).timestamp() for name in ("first", "last"))
    steps = int((end - begin) // (GAP / 3)) + 1
    return [begin + (end - begin) * n / steps for n in range(steps + 1)]


def _looks(
    store: Store, scope: Scope, start: datetime, end: datetime, where: tuple[Condition, ...]
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    names = ("@timestamp", "cluster", "sample.time")
    for batch in store.scan("node", scope, where=where, start=start, end=end, fields=names):
        for document in batch:
            time = str(document.get("sample.time", document["@timestamp"]))
            cluster = str(document.get("cluster", ""))
            found.setdefault(cluster, []).append(parse_time(time).timestamp())
    return found


def _sampled(
    store: Store, scope: Scope, start: datetime, end: datetime, where: tuple[Condition, ...]
) -> frozenset[Host]:
    by = (Group("cluster"), Group("host.name"))
    plan = Plan("node", (Aggregate("n", Function.COUNT),), by, where, start, end)
    rows = store.ask(plan, scope)
    return frozenset((str(row["cluster"]), str(row["host.name"])) for row in rows)


def partitions_of(document: Document) -> list[str]:
    found = document.get("partitions")
    return sorted(str(name) for name in found) if isinstance(found, list) else []


def node_rows(fleet: Fleet) -> list[dict[str, Any]]:
    """
    One line a node: its state now, why, and what share of the period it was there.
    """
    rows = []
    for host in fleet.hosts():
        last = fleet.latest(host)
        timeline = fleet.timeline(host)
        seconds = by_class(timeline)
        rows.append(
            {
                "cluster": host[0],
                "node": host[1],
                "state": state_text(last),
                "reason": last.get("state.reason"),
                "by": last.get("state.reason_user"),
                "since": _since(timeline),
                "partitions": ",".join(partitions_of(last)),
                "cores": last.get("node.cores"),
                "gpus": last.get("gpu.total") or None,
                "availability": availability(seconds),
                **{f"{name}_seconds": value for name, value in seconds.items()},
            }
        )
    return rows


def state_text(document: Document) -> str:
    flags = document.get("state.flags")
    names = [str(flag) for flag in flags] if isinstance(flags, list) else []
    return written(str(document["state.name"]), names)


def _since(timeline: list[Span]) -> str | None:
    """
    Since when the last known state lasts; None where it began before the period.
    """
    last = next((span for span in reversed(timeline) if span.state), None)
    if last is None or last is timeline[0]:
        return None
    return datetime.fromtimestamp(last.start, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def group_rows(fleet: Fleet, by: str) -> list[dict[str, Any]]:
    """
    Availability of each cluster or partition: node-seconds up of those that are known. A node in
    two partitions counts in both.
    """
    groups: dict[tuple[str, str], dict[str, float]] = {}
    members: dict[tuple[str, str], int] = {}
    for host in fleet.hosts():
        seconds = by_class(fleet.timeline(host))
        names = partitions_of(fleet.latest(host)) if by == "partition" else [host[0]]
        for name in names:
            key = (host[0], name)
            total = groups.setdefault(key, dict.fromkeys(seconds, 0.0))
            members[key] = members.get(key, 0) + 1
            for kind, value in seconds.items():
                total[kind] += value
    return [
        {
            "cluster": key[0],
            by: key[1],
            "nodes": members[key],
            "availability": availability(total),  # type: ignore[arg-type]
            **{f"{kind}_seconds": value for kind, value in total.items()},
        }
        for key, total in sorted(groups.items())
    ]
