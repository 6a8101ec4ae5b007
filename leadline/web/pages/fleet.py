"""
What the pages of nodes ask: how busy each is and was, its cards, its states. Nodes as a whole are
nobody's secret, so everybody who sees a page sees them; who wrote a reason is told to admins only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from leadline.formats.times import parse_time
from leadline.reports.cards import Failing, failing_cards
from leadline.reports.nodes import Fleet
from leadline.reports.nodes import fleet as states
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING
from leadline.web.asking import desk
from leadline.web.strips import Cells
from leadline.web.words import stamp

HOUR = timedelta(hours=1)
MOST_ROWS = 48  # of the heat map; more nodes than that share a row
Host = tuple[str, str]  # cluster and name

WHOLE = Condition("job.id", Op.MISSING)  # the node, not the part a job has of it
RATE = (
    Aggregate("busy", Function.SUM, "core_seconds"),
    Aggregate("span", Function.SUM, "interval.seconds"),
    Aggregate("cores", Function.MAX, "node.cores"),
)


def host_of(row: Row) -> Host:
    return str(row["cluster"]), str(row["host.name"])


def amount(row: Row, name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def ratio(row: Row, over: str, under: str) -> float:
    below = amount(row, under)
    return amount(row, over) / below if below else 0.0


def natural(name: str) -> list[tuple[int, str]]:
    """
    Names in the order people count: c1-2 before c1-10.
    """
    parts = "".join(c if c.isdigit() else f" {c} " for c in name).split()
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def asked(
    dataset: str,
    wanted: Sequence[Aggregate],
    by: Sequence[str | Group],
    start: datetime,
    end: datetime,
    *where: Condition,
) -> list[Row]:
    groups = tuple(Group(name) if isinstance(name, str) else name for name in by)
    return desk().totals(Plan(dataset, tuple(wanted), by=groups, where=where, start=start, end=end))


def told(start: datetime, end: datetime, *where: Condition) -> Fleet:
    """
    States as the scheduler told them.
    """
    store = desk().open()
    return desk().once(
        ("states", start, end, where), lambda: states(store, EVERYTHING, start, end, where)
    )


def failing(now: datetime) -> Failing:
    """
    Cards whose driver reports a fault now: one answer for pages and metrics.
    """
    store = desk().open()
    return desk().once(("failing", now), lambda: failing_cards(store, EVERYTHING, now))


def hours_of_day(now: datetime) -> tuple[datetime, datetime]:
    """
    The last 24 hours, whole ones.
    """
    end = now.replace(minute=0, second=0, microsecond=0) + HOUR
    return end - 24 * HOUR, end


def last_day(now: datetime) -> Cells | None:
    """
    The share of each node's cores that was busy in each of the last 24 hours.
    """
    start, end = hours_of_day(now)
    by = ("cluster", "host.name", Group("@timestamp", Bucket.HOUR))
    shares: dict[Host, dict[datetime, float]] = {}
    for row in asked("node", RATE, by, start, end, WHOLE):
        if row["cores"]:
            share = ratio(row, "busy", "span") / amount(row, "cores")
            shares.setdefault(host_of(row), {})[parse_time(str(row["@timestamp"]))] = share
    if not shares:
        return None
    hours = [start + number * HOUR for number in range(24)]
    hosts = sorted(shares, key=lambda host: (host[0], natural(host[1])))
    several = len({cluster for cluster, _name in hosts}) > 1
    zone = desk().site.zone
    columns = [
        f"{hour.astimezone(zone):%H}" if hour.astimezone(zone).hour % 3 == 0 else ""
        for hour in hours
    ]
    return Cells(_rows(hosts, shares, hours, several), columns)


def _rows(
    hosts: Sequence[Host],
    shares: Mapping[Host, Mapping[datetime, float]],
    hours: Sequence[datetime],
    several: bool,
) -> dict[str, list[float | None]]:
    each = -(-len(hosts) // MOST_ROWS)
    rows: dict[str, list[float | None]] = {}
    for place in range(0, len(hosts), each):
        members = hosts[place : place + each]
        first, last = members[0], members[-1]
        name = "/".join(first) if several else first[1]
        if first != last:
            name = f"{name}–{last[1]}"
        rows[name] = [_mean([shares[host].get(hour) for host in members]) for hour in hours]
    return rows


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class Cards:
    """
    The cards of one model, over the last hour.
    """

    count: int
    busy: float
    memory: float | None  # share of 1
    hottest: float | None
    failing: int


def cards(now: datetime, *where: Condition) -> dict[tuple[str, str], Cards]:
    wanted = (
        Aggregate("busy", Function.SUM, "gpu_seconds"),
        Aggregate("span", Function.SUM, "interval.seconds"),
        Aggregate("memory", Function.MAX, "gpu.memory.bytes"),
        Aggregate("fitted", Function.MAX, "gpu.memory.total.bytes"),
        Aggregate("hot", Function.MAX, "temperature.celsius"),
        Aggregate("failing", Function.COUNT, where=(Condition("gpu.failing", Op.IN, (True,)),)),
    )
    by = ("cluster", "host.name", "gpu.uuid", "gpu.model")
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in asked("gpu", wanted, by, now - HOUR, now, *where):
        groups.setdefault((str(row["cluster"]), str(row["gpu.model"] or "")), []).append(row)
    return {key: _cards(rows) for key, rows in sorted(groups.items())}


def _cards(rows: Sequence[Row]) -> Cards:
    fitted = sum(amount(row, "fitted") for row in rows)
    return Cards(
        count=len({row["gpu.uuid"] for row in rows}),
        busy=sum(ratio(row, "busy", "span") for row in rows),
        memory=sum(amount(row, "memory") for row in rows) / fitted if fitted else None,
        hottest=max((amount(row, "hot") for row in rows if row["hot"] is not None), default=None),
        failing=sum(amount(row, "failing") > 0 for row in rows),
    )


def clock(moment: float) -> str:
    return stamp(datetime.fromtimestamp(moment, desk().site.zone))
