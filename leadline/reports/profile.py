"""
What samples tell of a job: its use over time, by node, by card, by program.

Snapshots of several nodes are taken within one interval of each other; they are laid on a common
grid of intervals ("ticks") before they are summed. A tick without a sample is a gap, never 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from leadline.formats.times import parse_time
from leadline.reports.grid import Grid, grid_of
from leadline.reports.job_cards import Card, Series, cards_of, watched
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING, Scope

SUMS = (
    Aggregate("cpu", Function.SUM, "core_seconds"),
    Aggregate("memory", Function.SUM, "memory.rss.bytes"),
    Aggregate("gpu", Function.SUM, "gpu_seconds"),
    Aggregate("interval", Function.MAX, "interval.seconds"),
    Aggregate("read", Function.SUM, "io.read.bytes"),
    Aggregate("written", Function.SUM, "io.write.bytes"),
    Aggregate("n", Function.COUNT),
)

SHORT_LIVED = "(short-lived)"  # as a program
NOTABLE = 0.01  # less of all CPU time is not told as short-lived


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
    def core_seconds(self) -> float | None:
        known = [value for value in self.cores if value is not None]
        return self.interval * sum(known) if known else None

    @property
    def missing(self) -> int:
        return sum(value is None for value in self.memory)


@dataclass(frozen=True, slots=True)
class Node:
    host: str
    cores: float | None  # mean; None: not sampled
    peak_memory: float | None  # None: not sampled, or no process of the job was seen there


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
    job: str,
    start: datetime | None,
    end: datetime | None,
) -> Seen:
    where = (Condition("job.id", Op.IN, (job,)),)
    plan = Plan("process", SUMS, where=where, start=start, end=end)
    rows = store.ask(_by(plan, "host.name", "@timestamp"), scope)
    if not rows:
        return Seen(Profile(), (), (), (), None)
    groups = _control_groups(store, plan, rows)
    programs = _programs(store.ask(_by(plan, "program.name"), scope), _short_lived(rows, groups))
    rows = [{**row, **groups.get(_snapshot(row), {})} for row in rows]
    interval = median(float(row["interval"] or 60) for row in rows)
    grid = grid_of(rows, interval)
    seen = _on_grid(rows, grid)
    user = store.ask(_by(plan, "user.name"), scope)
    nodes = _nodes(rows)
    hosts = [node.host for node in nodes]
    during = Plan("gpu", (), start=seen.start, end=seen.end)
    return Seen(
        seen,
        nodes,
        cards_of(store, scope, plan, grid, [value is not None for value in seen.memory]),
        programs,
        str(user[0]["user.name"]) if len(user) == 1 and user[0]["user.name"] else None,
        watched(store, job.partition("/")[0], hosts, during),
    )


def _snapshot(row: Row) -> tuple[str, str]:
    return str(row["host.name"]), str(row["@timestamp"])


def _control_groups(
    store: Store, plan: Plan, rows: Sequence[Row]
) -> dict[tuple[str, str], dict[str, float]]:
    """
    What the kernel counted for the job as a whole, at snapshots in which its processes were seen:
    short-lived processes are in it, and memory that several share is in it once.
    """
    aggregates = (
        Aggregate("cpu", Function.SUM, "core_seconds"),
        Aggregate("used", Function.SUM, "memory.used.bytes"),
        Aggregate("cached", Function.SUM, "memory.cached.bytes"),
    )
    by = (Group("host.name"), Group("@timestamp"))
    asked = Plan("job_cgroup", aggregates, by, plan.where, plan.start, plan.end)
    known = {_snapshot(row) for row in rows}
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in store.ask(asked, EVERYTHING):
        if _snapshot(row) in known:
            told = found.setdefault(_snapshot(row), {})
            if row["cpu"] is not None:
                told["cpu"] = float(row["cpu"])
            if row["used"] is not None and row["cached"] is not None:
                told["memory"] = max(0.0, float(row["used"]) - float(row["cached"]))
    return found


def _short_lived(
    rows: Sequence[Row], groups: Mapping[tuple[str, str], Mapping[str, float]]
) -> float:
    """
    Core seconds of processes that came and went between two looks.
    """
    return sum(
        max(0.0, groups.get(_snapshot(row), {}).get("cpu", 0.0) - float(row["cpu"]))
        for row in rows
        if row["cpu"] is not None
    )


def _by(plan: Plan, *fields: str) -> Plan:
    return Plan(
        plan.dataset,
        plan.aggregates,
        tuple(Group(name) for name in fields),
        plan.where,
        plan.start,
        plan.end,
    )


def _on_grid(rows: Sequence[Row], grid: Grid) -> Profile:
    ticks: dict[int, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        ticks[grid.tick(row)][str(row["host.name"])].append(row)
    found = [list(ticks[tick].values()) if tick in ticks else [] for tick in range(max(ticks) + 1)]
    interval = grid.interval
    times = sorted(str(row["@timestamp"]) for row in rows)
    return Profile(
        start=datetime.fromtimestamp(parse_time(times[0]).timestamp() - interval / 2, UTC),
        end=datetime.fromtimestamp(parse_time(times[-1]).timestamp() + interval / 2, UTC),
        interval=interval,
        samples=sum(int(row["n"] or 0) for row in rows),
        cores=tuple(_rate(tick, "cpu") for tick in found),
        memory=tuple(_held(tick, "memory") for tick in found),
        gpus=tuple(_rate(tick, "gpu") for tick in found),
        io=tuple(_rate(tick, "read", "written") for tick in found),
    )


def _held(nodes: Sequence[Sequence[Row]], name: str) -> float | None:
    """
    Of all nodes together; of a node that looked twice within the interval the most.
    """
    known = [[float(value) for row in rows if (value := row[name]) is not None] for rows in nodes]
    most = [max(values) for values in known if values]
    return sum(most) if most else None


def _rate(nodes: Sequence[Sequence[Row]], *names: str) -> float | None:
    """
    Per second of the time each node's rows speak for; a shorter first one is not watered down.
    """
    rates = [
        rate for rows in nodes for name in names if (rate := _one_rate(rows, name)) is not None
    ]
    return sum(rates) if rates else None


def _one_rate(rows: Sequence[Row], name: str) -> float | None:
    told = [row for row in rows if row[name] is not None]
    seconds = sum(float(row["interval"] or 60) for row in told)
    return sum(float(row[name] or 0) for row in told) / seconds if told else None


def _nodes(rows: Sequence[Row]) -> tuple[Node, ...]:
    by_host: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_host[str(row["host.name"])].append(row)
    found = []
    for host, members in sorted(by_host.items()):
        cores = [rate for row in members if (rate := _one_rate([row], "cpu")) is not None]
        memory = [float(row["memory"]) for row in members if row["memory"] is not None]
        mean = sum(cores) / len(cores) if cores else None
        found.append(Node(host, mean, max(memory, default=None)))
    return tuple(found)


def _programs(rows: Sequence[Row], short_lived: float) -> tuple[Share, ...]:
    seconds = {row["program.name"]: float(row["cpu"] or 0) for row in rows}
    whole = sum(seconds.values()) + short_lived
    if short_lived > NOTABLE * whole:
        seconds[SHORT_LIVED] = short_lived
    found = [
        Share(None if name is None else str(name), used / 3600, used / whole if whole else None)
        for name, used in seconds.items()
    ]
    return tuple(sorted(found, key=lambda share: (-share.core_hours, share.name or "~")))
