"""
What samples tell of a job: its use over time, by node, by card, by program.

Snapshots of several nodes are taken within one interval of each other; they are laid on a common
grid of intervals ("ticks") before they are summed. A tick without a sample is a gap, never 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from leadline.formats.times import parse_time
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING, Scope

Series = tuple[float | None, ...]

SUMS = (
    Aggregate("cpu", Function.SUM, "core_seconds"),
    Aggregate("memory", Function.SUM, "memory.rss.bytes"),
    Aggregate("gpu", Function.SUM, "gpu_seconds"),
    Aggregate("interval", Function.MAX, "interval.seconds"),
    Aggregate("read", Function.SUM, "io.read.bytes"),
    Aggregate("written", Function.SUM, "io.write.bytes"),
    Aggregate("n", Function.COUNT),
)
USED = 0.01  # a card below one percent was not used


@dataclass(frozen=True, slots=True)
class Profile:
    """
    Use by tick: cores busy, bytes resident, cards busy, bytes moved a second.
    """

    start: datetime | None = None
    end: datetime | None = None
    interval: float = 60.0
    samples: int = 0
    cores: Series = ()
    memory: Series = ()
    gpus: Series = ()
    io: Series = ()

    def mean(self, series: Series) -> float | None:
        known = [value for value in series if value is not None]
        return sum(known) / len(known) if known else None

    def peak(self, series: Series) -> float | None:
        return max((value for value in series if value is not None), default=None)

    @property
    def watched(self) -> float:
        """
        Seconds that samples speak for.
        """
        return self.interval * sum(value is not None for value in self.memory)

    @property
    def missing(self) -> int:
        return sum(value is None for value in self.memory)


@dataclass(frozen=True, slots=True)
class Card:
    host: str
    name: str  # GPU 0, or its uuid where the number is not known
    model: str | None
    mean: float | None  # cards: 1 is the whole card, busy all the time
    peak_memory: float | None
    series: Series

    @property
    def used(self) -> bool:
        return (self.mean or 0) >= USED


@dataclass(frozen=True, slots=True)
class Node:
    host: str
    cores: float | None  # mean
    peak_memory: float | None


@dataclass(frozen=True, slots=True)
class Share:
    name: str | None  # None: no rule names it
    core_hours: float
    share: float | None


@dataclass(frozen=True, slots=True)
class Seen:
    profile: Profile
    nodes: tuple[Node, ...]
    cards: tuple[Card, ...]
    programs: tuple[Share, ...]
    user: str | None
    gpus_watched: bool = False  # somebody looked at the cards of these nodes


def profile(
    store: Store,
    scope: Scope,
    where: tuple[Condition, ...],
    start: datetime | None,
    end: datetime | None,
) -> Seen:
    plan = Plan("process", SUMS, where=where, start=start, end=end)
    rows = store.ask(_by(plan, "host.name", "@timestamp"), scope)
    if not rows:
        return Seen(Profile(), (), (), (), None)
    interval = median(float(row["interval"] or 60) for row in rows)
    seen = _on_grid(rows, interval)
    user = store.ask(_by(plan, "user.name"), scope)
    nodes = _nodes(rows)
    return Seen(
        seen,
        nodes,
        _cards(store, scope, plan, seen),
        _programs(store.ask(_by(plan, "program.name"), scope)),
        str(user[0]["user.name"]) if len(user) == 1 and user[0]["user.name"] else None,
        _gpus_watched(store, nodes, seen),
    )


def _gpus_watched(store: Store, nodes: Sequence[Node], seen: Profile) -> bool:
    """
    Whether an idle card would have been noticed; which cards a node has is nobody's secret.
    """
    hosts = Condition("host.name", Op.IN, tuple(node.host for node in nodes))
    counted = (Aggregate("n", Function.COUNT, "gpu_seconds"),)
    plan = Plan("gpu", counted, where=(hosts,), start=seen.start, end=seen.end)
    return bool(store.ask(plan, EVERYTHING)[0]["n"])


def _by(plan: Plan, *fields: str) -> Plan:
    return Plan(
        plan.dataset,
        plan.aggregates,
        tuple(Group(name) for name in fields),
        plan.where,
        plan.start,
        plan.end,
    )


def _tick(row: Row, interval: float) -> int:
    return int(parse_time(str(row["@timestamp"])).timestamp() // interval)


def _on_grid(rows: Sequence[Row], interval: float) -> Profile:
    ticks: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        ticks[_tick(row, interval)].append(row)
    first, last = min(ticks), max(ticks)
    grid = [ticks.get(tick, []) for tick in range(first, last + 1)]
    times = sorted(str(row["@timestamp"]) for row in rows)
    return Profile(
        start=datetime.fromtimestamp(parse_time(times[0]).timestamp() - interval / 2, UTC),
        end=datetime.fromtimestamp(parse_time(times[-1]).timestamp() + interval / 2, UTC),
        interval=interval,
        samples=sum(int(row["n"] or 0) for row in rows),
        cores=tuple(_rate(tick, "cpu") for tick in grid),
        memory=tuple(_sum(tick, "memory") for tick in grid),
        gpus=tuple(_rate(tick, "gpu") for tick in grid),
        io=tuple(_rate(tick, "read", "written") for tick in grid),
    )


def _sum(rows: Sequence[Row], name: str) -> float | None:
    known = [float(value) for row in rows if (value := row[name]) is not None]
    return sum(known) if known else None


def _rate(rows: Sequence[Row], *names: str) -> float | None:
    """
    Per second of the interval each row speaks for; a shorter first one is not watered down.
    """
    known = [
        float(value) / float(row["interval"] or 60)
        for row in rows
        for name in names
        if (value := row[name]) is not None
    ]
    return sum(known) if known else None


def _nodes(rows: Sequence[Row]) -> tuple[Node, ...]:
    by_host: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_host[str(row["host.name"])].append(row)
    found = []
    for host, members in sorted(by_host.items()):
        cores = [rate for row in members if (rate := _rate([row], "cpu")) is not None]
        memory = [float(row["memory"]) for row in members if row["memory"] is not None]
        mean = sum(cores) / len(cores) if cores else None
        found.append(Node(host, mean, max(memory, default=None)))
    return tuple(found)


def _programs(rows: Sequence[Row]) -> tuple[Share, ...]:
    whole = sum(float(row["cpu"] or 0) for row in rows)
    found = [
        Share(
            None if row["program.name"] is None else str(row["program.name"]),
            float(row["cpu"] or 0) / 3600,
            float(row["cpu"] or 0) / whole if whole else None,
        )
        for row in rows
    ]
    return tuple(sorted(found, key=lambda share: (-share.core_hours, share.name or "~")))


def _cards(store: Store, scope: Scope, plan: Plan, seen: Profile) -> tuple[Card, ...]:
    aggregates = (
        Aggregate("gpu", Function.SUM, "gpu_seconds"),
        Aggregate("memory", Function.SUM, "gpu.memory.bytes"),
        Aggregate("interval", Function.MAX, "interval.seconds"),
        Aggregate("index", Function.MAX, "gpu.index"),
        Aggregate("model", Function.MAX, "gpu.model"),
    )
    asked = Plan("process_gpu", aggregates, (), plan.where, plan.start, plan.end)
    rows = store.ask(_by(asked, "host.name", "gpu.uuid", "@timestamp"), scope)
    by_card: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_card[str(row["host.name"]), str(row["gpu.uuid"])].append(row)
    first = int(seen.start.timestamp() + seen.interval / 2) // seen.interval if seen.start else 0
    found = [
        _card(host, uuid, members, seen, int(first)) for (host, uuid), members in by_card.items()
    ]
    return tuple(sorted(found, key=lambda card: (card.host, card.name)))


def _card(host: str, uuid: str, rows: Sequence[Row], seen: Profile, first: int) -> Card:
    """
    A card's use over the job's grid; where the job was seen and the card was not, it was idle.
    """
    series: list[float | None] = [None if value is None else 0.0 for value in seen.memory]
    for row in rows:
        place = _tick(row, seen.interval) - first
        if 0 <= place < len(series) and row["gpu"] is not None:
            series[place] = (series[place] or 0.0) + float(row["gpu"]) / float(
                row["interval"] or seen.interval
            )
    known = [value for value in series if value is not None]
    index, memory = rows[0]["index"], [float(r["memory"]) for r in rows if r["memory"] is not None]
    return Card(
        host,
        f"GPU {index}" if index is not None else uuid,
        None if rows[0]["model"] is None else str(rows[0]["model"]),
        sum(known) / len(known) if known else None,
        max(memory, default=None),
        tuple(series),
    )
