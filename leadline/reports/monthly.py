"""
What a leader holds once a month: one subject's figures, pictures, definitions, frozen at a date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from leadline.errors import QuestionError
from leadline.formats.times import parse_time
from leadline.query import Answer, Filter, Measure, Question, ask, dimension, measure
from leadline.query.periods import Period, parse_period, unit_period
from leadline.render import number
from leadline.render.charts import draw_svg, ranking
from leadline.render.table import Column, Table, Value
from leadline.render.text import unit_name
from leadline.reports.answers import as_table, footer, headline, span_text
from leadline.reports.grants import Grant
from leadline.reports.monthly_grants import Granted, granted
from leadline.reports.picture import in_page
from leadline.reports.settings import AllocationSettings
from leadline.store.contract import Store
from leadline.store.scope import Scope

FIGURES = (
    "core_hours_used",
    "core_hours_allocated",
    "gpu_hours_busy",
    "gpu_hours_allocated",
    "jobs",
    "users",
    "hosts",
    "cpu_efficiency",
    "gpu_efficiency",
    "memory_efficiency",
    "core_hours_wasted",
    "gpu_hours_wasted",
    "wait_median",
    "run_time_median",
    "memory_max",
    "energy",
)
PARTS = (
    ("core_hours_used", "program"),
    ("core_hours_used", "user"),
    ("core_hours_allocated", "partition"),
    ("gpu_hours_busy", "user"),
    ("jobs", "state"),
)
SHOWN = 10
NO_GRANTS = AllocationSettings()
LEAST_COVERED = 0.8  # of this span's coverage: a span before that was hardly looked at says nothing
MOST_CHANGE = 20  # beyond it there was next to nothing before


@dataclass(frozen=True, slots=True)
class Part:
    """
    One question of the report with its answer, drawn where there is something to draw.
    """

    title: str
    answer: Answer
    table: Table
    picture: str  # SVG, or empty


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    sentence: str
    period: Period
    frozen: datetime
    figures: Table
    grants: Granted | None
    parts: tuple[Part, ...]
    definitions: tuple[Measure, ...]
    notes: tuple[str, ...]

    @property
    def empty(self) -> bool:
        return not self.parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """
    Who asks what of which store, as of when.
    """

    store: Store
    scope: Scope
    now: datetime
    zone: ZoneInfo
    own: Mapping[str, ZoneInfo] | None = None
    named: Mapping[str, str] | None = None
    grants: Sequence[Grant] = ()
    allocations: AllocationSettings = NO_GRANTS

    def ask(self, question: Question) -> Answer:
        return ask(
            question, self.store, self.scope, self.now,
            zone=self.zone, own=self.own, named=self.named,
        )  # fmt: skip

    def may(self, question: Question) -> Answer | None:
        """
        None where the measure knows nothing of a filter or dimension: accounting has no programs.
        """
        try:
            return self.ask(question)
        except QuestionError:
            return None


def make(desk: Desk, about: Sequence[Filter], period: str) -> Report:
    """
    The report on what ABOUT leaves, over PERIOD.
    """
    span = parse_period(period, desk.now, desk.zone, desk.named)
    if span.start is not None and span.start > desk.now:
        raise QuestionError(f"period {period!r} has not begun yet")
    where = tuple(about)
    for known in where:
        dimension(known.dimension)  # refused by name where there is no such
    answers = _figures(desk, where, period)
    before = span.before()
    earlier = _figures(desk, where, before.text) if before is not None else {}
    parts = tuple(_parts(desk, where, period))
    named = [name for name in FIGURES if name in answers]
    shown = [
        name
        for name in named
        if answers[name].total[name] or (name in earlier and earlier[name].total[name])
    ]
    whole = next(iter(answers.values()), None)
    return Report(
        title=f"{_subject(where)}, {span_text(span)}",
        sentence=_sentence(where, span, before, answers, earlier, parts),
        period=span,
        frozen=desk.now,
        figures=_table(shown, answers, earlier, span, before),
        grants=granted(
            desk.store, desk.scope, desk.grants, desk.allocations, where, span, desk.now
        ),
        parts=parts,
        definitions=tuple(
            measure(name) for name in dict.fromkeys([*shown, *(m for m, _ in PARTS if m in shown)])
        ),
        notes=_notes(whole, [name for name in named if name not in shown]),
    )


def _figures(desk: Desk, where: tuple[Filter, ...], period: str) -> dict[str, Answer]:
    """
    Measure → the answer that holds its total; all at once where all know the filters.
    """
    whole = desk.may(Question(FIGURES, where=where, period=period))
    if whole is not None:
        return dict.fromkeys(FIGURES, whole)
    found = {name: desk.may(Question((name,), where=where, period=period)) for name in FIGURES}
    return {name: answer for name, answer in found.items() if answer is not None}


def _parts(desk: Desk, where: tuple[Filter, ...], period: str) -> list[Part]:
    taken = {known.dimension for known in where if len(known.values) == 1 and not known.negated}
    found = []
    for name, by in PARTS:
        if by in taken:
            continue
        asked = Question((name,), (by,), where, period, top=SHOWN)
        answer = desk.may(asked)
        if answer is None or not answer.rows or not answer.total[name]:
            continue
        title = headline(answer).partition(" where ")[0].partition(", ")[0]
        picture = _picture(desk, asked, answer, title)
        found.append(Part(title, answer, as_table(answer), picture))
    return found


def _picture(desk: Desk, asked: Question, answer: Answer, title: str) -> str:
    known = measure(asked.measures[0])
    drawn = in_page(asked, answer, known, partial(Desk.ask, desk)) if known.name != "jobs" else None
    if drawn is None and len(answer.rows) > 1:
        rows = [
            {"name": answer.label(asked.by[0], row[asked.by[0]]), "value": row[known.name] or 0.0}
            for row in answer.rows
        ]
        drawn = ranking(rows, known.title)
    return draw_svg(drawn, title) if drawn is not None else ""


def _table(
    names: Sequence[str],
    answers: Mapping[str, Answer],
    earlier: Mapping[str, Answer],
    span: Period,
    before: Period | None,
) -> Table:
    columns = [Column("figure", "Figure"), Column("value", dated(span)), Column("unit", "Unit")]
    if before is not None:
        columns[2:2] = [Column("before", dated(before)), Column("change", "Change")]
    rows: list[dict[str, Value]] = []
    for name in names:
        known, now = measure(name), answers[name].total[name]
        past = earlier[name].total[name] if name in earlier else None
        rows.append(
            {
                "figure": f"{'≈ ' if known.approximate else ''}{_capital(known.title)}",
                "value": number(now, known.unit),
                "before": number(past, known.unit),
                "change": change(now, past) if _comparable(name, answers, earlier) else "",
                "unit": unit_name(known.unit) or ("hours" if known.unit == "hours" else ""),
            }
        )
    return Table(tuple(columns), tuple(rows))


def _comparable(name: str, answers: Mapping[str, Answer], earlier: Mapping[str, Answer]) -> bool:
    """
    Whether it was looked at then as now, over a whole span both times.
    """
    if name not in earlier or earlier[name].kept_from:
        return False
    end = answers[name].period.end
    if end is not None and end > answers[name].asked:
        return False
    now, past = answers[name].coverage.share, earlier[name].coverage.share
    return now is None or (past or 0.0) >= LEAST_COVERED * now


def change(now: float | None, before: float | None) -> str:
    """
    +12 %, −3 %, or nothing where there is nothing to compare with.
    """
    if now is None or not before or now / before > MOST_CHANGE:
        return ""
    percent = round(100 * (now / before - 1))
    return "0 %" if percent == 0 else f"{'+' if percent > 0 else '−'}{abs(percent)} %"


def _sentence(
    where: tuple[Filter, ...],
    span: Period,
    before: Period | None,
    answers: Mapping[str, Answer],
    earlier: Mapping[str, Answer],
    parts: Sequence[Part],
) -> str:
    """
    The answer first: "Project chem-1 used 41,230 core hours in October 2026, 12 % more than in
    September 2026."
    """
    name = "core_hours_used"
    if name not in answers or answers[name].total[name] is None:
        name = "core_hours_allocated"
    now = answers[name].total[name] if name in answers else None
    if now is None:
        subject = _subject(where)
        return f"Nothing was measured of {subject[:1].lower()}{subject[1:]} {_during(span)}."
    verb = "used" if name == "core_hours_used" else "had"
    more = "" if verb == "used" else " allocated"
    text = f"{_subject(where)} {verb} {number(now, 'hours')} core hours{more} {_during(span)}"
    if before is not None and _comparable(name, answers, earlier):
        told = change(now, earlier[name].total[name])
        if told and told != "0 %":
            word = "more" if told.startswith("+") else "less"
            text += f", {told[1:]} {word} than {_during(before)}"
    first = parts[0] if parts and parts[0].answer.question.measures == (name,) else None
    if first is not None and first.answer.shares and first.answer.shares[0]:
        by = first.answer.question.by[0]
        leader = first.answer.label(by, first.answer.rows[0][by])
        text += f"; {100 * first.answer.shares[0]:.0f} % of them: {leader}"
    return f"{text}."


def dated(span: Period) -> str:
    """
    The dates of a span: a report is read when its last month is long another one.
    """
    if span.start is None or not span.unit:
        return span_text(span).rpartition(" (")[0]
    first = span.start.astimezone(span.zone).date()
    return (
        f"{first:%B %Y}" if span.unit == "month" else unit_period(span.unit, first, span.zone).text
    )


def _during(span: Period) -> str:
    dates = dated(span)
    if " to " in dates:
        return f"from {dates}"
    return f"in {dates}" if span.unit not in ("", "day") else f"on {dates}"


def _notes(whole: Answer | None, unmeasured: Sequence[str]) -> tuple[str, ...]:
    notes = footer(whole)[:2] if whole is not None else []
    if unmeasured:
        told = ", ".join(measure(name).title for name in unmeasured)
        notes.append(f"None, or not measured: {told}.")
    return tuple(note for note in notes if not note.startswith("≈"))


def _subject(where: Sequence[Filter]) -> str:
    """
    "Project chem-1 on fox", "Everybody".
    """
    if not where:
        return "Everybody"
    words = []
    for known in where:
        _, sign, values = str(known).partition("!=" if known.negated else "=")
        spoken = values.replace("|", " or ").strip('"')
        but = "not " if sign == "!=" else ""
        place = known.dimension in ("cluster", "host")
        words.append(f"{but}on {spoken}" if place else f"{known.dimension} {but}{spoken}")
    words.sort(key=lambda word: word.startswith(("on ", "not on ")))
    return _capital(" ".join(words))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def newest(report: Report) -> datetime | None:
    """
    Of which moment the last sample was, whatever was asked.
    """
    times = [part.answer.coverage.newest for part in report.parts if part.answer.coverage.newest]
    return parse_time(max(times)) if times else None
