"""
One node: what it is, how busy it was, what state it was in and why, what runs on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import render_template, request, url_for

from leadline.errors import NothingKnownError
from leadline.formats.times import parse_time
from leadline.language import _
from leadline.query import Filter, Question, measure
from leadline.query.question import Value
from leadline.render.charts import draw_svg
from leadline.reports.jobs import job_rows
from leadline.reports.timeline import Span, availability, by_class
from leadline.store.plan import Aggregate, Condition, Function, Op, Row
from leadline.web.asking import desk
from leadline.web.export import links
from leadline.web.links import address, narrowed
from leadline.web.pages.course import DEFAULT, course, ends, place_of
from leadline.web.pages.fleet import HOUR, WHOLE, amount, asked, clock, told
from leadline.web.pages.jobs import Line as JobLine
from leadline.web.pages.jobs import line_of
from leadline.web.sentences import beside, clusters, span, when
from leadline.web.spoken import spoken_period
from leadline.web.strips import MOST_PIECES
from leadline.web.strips import line as states_line
from leadline.web.tables import Table, build
from leadline.web.words import lasting, number, percent, size

OFFERED = ("last 24 hours", "last 7 days", "last 30 days")
MOST_SPANS = 60
FACTS = ("host.cpu.model", "host.os.name", "host.os.kernel", "node.type", "agent.version")


@dataclass(frozen=True, slots=True)
class State:
    start: str
    length: str
    name: str
    reason: str
    by: str
    reservations: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    sentence: str
    periods: Sequence[tuple[str, str, bool]]
    facts: Sequence[tuple[str, str]]
    line: str
    merged: bool  # whether the line draws some of them as one
    state_files: Sequence[tuple[str, str]]
    available: str
    states: Sequence[State]
    chart: str
    vega: str  # where its specification is
    exports: Sequence[tuple[str, str]]
    jobs: Sequence[JobLine]
    programs: Table | None
    more: str
    empty: Sequence[str] = ()


def show(cluster: str, host: str) -> str:
    period = desk().period(request.args.get("period", "").strip() or DEFAULT)
    place = place_of(cluster, host)
    start, end = ends(period)
    newest = _newest(place)
    known = told(start, end, *place)
    spans = known.timeline((cluster, host)) if (cluster, host) in known.changes else []
    if newest is None and not spans:
        raise NothingKnownError(
            f"node {cluster}/{host}: neither sampled nor known to a scheduler; "
            "the page of nodes names those that are"
        )
    programs = Question(
        by=("program",),
        where=(Filter("cluster", (cluster,)), Filter("host", (host,))),
        period=period.text,
        top=10,
    )
    drawn, files = course(start, end, place), dict[str, Any](cluster=cluster, host=host)
    page = Page(
        title=_("Node {node}, {period}").format(node=f"{cluster}/{host}", period=span(period)),
        clusters=clusters(),
        sentence=_sentence(newest, spans),
        periods=[
            *(
                (text, href, False)
                for text, href in beside(
                    period, desk().now, lambda text: _here(cluster, host, text)
                )
            ),
            *(
                (spoken_period(text), _here(cluster, host, text), text == period.text)
                for text in OFFERED
            ),
        ],
        facts=_facts(newest),
        line=states_line(spans, _("States of {node}").format(node=host)) if spans else "",
        merged=len(spans) > MOST_PIECES,
        state_files=links(lambda f: url_for("node_states", form=f, period=period.text, **files)),
        available=_available(spans),
        states=[_state(known) for known in reversed(spans[-MOST_SPANS:])],
        chart=draw_svg(drawn.spec(), _("{node} over time").format(node=host))
        if drawn.tracks
        else "",
        vega=url_for("node_over_time", form="vega", period=period.text, **files),
        exports=links(lambda f: url_for("node_over_time", form=f, period=period.text, **files)),
        jobs=_jobs(cluster, host),
        programs=_programs(programs),
        more=address(programs),
    )
    return render_template("node.html", page=page)


def _here(cluster: str, host: str, period: str) -> str:
    return url_for("node", cluster=cluster, host=host, period=period)


def _newest(place: tuple[Condition, ...]) -> Row | None:
    """
    What the node last said of itself, in the last month.
    """
    end = desk().now.replace(minute=0, second=0, microsecond=0) + HOUR
    wanted = (
        Aggregate("last", Function.MAX, "@timestamp"),
        *(Aggregate(name, Function.MAX, name) for name in (*FACTS, "node.cores", "node.threads")),
        Aggregate("memory", Function.MAX, "memory.total.bytes"),
    )
    (row,) = asked("node", wanted, (), end - timedelta(days=31), end, WHOLE, *place)
    return row if row["last"] else None


def _sentence(newest: Row | None, spans: Sequence[Span]) -> str:
    words = []
    last = next((known for known in reversed(spans) if known.state), None)
    if last is not None:
        said = _("{state} since {when}") if last is not spans[0] else _("{state} all the time")
        told = said.format(state=last.state, when=clock(last.start))
        words.append(f"{told}: {last.reason}." if last.reason else f"{told}.")
    if newest is None:
        words.append(_("It has sent no sample in the last month."))
    else:
        words.append(_("Newest sample {when}.").format(when=when(parse_time(str(newest["last"])))))
    return " ".join(words)


def _facts(newest: Row | None) -> list[tuple[str, str]]:
    if newest is None:
        return []
    names = (_("CPU"), _("System"), _("Kernel"), _("Kind"), _("Shipper"))
    found = [
        (_("Cores"), number(newest["node.cores"])),
        (_("Threads"), number(newest["node.threads"])),
        (_("Memory"), size(amount(newest, "memory")) if newest["memory"] else "–"),
        *((name, str(newest[field] or "–")) for name, field in zip(names, FACTS, strict=True)),
    ]
    return [(name, value) for name, value in found if value != "–"]


def _available(spans: Sequence[Span]) -> str:
    share = availability(by_class(spans)) if spans else None
    if share is None:
        return ""
    unknown = by_class(spans)["unknown"] / sum(known.seconds for known in spans)
    words = _("There to be used {share} of the time that is known.").format(
        share=percent(share / 100)
    )
    if unknown > 0.005:
        words += " " + _("Nobody looked for {share} of the period.").format(share=percent(unknown))
    return words


def _state(known: Span) -> State:
    return State(
        start=clock(known.start),
        length=lasting(known.seconds),
        name=known.state or _("nobody looked"),
        reason=known.reason,
        by=known.reason_user if desk().scope.everything else "",
        reservations=", ".join(known.reservations),
    )


def _jobs(cluster: str, host: str) -> list[JobLine]:
    """
    What runs on it now, of what the reader may see.
    """
    if desk().scope.totals_only:
        return []
    where = (
        Condition("cluster", Op.IN, (cluster,)),
        Condition("job.nodes", Op.IN, (host,)),
    )
    store, seen, now = desk().open(), desk().scope, desk().now
    rows = desk().once(
        ("node jobs", cluster, host, seen),
        lambda: job_rows(store, seen, where, None, limit=50, now=now),
    )
    return [line_of(row, "now") for row in rows]


def _programs(asked: Question) -> Table | None:
    answer = desk().ask(asked)

    def link(name: str, value: Value) -> str:
        return address(narrowed(asked, name, value))

    return build(answer, [measure(asked.measures[0])], link) if answer.rows else None
