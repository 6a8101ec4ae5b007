"""
The picture of a question: in the page, in a picture of its own where it would be too heavy for one,
and as files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from flask import Response, make_response, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from leadline.errors import QuestionError
from leadline.language import _
from leadline.query import Answer, measure
from leadline.query.measure import Measure
from leadline.query.question import Question
from leadline.render.charts import draw_file, draw_png, draw_svg, draw_vega
from leadline.reports.granted import with_grants
from leadline.reports.kinds import KINDS
from leadline.reports.picture import in_page, picture, visible
from leadline.web.api.answers import as_vega_lite
from leadline.web.api.constants import grants
from leadline.web.asking import desk
from leadline.web.links import address, chosen, read
from leadline.web.sentences import per, title

MOST_DRAWN = 60_000  # bytes of a chart within a page


@dataclass(frozen=True, slots=True)
class Drawn:
    """
    A chart, or the address of one that is too heavy for a page; words where it is not what was
    asked for.
    """

    chart: str = ""
    image: str = ""
    told: str = ""
    vega: str = ""  # the address of its specification
    files: bool = True  # whether it can be fetched by itself, be it not in the page


UNDRAWN = Drawn()


def drawn_of(asked: Question, answer: Answer, told: str) -> Drawn:
    """
    The picture beside the table, TOLD in words as its title.
    """
    if desk().scope.least:
        return UNDRAWN
    first = measure(answer.question.measures[0])
    spec, notes = _picture(asked, answer, first)
    chart = draw_svg(spec, told) if spec else ""
    if spec is None and not chosen():
        notes = []  # a table alone is what fits
    known = Drawn(chart, told=" ".join(notes), vega=address(asked, "usage_vega"))
    if spec is None and picture(asked, answer, first, desk().ask) is None:
        return replace(known, files=False)
    heavy = len(chart) > MOST_DRAWN
    return replace(known, chart="", image=address(asked, "usage_png")) if heavy else known


def _picture(
    asked: Question, answer: Answer, measure: Measure
) -> tuple[dict[str, object] | None, list[str]]:
    """
    What is drawn, and words where it is not what was asked for.
    """
    kind, ask = chosen(), desk().ask
    finely, notes = asked.bucket, []
    asked, answer = visible(asked, answer, ask)
    if asked.bucket != finely:
        words = _("Drawn {steps}: finer steps could not be told apart. Table and files have them.")
        notes.append(words.format(steps=per(str(asked.bucket))))
    if not kind:
        return _granted(in_page(asked, answer, measure, ask), asked, answer, measure), notes
    if (drawn := KINDS[kind](asked, answer, measure, ask)) is not None:
        return _granted(drawn, asked, answer, measure), notes
    other = _("This cannot be drawn as {picture}: here is what fits.")
    notes.append(other.format(picture=pictures()[kind]))
    return picture(asked, answer, measure, ask), notes


def _granted(
    drawn: dict[str, object] | None, asked: Question, answer: Answer, measure: Measure
) -> dict[str, object] | None:
    if drawn is None:
        return None
    return with_grants(drawn, asked, answer, measure, grants(desk().now), desk().clusters())


def pictures() -> dict[str, str]:
    return {
        "": _("as fits"),
        "area": _("area"),
        "bars": _("bars"),
        "box": _("box"),
        "dots": _("dots"),
        "heat": _("heat map"),
        "histogram": _("histogram"),
        "lines": _("lines"),
        "pie": _("pie"),
    }


def _drawing() -> dict[str, object]:
    asked = read(request.args)
    asked, answer = visible(asked, desk().ask(asked), desk().ask)
    first = measure(answer.question.measures[0])
    drawn = picture(asked, answer, first, desk().ask, chosen()) if answer.rows else None
    drawn = _granted(drawn, asked, answer, first)
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


def as_vega() -> AnyResponse:
    return as_vega_lite(draw_vega(_drawing()), "usage.vl.json")
