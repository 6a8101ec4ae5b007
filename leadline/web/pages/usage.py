"""
The usage page: any measure by any dimension over any period; its address is the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import Response, make_response, render_template, request, url_for

from leadline.errors import QuestionError
from leadline.query import MEASURES, Answer, measure
from leadline.query.dimensions import dimension
from leadline.query.measure import Measure
from leadline.query.question import BUCKETS, Question, Value
from leadline.render.charts import draw_file, draw_png, draw_svg
from leadline.reports.picture import in_order, in_page, picture
from leadline.web.asking import desk
from leadline.web.empty import why_empty
from leadline.web.links import address, narrowed, parameters, read, without
from leadline.web.sentences import clusters, compared, short, sureness, title, told
from leadline.web.tables import Table, build, known_dimensions

# What the pages of programs and users tell of each.
SUMMARY = ("core_hours_used", "users", "jobs_sampled", "gpu_hours_busy", "memory_mean")

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
    periods: Sequence[str]
    top: str


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
    chart: str = ""
    table: Table | None = None


def show() -> str:
    return page_of(read(request.args))


def programs() -> str:
    """
    The programs of the last month, with who runs them.
    """
    return page_of(Question(SUMMARY, ("program",), top=20))


def users() -> str:
    return page_of(Question((SUMMARY[0], "programs", *SUMMARY[2:]), ("user",), top=20))


def page_of(asked: Question) -> str:
    answer = in_order(desk().ask(asked))
    measures = [measure(name) for name in answer.question.measures]
    page = Page(
        title=title(answer, measures),
        clusters=clusters(),
        form=_form(asked),
        periods=_turns(asked, answer),
        exports=_exports(asked),
        filters=[
            Link(
                f"{dimension(f.dimension).title.lower()} {_spoken(str(f))}",
                address(without(asked, f)),
            )
            for f in asked.where
        ],
        notes=sureness(answer),
        **_found(asked, answer, measures),  # type: ignore[arg-type]
    )
    return render_template("usage.html", page=page)


def _spoken(written: str) -> str:
    name, equals, rest = written.partition("!=")
    return f"not {rest}" if equals else name.partition("=")[2]


def _found(asked: Question, answer: Answer, measures: Sequence[Measure]) -> dict[str, object]:
    if not answer.rows:
        return {"empty": why_empty(asked, answer)}
    drawn = in_page(asked, answer, measures[0], desk().ask)
    return {
        "sentence": told(answer, measures[0], _before(asked, answer, measures[0])),
        "chart": draw_svg(drawn, title(answer, measures)) if drawn else "",
        "table": build(answer, measures, _step(asked), order=_ordered(asked)),
    }


def _step(asked: Question):  # type: ignore[no-untyped-def]
    def link(name: str, value: Value) -> str:
        return address(narrowed(asked, name, value))

    return link


def _ordered(asked: Question):  # type: ignore[no-untyped-def]
    def order(name: str) -> str:
        turned = not asked.ascending and asked.ranked_by == name
        return address(replace(asked, order=name, ascending=turned))

    return order


def _before(asked: Question, answer: Answer, measure: Measure) -> str:
    """
    How the whole compares with the period before, in words.
    """
    before = answer.period.before()
    if before is None or not measure.adds:
        return ""
    earlier = Question(measures=(measure.name,), where=asked.where, period=before.text)
    return compared(answer, desk().ask(earlier), measure)


def _form(asked: Question) -> Form:
    fields = parameters(asked)
    names = [("", "–"), *known_dimensions(), *((b, f"per {b}") for b in BUCKETS)]
    return Form(
        measures=[Choice(m.name, m.title, m.name == asked.measures[0]) for m in MEASURES],
        by=[Choice(n, text, n == fields["by"]) for n, text in names],
        also=[Choice(n, text, n == fields.get("and", "")) for n, text in names],
        where=fields.get("where", ""),
        period=asked.period,
        periods=PERIODS,
        top=fields["top"],
    )


def _turns(asked: Question, answer: Answer) -> list[Link]:
    before, after = answer.period.before(), answer.period.after()
    links = []
    if before is not None:
        links.append(
            Link(f"◂ {short(before, 'earlier')}", address(replace(asked, period=before.text)))
        )
    now = desk().now
    if after is not None and after.start is not None and after.start < now:
        links.append(Link(f"{short(after, 'later')} ▸", address(replace(asked, period=after.text))))
    for text in ("today", "last 7 days", "last 30 days", "this month", "this year"):
        links.append(Link(text, address(replace(asked, period=text)), text == asked.period))
    return links


def _exports(asked: Question) -> list[Link]:
    return [
        Link("CSV", address(asked, "api_usage", format="csv")),
        Link("JSON", address(asked, "api_usage", format="json")),
        Link("SVG", address(asked, "usage_svg")),
        Link("PNG", address(asked, "usage_png")),
    ]


def _drawing() -> dict[str, object]:
    asked = read(request.args)
    answer = desk().ask(asked)
    first = measure(answer.question.measures[0])
    drawn = picture(asked, answer, first, desk().ask) if answer.rows else None
    if drawn is None:
        raise QuestionError(f"nothing to draw: {asked} has no rows; see {url_for('usage')}")
    return {**drawn, "title": title(answer, [measure(n) for n in asked.measures])}


def as_svg() -> Response:
    response = make_response(draw_file(_drawing()))
    response.headers["Content-Type"] = "image/svg+xml; charset=utf-8"
    return response


def as_png() -> Response:
    response = make_response(draw_png(_drawing()))
    response.headers["Content-Type"] = "image/png"
    return response
