"""
The jobs page: runs that ended in a period, or run now, with how much of what they asked was used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from flask import render_template, request, url_for

from leadline.formats.times import parse_time
from leadline.language import _, ngettext
from leadline.render.table import Value
from leadline.web.api.lists import Wanted, runs
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet
from leadline.web.links import jobs_of
from leadline.web.paging import ALONE, Leaf, Piece, cursor, fitted
from leadline.web.sentences import beside, clusters, sureness
from leadline.web.spoken import spoken_period
from leadline.web.words import lasting, number, percent, stamp, state_words

LIMIT = 100
NOW = "now"
OFFERED = (NOW, "today", "yesterday", "last 24 hours", "last 7 days", "last 30 days")
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
    named: str
    period: str
    shortest: str
    periods: Sequence[tuple[str, str]]
    sentence: str = ""
    lines: Sequence[Line] = ()
    exports: Sequence[tuple[str, str]] = ()
    turns: Sequence[tuple[str, str]] = ()
    leaf: Leaf = ALONE
    empty: Sequence[str] = ()
    notes: Sequence[str] = ()


def show() -> str:
    wanted, place = _wanted(), request.args.get("cursor", "").strip()
    period = wanted.period
    span = desk().period("all" if period == NOW else period)
    title = _("Jobs that run now")
    if period != NOW:
        title = _("Jobs ended, {period}").format(period=spoken_period(period))
    if filters := ", ".join(text for text in (wanted.named, wanted.where) if text):
        title += _(", where {filter}").format(filter=filters)
    page = Page(
        title=title,
        clusters=clusters(),
        where=wanted.where,
        named=wanted.named,
        period=period,
        shortest=str(wanted.shortest),
        periods=[(text, spoken_period(text)) for text in OFFERED],
        turns=beside(
            span, desk().now, lambda text: url_for("jobs", **_fields(replace(wanted, period=text)))
        ),
        exports=[
            (form.upper(), url_for("api_jobs", format=form, limit=1000, **_fields(wanted)))
            for form in ("csv", "json")
        ],
        notes=sureness(desk().sure(wanted.looked_at)),
    )

    def draw(most: int) -> str:
        piece = job_list(wanted, place, most)
        rows, more = piece.rows, cursor(piece.after) if piece.after else ""
        found = replace(
            page,
            sentence=_sentence(len(rows), bool(more)),
            lines=[line_of(cast(Mapping[str, Value], row), period) for row in rows],
            empty=() if rows else _why(period, filters),
            leaf=Leaf(
                begin=url_for("jobs", **_fields(wanted)) if place else "",
                next=url_for("jobs", cursor=more, **_fields(wanted)) if more else "",
            ),
        )
        return render_template("jobs.html", page=found)

    return fitted(draw, LIMIT)


def _wanted() -> Wanted:
    asked = {name: request.args.get(name, "").strip() for name in ("where", "named", "shortest")}
    shortest = asked["shortest"]
    return Wanted(
        where=asked["where"],
        period=request.args.get("period", "").strip() or "last 24 hours",
        shortest=int(shortest) if shortest.isdecimal() and len(shortest) < 6 else 0,
        named=asked["named"],
    )


def _fields(wanted: Wanted) -> dict[str, Any]:
    """
    What an address needs to ask for the same.
    """
    return {name: value for name, value in asdict(wanted).items() if value}


def job_list(wanted: Wanted, place: str, most: int) -> Piece:
    return desk().once(
        ("jobs", wanted, place, most, desk().now, desk().scope),
        lambda: runs(wanted, most, place),
    )


def _sentence(count: int, more: bool) -> str:
    if more:
        return _("{count} runs, the newest first; older ones follow.").format(count=count)
    words = ngettext("{count} run, the newest first.", "{count} runs, the newest first.", count)
    return words.format(count=count)


def _why(period: str, filters: str) -> list[str]:
    if newest_sample() is None:
        return nothing_yet()
    what = _("No job runs.")
    if period != NOW:
        what = _("No job ended: {period}.").format(period=spoken_period(period))
    if filters:
        what += " " + _("Remove a filter to see more.")
    return [
        what,
        _(
            "Jobs come from `leadline backfill sacct` or from the scheduler's own node; "
            "hours that were sampled are on the usage page all the same."
        ),
    ]


def line_of(row: Mapping[str, Value], period: str) -> Line:
    job, user, state = (_text(row, name) for name in ("job", "user", "state"))
    cpu = row.get("cpu")
    share = float(cpu) if isinstance(cpu, int | float) else None
    return Line(
        job=job or "–",
        link=url_for("job", job=job) if job else "",
        user=user,
        user_link=jobs_of(user, period) if user else "",
        name=_text(row, "name"),
        state=state_words(state) if state else "",
        trouble=state.split(" ")[0] not in {"COMPLETED", "RUNNING", "PENDING", "CANCELLED", ""},
        cores=number(row.get("cores")),
        gpus=number(row.get("gpus")) if row.get("gpus") else "",
        wait=_duration(row.get("wait")),
        wall=_duration(row.get("run_time") or _so_far(row, period)),
        hours=number(row.get("core_hours"), "hours"),
        cpu="–" if share is None else percent(share / 100),
        cpu_length=min(100.0, share or 0.0),
        cpu_low=share is not None and share < LOW,
        end=_moment(_text(row, "start" if period == NOW else "end")),
    )


def _text(row: Mapping[str, Value], name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value)


def _duration(value: Value) -> str:
    return lasting(float(value)) if isinstance(value, int | float) else "–"


def _so_far(row: Mapping[str, Value], period: str) -> float | None:
    start = _text(row, "start")
    if period != NOW or not start:
        return None
    return (desk().now - parse_time(start)).total_seconds()


def _moment(text: str) -> str:
    return stamp(parse_time(text).astimezone(desk().site.zone)) if text else ""
