"""
The overview: what runs now, in the last hour and in the last thirty days.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from flask import render_template

from leadline.language import _, ngettext
from leadline.query import Question, measure
from leadline.query.question import Value
from leadline.render.charts import draw_svg
from leadline.reports.picture import over_time
from leadline.store.plan import Aggregate, Function, Group, Plan, Row
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet, why_empty
from leadline.web.links import address, exports, narrowed
from leadline.web.sentences import clusters, span, sureness
from leadline.web.tables import Table, build
from leadline.web.words import ago, number

MEASURE = "core_hours_used"
DIMENSIONS = ("program", "user", "host")
MONTH = Question(measures=(MEASURE,), by=("program",), period="last 30 days", top=8)
HOUR = timedelta(hours=1)
QUIET = HOUR  # without samples for so long, "now" is not now


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    figure: str
    unit: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    aside: str
    facts: Sequence[Fact] = ()
    chart: str = ""
    ask: str = ""  # where a span of the chart is asked for
    vega: str = ""  # where its specification is
    exports: Sequence[tuple[str, str]] = ()
    tables: Sequence[Table] = ()
    empty: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    sentence: str = ""
    sections: Sequence[Section] = ()
    notes: Sequence[str] = ()
    empty: Sequence[str] = ()
    commands: str = ""


def show() -> str:
    newest = newest_sample()
    if newest is None:
        page = Page(_("Nothing has been measured yet"), "", empty=nothing_yet())
        return render_template("overview.html", page=page, refresh=10)
    now = desk().now
    behind = ago(newest, now)
    if desk().scope.least:
        return for_all(behind)
    quiet = now - newest > QUIET
    facts = [] if quiet else _now()
    month = _month()
    sections = [
        Section(
            _("Now"),
            _("the mean over the last hour; newest sample {ago}").format(ago=behind),
            facts=facts,
            empty=[
                _length(now - newest).format(ago=behind),
                _("`leadline status` asks shippers and worker why."),
            ]
            if quiet
            else (),
        ),
        Section(
            _("Last hour"),
            _("core hours used"),
            tables=() if quiet else _tables("last hour", 5),
        ),
        month,
    ]
    page = Page(
        title=_("What runs on {clusters}").format(clusters=clusters()),
        clusters=clusters(),
        sentence=_sentence(facts),
        sections=[s for s in sections if s.facts or s.tables or s.empty or s.chart],
        notes=[_("Last 30 days:"), *sureness(desk().ask(MONTH))],
    )
    return render_template("overview.html", page=page, refresh=60)


def for_all(behind: str) -> str:
    """
    What everybody may see: the last whole month.
    """
    asked = Question(measures=(MEASURE,), by=("program",), period=desk().usual_period, top=20)
    answer = desk().ask(asked)
    known = measure(MEASURE)
    table = build(answer, [known], lambda _name, _value: "", more=address(asked))
    section = Section(
        span(answer.period),
        f"{number(answer.total.get(MEASURE), known.unit)} {_(known.title)}",
        tables=[table] if answer.rows else (),
        empty=() if answer.rows else why_empty(asked, answer),
    )
    page = Page(
        title=_("What runs on {clusters}").format(clusters=clusters()),
        clusters=clusters(),
        sections=[section],
        notes=[_("Newest sample {when}.").format(when=behind), *sureness(answer)[-1:]],
    )
    return render_template("overview.html", page=page)


def _length(span: timedelta) -> str:
    hours = int(span / HOUR)
    if hours < 72:
        words = _("No samples for the last {count} hours: the newest came {{ago}}.")
        return words.format(count=hours)
    words = _("No samples for the last {count} days: the newest came {{ago}}.")
    return words.format(count=number(hours // 24))


def _sentence(facts: Sequence[Fact]) -> str:
    if not facts:
        return ""
    told = [f"{fact.figure} {fact.unit} {fact.name}" for fact in facts[1:3]]
    nodes = ngettext("{count} node reports", "{count} nodes report", facts[0].count)
    return _("{nodes}; {rest}.").format(
        nodes=nodes.format(count=facts[0].figure), rest=", ".join(told)
    )


def _now() -> list[Fact]:
    nodes = _per_object("node", ("host.name",), "core_seconds", "node.cores")
    if not nodes:
        return []
    busy = sum(_rate(row) for row in nodes)
    cores = sum(_amount(row, "size") for row in nodes)
    facts = [
        Fact(
            _("nodes"),
            number(len(nodes)),
            ngettext("reporting", "reporting", len(nodes)),
            len(nodes),
        ),
        Fact(_("cores busy"), number(busy), _of(cores)),
    ]
    cards = _per_object("gpu", ("host.name", "gpu.uuid"), "gpu_seconds", "gpu.percent")
    if cards:
        facts.append(Fact(_("GPUs busy"), number(sum(map(_rate, cards))), _of(len(cards))))
    recent = desk().ask(Question(measures=("users", "programs"), period="last 1 hour"))
    for name in ("users", "programs"):
        facts.append(Fact(_(measure(name).title), number(recent.total.get(name)), ""))
    return facts


def _of(whole: float) -> str:
    return _("of {whole}").format(whole=number(whole)) if whole else ""


def _per_object(dataset: str, key: tuple[str, ...], seconds: str, size: str) -> list[Row]:
    """
    Busy seconds and the seconds they were measured over, by node or card, in the last hour.
    """
    now = desk().now
    plan = Plan(
        dataset,
        (
            Aggregate("busy", Function.SUM, seconds),
            Aggregate("span", Function.SUM, "interval.seconds"),
            Aggregate("size", Function.MAX, size),
        ),
        by=tuple(Group(name) for name in key),
        start=now - HOUR,
        end=now,
    )
    return desk().totals(plan)


def _rate(row: Row) -> float:
    span = _amount(row, "span")
    return _amount(row, "busy") / span if span else 0.0


def _amount(row: Row, name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _tables(period: str, top: int) -> list[Table]:
    known = measure(MEASURE)
    tables = []
    for name in DIMENSIONS:
        asked = Question(measures=(MEASURE,), by=(name,), period=period, top=top)
        answer = desk().ask(asked)

        def link(name: str, value: Value, asked: Question = asked) -> str:
            return address(narrowed(asked, name, value))

        if answer.rows:
            tables.append(build(answer, [known], link, more=address(asked)))
    return tables


def _month() -> Section:
    asked, known = MONTH, measure(MEASURE)
    answer = desk().ask(asked)
    whole = answer.total.get(MEASURE)
    drawn = over_time(asked, answer, known, desk().ask) if answer.rows else None
    return Section(
        _("Last 30 days"),
        f"{number(whole, known.unit)} {_(known.title)}",
        chart=draw_svg(drawn, _("Core hours used by program over the last 30 days"))
        if drawn
        else "",
        ask=address(asked),
        vega=address(asked, "usage_vega"),
        exports=exports(asked),
        tables=_tables("last 30 days", 8),
    )
