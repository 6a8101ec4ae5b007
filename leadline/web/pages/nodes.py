"""
The nodes page: how busy each is now and was in the last day, their cards, and which went silent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from flask import render_template, request, url_for

from leadline.formats.times import parse_time
from leadline.language import _, ngettext, said
from leadline.query import Question
from leadline.reports.cards import card_rows
from leadline.reports.nodes import Fleet, node_rows
from leadline.store.plan import Aggregate, Function, Row
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet
from leadline.web.links import address, exports
from leadline.web.pages.fleet import (
    HOUR,
    RATE,
    WHOLE,
    Cards,
    Host,
    amount,
    asked,
    cards,
    failing,
    host_of,
    last_day,
    natural,
    ratio,
    told,
)
from leadline.web.paging import ALONE, Leaf, begin, fitted, leaf
from leadline.web.sentences import clusters, when
from leadline.web.strips import heat
from leadline.web.words import number, percent, size

BUSY = Question(by=("host",), bucket="hour", period="last 24 hours", top=1000)
REMEMBERED = timedelta(days=31)  # a node silent for longer is gone

NOW = (
    *RATE,
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
    state: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    cluster: str
    name: str
    count: str
    busy: str
    length: float
    memory: str
    hottest: str
    failing: str
    allocated: str
    idle: str
    unusable: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    sentence: str = ""
    heat: str = ""
    heat_table: str = ""
    exports: Sequence[tuple[str, str]] = ()
    models: Sequence[Model] = ()
    states: bool = False
    lines: Sequence[Line] = ()
    leaf: Leaf = ALONE
    silent: Sequence[Line] = ()
    empty: Sequence[str] = ()


def show() -> str:
    if newest_sample() is None:
        page = Page(_("Nodes"), "", empty=nothing_yet())
        return render_template("nodes.html", page=page, refresh=10)
    first = begin(request.args.get("cursor", ""))
    now = desk().now
    present = {host_of(row): row for row in _rows(NOW, now - HOUR, now)}
    seen = _last_seen(now)
    known = told(*_today(now))
    states = {(row["cluster"], row["node"]): str(row["state"]) for row in node_rows(known)}
    busy = _busy_cards(now)
    lines = [
        _line(key, row, busy.get(key), seen.get(key), states.get(key, ""))
        for key, row in present.items()
    ]
    gone = {key: moment for key, moment in seen.items() if key not in present}
    silent = [
        _line(key, {}, None, moment, states.get(key, "")) for key, moment in sorted(gone.items())
    ]
    lines.sort(key=lambda line: (line.cluster, natural(line.name)))
    cells = None if first else last_day(now)
    page = Page(
        title=_("Nodes of {clusters}").format(clusters=clusters()),
        clusters=clusters(),
        sentence=_sentence(len(lines), [key[1] for key in sorted(gone)]),
        heat=heat(cells, _("Share of the cores busy, by node and hour")) if cells else "",
        heat_table=address(BUSY),
        exports=exports(BUSY, picture="heat"),
        models=[] if first else _models(now, known),
        states=bool(states),
    )
    every, count = [*silent, *lines], len(silent)

    def draw(most: int) -> str:
        """
        The silent ones stand first, on the page and on the pages behind it.
        """
        part = every[first : first + most]
        found = replace(
            page,
            silent=part[: max(0, count - first)],
            lines=part[max(0, count - first) :],
            leaf=leaf(first, len(every), len(part), _to),
        )
        return render_template("nodes.html", page=found, refresh=0 if first else 60)

    return fitted(draw, len(every))


def _to(place: str) -> str:
    return url_for("nodes", cursor=place or None)


def _today(now: datetime) -> tuple[datetime, datetime]:
    end = now.replace(minute=now.minute - now.minute % 5, second=0, microsecond=0)
    return end - 24 * HOUR, end


def _sentence(count: int, gone: Sequence[str]) -> str:
    sent = ngettext(
        "{count} node sent samples within the last hour",
        "{count} nodes sent samples within the last hour",
        count,
    ).format(count=number(count))
    if not gone:
        words = _("{sent}; none that was there in the last month is silent.")
        return words.format(sent=sent)
    names = ", ".join(gone[:5])
    if len(gone) > 5:
        names = _("{names} and {count} more").format(names=names, count=number(len(gone) - 5))
    words = ngettext("{sent}; {names} is silent.", "{sent}; {names} are silent.", len(gone))
    return words.format(sent=sent, names=names)


def _rows(wanted: Sequence[Aggregate], start: datetime, end: datetime) -> list[Row]:
    return asked("node", wanted, ("cluster", "host.name"), start, end, WHOLE)


def _busy_cards(now: datetime) -> dict[Host, tuple[float, int]]:
    """
    By node: how many cards are busy, of how many.
    """
    wanted = (
        Aggregate("busy", Function.SUM, "gpu_seconds"),
        Aggregate("span", Function.SUM, "interval.seconds"),
    )
    found: dict[Host, tuple[float, int]] = {}
    for row in asked("gpu", wanted, ("cluster", "host.name", "gpu.uuid"), now - HOUR, now):
        busy, count = found.get(host_of(row), (0.0, 0))
        found[host_of(row)] = (busy + ratio(row, "busy", "span"), count + 1)
    return found


def _last_seen(now: datetime) -> dict[Host, datetime]:
    end = now.replace(minute=0, second=0, microsecond=0) + HOUR
    rows = _rows((Aggregate("last", Function.MAX, "@timestamp"),), end - REMEMBERED, end)
    return {host_of(row): parse_time(str(row["last"])) for row in rows if row["last"]}


def _models(now: datetime, known: Fleet) -> list[Model]:
    """
    Cards by model: measured where they are watched, counted where the scheduler tells.
    """
    watched = cards(now)
    rows = card_rows(known, failing(now))
    counted = {(str(row["cluster"]), str(row["model"])): row for row in rows}
    return [
        _model(key, watched.get(key), counted.get(key, {})) for key in sorted({*watched, *counted})
    ]


def _model(key: tuple[str, str], seen: Cards | None, counted: Mapping[str, Any]) -> Model:
    def told(name: str) -> str:
        return number(counted[name]) if counted else "–"

    reasons = counted.get("reasons") or {}
    return Model(
        cluster=key[0],
        name=key[1] or _("unknown model"),
        count=number(seen.count) if seen else told("total"),
        busy=number(seen.busy, "hours") if seen else "–",
        length=min(100.0, 100 * seen.busy / seen.count) if seen and seen.count else 0.0,
        memory=percent(seen.memory) if seen and seen.memory is not None else "–",
        hottest=f"{number(round(seen.hottest))} °C" if seen and seen.hottest is not None else "–",
        failing=number(seen.failing) if seen and seen.failing else "",
        allocated=told("allocated"),
        idle=told("idle"),
        unusable="; ".join(f"{number(count)} {said(why)}" for why, count in reasons.items()),
    )


def _line(
    key: Host, row: Row, busy_cards: tuple[float, int] | None, seen: datetime | None, state: str
) -> Line:
    cluster, name = key
    busy, cores = ratio(row, "busy", "span"), amount(row, "cores")
    memory = "–"
    if row.get("memory"):
        memory = _("{part} of {whole}").format(
            part=size(amount(row, "used")), whole=size(amount(row, "memory"))
        )
    watched = ""
    if busy_cards:
        watched = _("{part} of {whole}").format(
            part=number(busy_cards[0], "hours"), whole=number(busy_cards[1])
        )
    return Line(
        cluster=cluster,
        name=name,
        link=url_for("node", cluster=cluster, host=name),
        length=min(100.0, 100 * busy / cores) if cores else 0.0,
        busy=number(busy, "hours") if row else "–",
        cores=number(cores) if cores else "–",
        memory=memory,
        memory_length=min(100.0, 100 * ratio(row, "used", "memory")),
        cards=watched,
        users=number(row.get("users")) if row else "–",
        seen=when(seen) if seen else "",
        state=state,
    )
