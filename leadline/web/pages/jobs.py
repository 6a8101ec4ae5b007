"""
The jobs page: runs that ended in a period, or run now, with how much of what they asked was used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import render_template, request, url_for

from leadline.query import Question, parse_filters
from leadline.render import duration
from leadline.render.table import Value
from leadline.reports.jobs import job_rows
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet
from leadline.web.sentences import clusters
from leadline.web.words import number

LIMIT = 100
NOW = "now"
LOW = 65.0  # percent of the cores: below it a run is worth a look


@dataclass(frozen=True, slots=True)
class Line:
    job: str
    link: str
    user: str
    user_link: str
    name: str
    state: str
    trouble: bool
    cores: str
    gpus: str
    wait: str
    wall: str
    hours: str
    cpu: str
    cpu_length: float
    cpu_low: bool
    end: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    where: str
    period: str
    shortest: str
    sentence: str = ""
    lines: Sequence[Line] = ()
    empty: Sequence[str] = ()


def show() -> str:
    where = request.args.get("where", "").strip()
    period = request.args.get("period", "").strip() or "last 24 hours"
    shortest = request.args.get("shortest", "0").strip()
    seconds = 60 * int(shortest) if shortest.isdigit() and len(shortest) < 6 else 0
    rows = job_list(where, period, seconds)
    title = "Jobs that run now" if period == NOW else f"Jobs ended, {period}"
    page = Page(
        title=f"{title}{f', where {where}' if where else ''}",
        clusters=clusters(),
        where=where,
        period=period,
        shortest=str(seconds // 60),
        sentence=_sentence(len(rows)),
        lines=[_line(row, period) for row in rows],
        empty=() if rows else _why(period, where),
    )
    return render_template("jobs.html", page=page)


def job_list(where: str, period: str, shortest: float) -> list[dict[str, Value]]:
    asked = Question(where=parse_filters(where), period="all" if period == NOW else period)
    span, conditions = desk().conditions(asked, "job")
    ended = None if period == NOW else span
    store, seen = desk().open(), desk().scope
    return desk().once(
        ("jobs", str(asked), period, shortest, span.start, span.end, seen),
        lambda: job_rows(store, seen, conditions, ended, shortest=shortest, limit=LIMIT),
    )


def _sentence(count: int) -> str:
    if count == LIMIT:
        return f"The newest {LIMIT} are shown; a filter or a shorter period shows the others."
    return f"{count} {'run' if count == 1 else 'runs'}, the newest first."


def _why(period: str, where: str) -> list[str]:
    if newest_sample() is None:
        return nothing_yet()
    what = "No job runs" if period == NOW else f"No job ended in {period}"
    return [
        f"{what}{' that matches these filters' if where else ''}.",
        "Jobs come from `leadline backfill sacct` or from the scheduler's own node; "
        "hours that were sampled are on the usage page all the same.",
    ]


def _line(row: Mapping[str, Value], period: str) -> Line:
    job, user, state = (_text(row, name) for name in ("job", "user", "state"))
    cpu = row.get("cpu")
    share = float(cpu) if isinstance(cpu, int | float) else None
    mine = urlencode({"where": f"user={user}", "period": period})
    return Line(
        job=job or "–",
        link=url_for("job", job=job) if job else "",
        user=user,
        user_link=f"{url_for('jobs')}?{mine}" if user else "",
        name=_text(row, "name"),
        state=state,
        trouble=state.split(" ")[0] not in {"COMPLETED", "RUNNING", "PENDING", "CANCELLED", ""},
        cores=number(row.get("cores")),
        gpus=number(row.get("gpus")) if row.get("gpus") else "",
        wait=_duration(row.get("wait")),
        wall=_duration(row.get("run_time")),
        hours=number(row.get("core_hours"), "hours"),
        cpu="–" if share is None else f"{share:.0f} %",
        cpu_length=min(100.0, share or 0.0),
        cpu_low=share is not None and share < LOW,
        end=_moment(_text(row, "end")),
    )


def _text(row: Mapping[str, Value], name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value)


def _duration(value: Value) -> str:
    return duration(float(value)) if isinstance(value, int | float) else "–"


def _moment(text: str) -> str:
    from leadline.formats.times import parse_time

    return f"{parse_time(text).astimezone(desk().site.zone):%Y-%m-%d %H:%M}" if text else ""
