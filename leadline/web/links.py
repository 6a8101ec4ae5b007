"""
Addresses: a page's address is its question, and every part of it can be changed by a link.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from flask import request, url_for

from leadline.errors import QuestionError
from leadline.query import measure
from leadline.query.compile import canonical
from leadline.query.dimensions import dimension
from leadline.query.question import (
    BUCKETS,
    Filter,
    Question,
    Value,
    parse_filters,
    parse_question,
    question,
)
from leadline.query.refusals import knows
from leadline.reports.kinds import KINDS
from leadline.reports.picture import CLOCK
from leadline.web.asking import desk

DEFAULT_TOP = 10
PICTURES = (("SVG", "usage_svg"), ("PNG", "usage_png"), ("Vega-Lite", "usage_vega"))
PICTURE = "picture"  # the field of the form that chooses one
MOST_ROWS = 1000
WEEK = 7 * 24
UNSAID = {"measure": "core_hours_used", "top": str(DEFAULT_TOP)}
# Where a click on a name leads: from whole to part.
NEXT = {
    "program": "user",
    "user": "program",
    "host": "program",
    "project": "user",
    "group": "user",
    "cluster": "host",
    "job": "program",
    "partition": "program",
    "tag": "program",
}


def parameters(asked: Question) -> dict[str, str]:
    """
    The fields of the form that ask this question.
    """
    by = [*asked.by, *([asked.bucket] if asked.bucket else [])]
    found = {"measure": ",".join(asked.measures), "by": by[0] if by else ""}
    if len(by) > 1:
        found["and"] = ",".join(by[1:])
    if asked.where:
        found["where"] = ", ".join(str(known) for known in asked.where)
    found["period"] = asked.period
    found["top"] = str(asked.top or DEFAULT_TOP)
    if asked.order or asked.ascending:
        found["order"] = asked.ranked_by + (" ascending" if asked.ascending else "")
    return found


def address(asked: Question, endpoint: str = "usage", **more: str) -> str:
    """
    The address that asks it; what goes without saying is left out. The picture that a reader chose
    stays chosen, whatever else of the question changes.
    """
    if (kind := chosen()) and endpoint in ("usage", *(name for _text, name in PICTURES)):
        more[PICTURE] = kind
    kept = {name: text for name, text in parameters(asked).items() if text != UNSAID.get(name)}
    return f"{url_for(endpoint)}?{urlencode(kept | more)}"


def exports(asked: Question, **more: str) -> list[tuple[str, str]]:
    """
    The same question as files; MORE is what their picture needs to be told.
    """
    forms = [(form.upper(), address(asked, "api_usage", format=form)) for form in ("csv", "json")]
    if desk().scope.least:
        return forms
    return [*forms, *((text, address(asked, name, **more)) for text, name in PICTURES)]


def chosen() -> str:
    """
    The kind of picture this request asks for; empty: the one that fits best.
    """
    kind = request.args.get(PICTURE, "")
    return kind if kind in KINDS else ""


def read(fields: Mapping[str, str]) -> Question:
    """
    The question a form or an address asks, every name in its one spelling; `q` holds the whole of
    it as one line.
    """
    if line := fields.get("q", "").strip():
        return canonical(parse_question(line))
    by = [*_list(fields.get("by", "program")), *_list(fields.get("and", ""))]
    order, _, direction = fields.get("order", "").partition(" ")
    top = fields.get("top", "").strip() or str(DEFAULT_TOP)
    if not top.isdigit() or not 1 <= int(top) <= MOST_ROWS:
        raise QuestionError(f"top {top[:20]}: write a number from 1 to {MOST_ROWS}")
    if clock := [name for name in by if name in CLOCK]:
        # Hours and weekdays are few and have an order of their own.
        top, order = str(WEEK), order or clock[0]
        direction = direction or ("ascending" if order in CLOCK else "")
    return canonical(
        question(
            measures=tuple(_list(fields.get("measure", ""))),
            by=tuple(dict.fromkeys(by)),
            where=parse_filters(fields.get("where", "")),
            period=fields.get("period", "") or desk().usual_period,
            top=int(top),
            order=order,
            ascending=direction == "ascending",
        )
    )


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip() not in {"", "-", "–"}]


def narrowed(asked: Question, dimension: str, value: Value) -> Question:
    """
    One step into a row: only this value, told apart by what people ask next.
    """
    if dimension in BUCKETS:
        return asked
    kept = tuple(known for known in asked.where if known.dimension != dimension)
    taken = {known.dimension for known in kept} | {dimension}
    wanted = NEXT.get(dimension, "program")
    if dimension == "program" and value is None:
        wanted = "shape"  # commands no rule names, alike ones together: what to write rules for
    parts = (wanted, "user", "host", "program", "job", "partition")
    by = next((name for name in parts if name not in taken and _told_by(asked, name)), wanted)
    clock = any(name in CLOCK for name in asked.by)  # its rows were all there are, not the top
    return replace(
        asked,
        by=(by,),
        bucket=None,
        where=(*kept, Filter(dimension, (value,))),
        top=DEFAULT_TOP if clock else asked.top,
        order="",
        ascending=False,
    )


def _told_by(asked: Question, name: str) -> bool:
    """
    Whether all that is asked for is told apart by it: schedulers know of no programs.
    """
    return all(knows(measure(known), dimension(name)) for known in asked.measures)


def told_of(name: str, value: Value, period: str) -> str:
    """
    The address of what is known of one thing: a user's programs, a program's users.
    """
    return address(narrowed(Question(period=period), name, value))


def jobs_of(user: str, period: str) -> str:
    return url_for("jobs", where=str(Filter("user", (user,))), period=period)


def without(asked: Question, dropped: Filter) -> Question:
    return replace(asked, where=tuple(known for known in asked.where if known != dropped))
