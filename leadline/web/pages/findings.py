"""
The page of findings: what somebody should look at, with evidence and remedy, the costliest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from flask import render_template, request, url_for

from leadline.errors import QuestionError
from leadline.formats.times import EARLIEST, parse_time
from leadline.language import _, ngettext, said
from leadline.query import Filter, Question
from leadline.reports.detectors import DETECTORS
from leadline.reports.finding import Case, Finding
from leadline.reports.findings import findings
from leadline.store.plan import Condition, Op
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet
from leadline.web.links import jobs_of
from leadline.web.paging import ALONE, Leaf, begin, fitted, leaf
from leadline.web.sentences import beside, clusters, span, sureness
from leadline.web.spoken import spoken_period
from leadline.web.words import number, stamp

DEFAULT = "last 24 hours"
OFFERED = ("last 24 hours", "last 7 days", "last 30 days")
STEP = timedelta(minutes=5)  # detectors look at much: once in so long is enough


@dataclass(frozen=True, slots=True)
class Line:
    kind: str
    red: bool
    place: str
    link: str
    user: str
    user_link: str
    hours: str
    since: str
    evidence: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    kinds: Sequence[tuple[str, str, bool]]
    clusters_known: Sequence[str]
    cluster: str
    period: str
    periods: Sequence[tuple[str, str]]
    turns: Sequence[tuple[str, str]]
    exports: Sequence[tuple[str, str]]
    sentence: str = ""
    lines: Sequence[Line] = ()
    empty: Sequence[str] = ()
    notes: Sequence[str] = ()
    leaf: Leaf = ALONE


def show() -> str:
    first = begin(request.args.get("cursor", ""))
    kind = request.args.get("kind", "").strip()
    cluster = request.args.get("cluster", "").strip()
    period = desk().period(request.args.get("period", "").strip() or DEFAULT)
    if kind and kind not in DETECTORS:
        raise QuestionError(f"no finding {kind[:60]!r}; there are {', '.join(DETECTORS)}")
    refused = desk().scope.totals_only
    found = [] if refused else _found(kind, cluster, period.start, period.end)
    page = Page(
        title=_("Findings, {period}").format(period=span(period)),
        clusters=clusters(),
        kinds=[
            ("", _("every kind"), not kind),
            *((name, said(name), name == kind) for name in DETECTORS),
        ],
        clusters_known=desk().clusters(),
        cluster=cluster,
        period=period.text,
        periods=[(text, spoken_period(text)) for text in OFFERED],
        turns=beside(
            period,
            desk().now,
            lambda text: url_for(
                "findings", kind=kind or None, cluster=cluster or None, period=text
            ),
        ),
        exports=[] if refused else _exports(kind, cluster, period.text),
        sentence=_sentence(found),
        empty=() if found else _why(refused),
        notes=[] if refused else _notes(cluster, period.text),
    )

    def to(place: str) -> str:
        asked: dict[str, Any] = {"kind": kind or None, "cluster": cluster or None}
        return url_for("findings", period=period.text, cursor=place or None, **asked)

    def draw(most: int) -> str:
        shown = [_line(one) for one in found[first : first + most]]
        below = leaf(first, len(found), len(shown), to)
        return render_template("findings.html", page=replace(page, lines=shown, leaf=below))

    return fitted(draw, len(found))


def _found(kind: str, cluster: str, start: datetime | None, end: datetime | None) -> list[Finding]:
    now = desk().now - timedelta(seconds=desk().now.timestamp() % STEP.total_seconds())
    begin = max(start or EARLIEST, EARLIEST)
    begin -= timedelta(seconds=begin.timestamp() % STEP.total_seconds())
    until = min(end or now, now)
    store, seen, limits = desk().open(), desk().scope, desk().site.findings
    where = (Condition("cluster", Op.IN, (cluster,)),) if cluster else ()
    case = Case(store, seen, begin, until, now, where, limits)
    return desk().once(
        ("findings", kind, cluster, begin, until, seen),
        lambda: findings(case, [kind] if kind else ()),
    )


def _exports(kind: str, cluster: str, period: str) -> list[tuple[str, str]]:
    asked: dict[str, Any] = {
        "kind": kind or None,
        "cluster": cluster or None,
        "period": period,
        "limit": 1000,
    }
    return [(f.upper(), url_for("api_findings", format=f, **asked)) for f in ("csv", "json")]


def _sentence(found: Sequence[Finding]) -> str:
    if not found:
        return ""
    red = sum(one.severity == "red" for one in found)
    words = ngettext("{count} finding", "{count} findings", len(found))
    told = words.format(count=number(len(found)))
    if red:
        told += _(", {count} of them urgent").format(count=number(red))
    return f"{told}."


def _notes(cluster: str, period: str) -> list[str]:
    where = (Filter("cluster", (cluster,)),) if cluster else ()
    return sureness(desk().sure(Question(where=where, period=period)))


def _why(refused: bool) -> list[str]:
    if refused:
        return [
            _("Findings name people and jobs, so they are not shown to everybody."),
            _("Sign in to see those about your own jobs."),
        ]
    if newest_sample() is None:
        return nothing_yet()
    return [
        _("Nothing was found."),
        _("Choose a longer period, or another kind; thresholds are in the settings, `findings`."),
    ]


def _line(one: Finding) -> Line:
    hours = "" if not one.hours else f"{number(one.hours, 'hours')} {said(one.unit)}"
    since = stamp(parse_time(one.since).astimezone(desk().site.zone)) if one.since else ""
    mine = jobs_of(one.user, "last 7 days") if one.user else ""
    link = _place(one)
    return Line(
        kind=said(one.kind),
        red=one.severity == "red",
        place=one.object if link else said(one.object),
        link=link,
        user=one.user or "",
        user_link=mine,
        hours=hours,
        since=since,
        evidence=said(one.evidence),
        remedy=said(one.remedy),
    )


def _place(one: Finding) -> str:
    """
    A job's page or a node's; a card is on its node, a user's doings as well.
    """
    if one.object.startswith(f"{one.cluster}/"):
        return url_for("job", job=one.object)
    host = one.object.partition(":")[0].partition("/")[0]
    return "" if " " in host else url_for("node", cluster=one.cluster, host=host)
