"""
A node over time: cores, memory and cards, in its page and as files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from flask import request
from werkzeug.wrappers import Response

from leadline.errors import QuestionError
from leadline.formats.times import EARLIEST, parse_time
from leadline.language import _
from leadline.query import Period
from leadline.render import Column, Table
from leadline.render.charts.profile import Track, tracks
from leadline.reports.picture import clock_time
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Row
from leadline.web.asking import desk
from leadline.web.export import FORMS, as_file
from leadline.web.pages.fleet import HOUR, RATE, WHOLE, amount, asked, ratio

DEFAULT = "last 7 days"
MOST_HOURS = 31 * 24  # drawn by the hour; longer spans by the day
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Course:
    """
    What was busy over time; no tracks where too little is known.
    """

    tracks: Sequence[Track] = ()
    first: datetime = EARLIEST
    step: timedelta = HOUR

    def spec(self) -> dict[str, object]:
        return tracks(self.tracks, self._shown(), self.step)

    def table(self) -> Table:
        """
        A row for each hour or day, a column for each track.
        """
        columns = (Column("time", "time"), *(Column(t.title, t.title) for t in self.tracks))
        times = [self._shown() + place * self.step for place in range(len(self.tracks[0].values))]
        rows = tuple(
            {"time": f"{time:%Y-%m-%dT%H:%M}", **{t.title: t.values[n] for t in self.tracks}}
            for n, time in enumerate(times)
        )
        return Table(columns, rows)

    def _shown(self) -> datetime:
        return parse_time(clock_time(self.first, desk().site.zone))


def place_of(cluster: str, host: str) -> tuple[Condition, ...]:
    return (
        Condition("cluster", Op.IN, (cluster,)),
        Condition("host.name", Op.IN, (host,)),
    )


def ends(period: Period) -> tuple[datetime, datetime]:
    end = min(period.end or desk().now, desk().now)
    oldest = desk().oldest() or end - timedelta(days=7)
    return max(period.start or oldest, min(oldest, end - HOUR)), end


def show(cluster: str, host: str, form: str) -> Response:
    """
    The course of a node as a file.
    """
    start, end = ends(desk().period(request.args.get("period", "").strip() or DEFAULT))
    known = course(start, end, place_of(cluster, host))
    if form not in FORMS or not known.tracks:
        raise QuestionError(f"node {cluster}/{host}: no {form[:10]} of this period")
    return as_file(form, f"{cluster}/{host}", known.table(), known.spec)


def course(start: datetime, end: datetime, place: tuple[Condition, ...]) -> Course:
    """
    Cores, memory and cards over time, by the hour or the day.
    """
    daily = (end - start) / HOUR > MOST_HOURS
    step = timedelta(days=1) if daily else HOUR
    wanted = (
        *RATE,
        Aggregate("memory", Function.MAX, "memory.used.bytes"),
        Aggregate("fitted", Function.MAX, "memory.total.bytes"),
    )
    bucket = Group("@timestamp", Bucket.HOUR)
    rows = {
        parse_time(str(row["@timestamp"])): row
        for row in asked("node", wanted, (bucket,), start, end, WHOLE, *place)
    }
    if len(rows) < 2:
        return Course()
    first = min(rows)
    count = int((max(rows) - first) / step) + 1
    slots: list[list[Row]] = [[] for _slot in range(count)]
    for moment, row in rows.items():
        slots[int((moment - first) / step)].append(row)
    cores = max(amount(row, "cores") for row in rows.values())
    fitted = max(amount(row, "fitted") for row in rows.values())
    drawn = [
        Track(_("cores busy"), [_rate(slot) for slot in slots], cores, _("all cores")),
        Track(
            _("memory, GiB"),
            [max((amount(r, "memory") / GIB for r in slot), default=None) for slot in slots],
            fitted / GIB,
            _("memory fitted"),
        ),
        *_cards(start, end, place, first, step, count),
    ]
    return Course(drawn, first, step)


def _rate(slot: Sequence[Row]) -> float | None:
    span = sum(amount(row, "span") for row in slot)
    return sum(amount(row, "busy") for row in slot) / span if span else None


def _cards(
    start: datetime,
    end: datetime,
    place: tuple[Condition, ...],
    first: datetime,
    step: timedelta,
    count: int,
) -> list[Track]:
    wanted = (
        Aggregate("busy", Function.SUM, "gpu_seconds"),
        Aggregate("span", Function.SUM, "interval.seconds"),
    )
    by = ("gpu.uuid", Group("@timestamp", Bucket.HOUR))
    slots: list[dict[str, list[float]]] = [{} for _slot in range(count)]
    uuids: set[str] = set()
    for row in asked("gpu", wanted, by, start, end, *place):
        where = int((parse_time(str(row["@timestamp"])) - first) / step)
        if 0 <= where < count:
            uuids.add(str(row["gpu.uuid"]))
            slots[where].setdefault(str(row["gpu.uuid"]), []).append(ratio(row, "busy", "span"))
    if not uuids:
        return []
    values = [
        sum(sum(known) / len(known) for known in slot.values()) if slot else None for slot in slots
    ]
    return [Track(_("GPUs busy"), values, float(len(uuids)), _("all cards"))]
