"""
Questions for programs: usage and search, as the pages ask them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

import orjson
from werkzeug.wrappers import Response

from leadline.query import Answer, Question, parse_filters
from leadline.render import render
from leadline.reports.answers import as_json as answer_json
from leadline.reports.answers import as_table, found_json
from leadline.store.plan import Row, Scalar
from leadline.web.api.answers import as_csv, as_json, linked, sent
from leadline.web.asking import desk
from leadline.web.links import read
from leadline.web.paging import after, begin
from leadline.web.paging import cursor as cursor_of

WRITTEN = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE  # as the command line prints it


def usage(format: str, cursor: str, **fields: str) -> Response:
    asked, first = read(fields), begin(cursor)
    answer, following = _piece(asked, first)
    if format == "csv":
        response = as_csv(render(as_table(answer), "csv") + "\n", "usage.csv")
    else:
        document = {**answer_json(answer), "told_before": first, "next": following}
        response = sent(orjson.dumps(document, option=WRITTEN), "application/json")
    return linked(response, following)


def _piece(asked: Question, first: int) -> tuple[Answer, str | None]:
    """
    The rows behind the FIRST ones, which are neither among the rows nor among the others; and the
    cursor of those that follow.
    """
    if asked.top is None:
        return desk().ask(asked), None
    answer, told = desk().ask(replace(asked, top=first + asked.top)), first + asked.top
    if first:
        before = {_key(asked, row) for row in desk().ask(replace(asked, top=first)).rows}
        kept = [_key(asked, row) not in before for row in answer.rows]
        answer = replace(
            answer,
            question=replace(answer.question, top=asked.top),
            rows=tuple(compress(answer.rows, kept)),
            shares=tuple(compress(answer.shares, kept)),
        )
    return answer, cursor_of(after(told)) if answer.others_count else None


def _key(asked: Question, row: Row) -> tuple[Scalar | None, ...]:
    return tuple(row[name] for name in asked.by)


def search(words: str, where: str, period: str, limit: str, cursor: str) -> Response:
    asked = Question(where=parse_filters(where), period=period)
    first = begin(cursor)
    found = desk().search(words[:500], asked, first + int(limit))
    shown = replace(found, hits=found.hits[first:])
    told = first + len(shown.hits)
    following = cursor_of(after(told)) if shown.hits and told < found.total else None
    response = as_json({**found_json(shown, desk().sure(asked)), "next": following})
    return linked(response, following)
