"""
The nodes page: how busy each is now, and which have gone silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from flask import render_template

from leadline.formats.times import parse_time
from leadline.query import Filter, Question
from leadline.store.plan import Aggregate, Function, Group, Plan, Row
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet
from leadline.web.links import address
from leadline.web.sentences import clusters, when
from leadline.web.words import number, size

HOUR = timedelta(hours=1)
REMEMBERED = timedelta(days=31)  # a node silent for longer is gone

NOW = (
    Aggregate("busy", Function.SUM, "core_seconds"),
    Aggregate("span", Function.SUM, "interval.seconds"),
    Aggregate("cores", Function.MAX, "node.cores"),
    Aggregate("used", Function.MAX, "memory.used.bytes"),
    Aggregate("memory", Function.MAX, "memory.total.bytes"),
    Aggregate("users", Function.MAX, "users.count"),
)


@dataclass(frozen=True, slots=True)
class Line:
    cluster: str
    name: str
    link: str
    length: float
    busy: str
    cores: str
    memory: str
    memory_length: float
    cards: str
    users: str
    seen: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    sentence: str = ""
    lines: Sequence[Line] = ()
    silent: Sequence[Line] = ()
    empty: Sequence[str] = ()


def show() -> str:
    if newest_sample() is None:
        page = Page("Nodes", "", empty=nothing_yet())
        return render_template("nodes.html", page=page, refresh=10)
    now = desk().now
    present = {_key(row): row for row in _rows("node", NOW, now - HOUR, now)}
    cards = _cards(now)
    seen = _last_seen(now)
    lines = [_line(key, row, cards.get(key), seen.get(key)) for key, row in present.items()]
    gone = {key: moment for key, moment in seen.items() if key not in present}
    silent = [_line(key, {}, None, moment) for key, moment in sorted(gone.items())]
    page = Page(
        title=f"Nodes of {clusters()}",
        clusters=clusters(),
        sentence=_sentence(len(lines), [key[1] for key in sorted(gone)]),
        lines=sorted(lines, key=lambda line: (line.cluster, natural(line.name))),
        silent=silent,
    )
    return render_template("nodes.html", page=page, refresh=60)


def _sentence(count: int, gone: Sequence[str]) -> str:
    told = f"{count} {'node' if count == 1 else 'nodes'} sent samples within the last hour"
    if not gone:
        return f"{told}; none that was there in the last month is silent."
    names = ", ".join(gone[:5]) + (f" and {len(gone) - 5} more" if len(gone) > 5 else "")
    return f"{told}; {names} {'is' if len(gone) == 1 else 'are'} silent."


def natural(name: str) -> list[tuple[int, str]]:
    """
    Names in the order people count: c1-2 before c1-10.
    """
    parts = "".join(c if c.isdigit() else f" {c} " for c in name).split()
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _rows(
    dataset: str, wanted: tuple[Aggregate, ...], start: datetime, end: datetime, *more: str
) -> list[Row]:
    by = tuple(Group(name) for name in ("cluster", "host.name", *more))
    return desk().totals(Plan(dataset, wanted, by=by, start=start, end=end))


def _key(row: Row) -> tuple[str, str]:
    return str(row["cluster"]), str(row["host.name"])


def _cards(now: datetime) -> dict[tuple[str, str], tuple[float, int]]:
    """
    By node: how many cards are busy, of how many.
    """
    wanted = (
        Aggregate("busy", Function.SUM, "gpu_seconds"),
        Aggregate("span", Function.SUM, "interval.seconds"),
    )
    found: dict[tuple[str, str], tuple[float, int]] = {}
    for row in _rows("gpu", wanted, now - HOUR, now, "gpu.uuid"):
        busy, count = found.get(_key(row), (0.0, 0))
        found[_key(row)] = (busy + _ratio(row, "busy", "span"), count + 1)
    return found


def _last_seen(now: datetime) -> dict[tuple[str, str], datetime]:
    start = (now - REMEMBERED).replace(minute=0, second=0, microsecond=0)
    end = now.replace(minute=0, second=0, microsecond=0) + HOUR
    rows = _rows("node", (Aggregate("last", Function.MAX, "@timestamp"),), start, end)
    return {_key(row): parse_time(str(row["last"])) for row in rows if row["last"]}


def _number(row: Row, name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _ratio(row: Row, over: str, under: str) -> float:
    below = _number(row, under)
    return _number(row, over) / below if below else 0.0


def _line(
    key: tuple[str, str], row: Row, cards: tuple[float, int] | None, seen: datetime | None
) -> Line:
    cluster, name = key
    asked = Question(
        by=("program",), where=(Filter("host", (name,)),), period="last 7 days", top=10
    )
    busy, cores = _ratio(row, "busy", "span"), _number(row, "cores")
    return Line(
        cluster=cluster,
        name=name,
        link=address(asked),
        length=min(100.0, 100 * busy / cores) if cores else 0.0,
        busy=number(busy, "hours") if row else "–",
        cores=number(cores) if cores else "–",
        memory=f"{size(_number(row, 'used'))} of {size(_number(row, 'memory'))}"
        if row.get("memory")
        else "–",
        memory_length=min(100.0, 100 * _ratio(row, "used", "memory")),
        cards=f"{number(cards[0], 'hours')} of {cards[1]}" if cards else "",
        users=number(row.get("users")) if row else "–",
        seen=when(seen) if seen else "",
    )
