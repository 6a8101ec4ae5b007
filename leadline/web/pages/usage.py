"""
The usage page: any measure by any dimension over any period; its address is the question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flask import render_template, request

from leadline.errors import QuestionError
from leadline.language import _
from leadline.query import MEASURES, Answer, measure
from leadline.query.measure import Measure
from leadline.query.public import DIMENSIONS as FOR_ALL
from leadline.query.question import BUCKETS, Question, Value
from leadline.reports.picture import in_order
from leadline.web.asking import desk
from leadline.web.before import by_rows, in_words
from leadline.web.crosstab import Cross, cross
from leadline.web.crosstab import Line as CrossLine
from leadline.web.empty import why_empty
from leadline.web.links import (
    PICTURES,
    address,
    chosen,
    exports,
    narrowed,
    parameters,
    read,
    without,
)
from leadline.web.pages.drawing import UNDRAWN, Drawn, drawn_of, pictures
from leadline.web.paging import ALONE, Leaf, begin, fitted, leaf
from leadline.web.sentences import (
    beside,
    clusters,
    measured,
    per,
    spoken_filter,
    sureness,
    title,
    told,
)
from leadline.web.spoken import spoken_period
from leadline.web.tables import Table, build, known_dimensions

# What the pages of programs and users tell of each.
SUMMARY = ("core_hours_used", "users", "jobs_sampled", "gpu_hours_busy", "memory_mean")

COMPARE = "compare"
MOST_MEASURES = 12  # columns of a page
MOST_FILTERS = 8  # each with a link of its own

# Offered in the list of periods; anything a period may say can be typed.
PERIODS = (
    "last hour",
    "today",
    "yesterday",
    "last 7 days",
    "last 30 days",
    "this month",
    "previous month",
    "this quarter",
    "this year",
    "previous year",
    "all",
)


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    text: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    href: str
    here: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    measures: Sequence[Choice]
    by: Sequence[Choice]
    also: Sequence[Choice]
    where: str
    period: str
    periods: Sequence[Choice]
    top: str
    compare: bool
    pictures: Sequence[Choice]


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    form: Form
    periods: Sequence[Link]
    exports: Sequence[Link]
    filters: Sequence[Link]
    notes: Sequence[str]
    empty: Sequence[str] = ()
    sentence: str = ""
    drawn: Drawn = UNDRAWN
    ask: str = ""  # where a span of the chart is asked for
    table: Table | None = None
    cross: Cross | None = None
    lines: Sequence[CrossLine] = ()  # of the crossed table, those of this page
    leaf: Leaf = ALONE


def show() -> str:
    return page_of(read(request.args), compare=request.args.get(COMPARE) == "1")


def programs() -> str:
    """
    The programs of the last month, with who runs them.
    """
    return page_of(Question(SUMMARY, ("program",), period=desk().usual_period, top=20))


def users() -> str:
    return page_of(Question((SUMMARY[0], "programs", *SUMMARY[2:]), ("user",), top=20))


def projects() -> str:
    """
    The projects of the last month, with who works for them and what they run.
    """
    return page_of(Question((*SUMMARY[:2], "programs", *SUMMARY[2:4]), ("project",), top=20))


def page_of(asked: Question, *, compare: bool = False) -> str:
    if len(asked.measures) > MOST_MEASURES:
        raise QuestionError(f"a page has room for {MOST_MEASURES} measures; ask for fewer at once")
    first = begin(request.args.get("cursor", ""))
    answer = in_order(desk().ask(asked))
    measures = [measure(name) for name in answer.question.measures]
    page = Page(
        title=title(answer, measures),
        clusters=clusters(),
        form=_form(asked, compare),
        periods=_turns(asked, answer, compare),
        exports=[Link(text, href) for text, href in exports(asked)],
        filters=_filters(asked, compare),
        notes=sureness(answer),
        ask=address(asked),
    )
    if not answer.rows:
        page = replace(page, empty=why_empty(asked, answer), exports=_tables(page.exports))
        return render_template("usage.html", page=page)
    page = replace(
        page,
        sentence=told(answer, measures[0], in_words(asked, answer, measures[0])),
        drawn=UNDRAWN if first else drawn_of(asked, answer, page.title),
        cross=cross(answer, measures[0], _step(asked)),
    )
    if not page.drawn.files:
        page = replace(page, exports=_tables(page.exports))
    rows = _rows(asked, answer, measures, compare)
    count = len(page.cross.rows if page.cross else answer.rows)
    first = min(first, count)

    def draw(most: int) -> str:
        part = slice(first, first + most)
        shown = len(range(count)[part])
        below = leaf(first, count, shown, lambda place: _goes_on(asked, compare, place))
        if page.cross:
            found = replace(page, lines=_crossed(page.cross, part), leaf=below)
        else:
            found = replace(page, table=rows(part), leaf=below)
        return render_template("usage.html", page=found)

    return fitted(draw, count)


def _goes_on(asked: Question, compare: bool, place: str) -> str:
    return address(asked, **_more(compare), **({"cursor": place} if place else {}))


def _tables(exports: Sequence[Link]) -> Sequence[Link]:
    return [link for link in exports if link.text not in dict(PICTURES)]


def _crossed(table: Cross, part: slice) -> Sequence[CrossLine]:
    """
    Rows of a crossed table; the others stand below the last of them, sums below all.
    """
    ends = part.stop >= len(table.rows)
    return [*table.rows[part], *(one for one in table.feet if ends or one.kind == "total")]


def _filters(asked: Question, compare: bool) -> list[Link]:
    """
    Each filter with a link that takes it away; where they are many the form is quicker.
    """
    few = len(asked.where) <= MOST_FILTERS
    return [
        Link(
            spoken_filter(known),
            address(without(asked, known), **_more(compare)) if few else "",
        )
        for known in asked.where
    ]


def _more(compare: bool) -> dict[str, str]:
    return {COMPARE: "1"} if compare else {}


def _rows(
    asked: Question, answer: Answer, measures: Sequence[Measure], compare: bool
) -> Callable[[slice], Table]:
    order = _ordered(asked, compare)
    before = by_rows(asked, answer, measures[0]) if compare else None
    return lambda part: build(answer, measures, _step(asked), order=order, before=before, part=part)


def _step(asked: Question):  # type: ignore[no-untyped-def]
    def link(name: str, value: Value) -> str:
        return "" if desk().scope.least else address(narrowed(asked, name, value))

    return link


def _ordered(asked: Question, compare: bool):  # type: ignore[no-untyped-def]
    def order(name: str) -> str:
        turned = not asked.ascending and asked.ranked_by == name
        return address(replace(asked, order=name, ascending=turned), **_more(compare))

    return order


def _form(asked: Question, compare: bool) -> Form:
    fields = parameters(asked)
    names = [("", "–"), *known_dimensions(), *((b, per(b)) for b in BUCKETS)]
    known: Sequence[str] = (*desk().site.periods, *PERIODS)
    if desk().scope.least:
        names = [pair for pair in names if pair[0] in ("", *FOR_ALL)]
        known = (desk().usual_period,)
    return Form(
        measures=_measures(asked),
        by=[Choice(n, text, n == fields["by"]) for n, text in names],
        also=[Choice(n, text, n == fields.get("and", "")) for n, text in names],
        where=fields.get("where", ""),
        period=asked.period,
        periods=[Choice(text, spoken_period(text)) for text in known],
        top=fields["top"],
        compare=compare,
        pictures=[Choice(kind, words, kind == chosen()) for kind, words in pictures().items()],
    )


def _measures(asked: Question) -> list[Choice]:
    """
    Every measure; several that were asked for together stay one choice.
    """
    together = [measure(name) for name in asked.measures]
    several = Choice(",".join(asked.measures), measured(together), chosen=True)
    alone = len(together) == 1
    found = [Choice(m.name, _(m.title), alone and m == together[0]) for m in MEASURES]
    return found if alone else [several, *found]


def _turns(asked: Question, answer: Answer, compare: bool) -> list[Link]:
    """
    The period before and after, the same compared, and the usual ones.
    """

    def to(period: str, compare: bool = compare) -> str:
        return address(replace(asked, period=period), **_more(compare))

    links = [Link(*found) for found in beside(answer.period, answer.asked, to)]
    if desk().scope.least:
        return links
    if answer.period.before() is not None and asked.by and not asked.bucket:
        words = _("compare with the span before") if not compare else _("do not compare")
        links.append(Link(words, to(asked.period, not compare)))
    for text in ("today", "last 7 days", "last 30 days", "this month", "this year"):
        links.append(Link(spoken_period(text), to(text), text == asked.period))
    return links
