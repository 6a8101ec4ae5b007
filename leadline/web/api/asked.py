"""
Questions for programs: usage and search, as the pages ask them.
"""

from __future__ import annotations

from dataclasses import replace

import orjson
from werkzeug.wrappers import Response

from leadline.query import Question, parse_filters
from leadline.render import render
from leadline.reports.answers import as_json as answer_json
from leadline.reports.answers import as_table, found_json
from leadline.web.api.answers import as_csv, as_json, linked, sent
from leadline.web.asking import desk
from leadline.web.links import read
from leadline.web.paging import after, begin
from leadline.web.paging import cursor as cursor_of

WRITTEN = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE  # as the command line prints it


def usage(format: str, **fields: str) -> Response:
    answer = desk().ask(read(fields))
    if format == "csv":
        return as_csv(render(as_table(answer), "csv") + "\n", "usage.csv")
    return sent(orjson.dumps(answer_json(answer), option=WRITTEN), "application/json")


def search(words: str, where: str, period: str, limit: str, cursor: str) -> Response:
    asked = Question(where=parse_filters(where), period=period)
    first = begin(cursor)
    found = desk().search(words[:500], asked, first + int(limit))
    shown = replace(found, hits=found.hits[first:])
    told = first + len(shown.hits)
    following = cursor_of(after(told)) if shown.hits and told < found.total else None
    response = as_json({**found_json(shown, desk().sure(asked)), "next": following})
    return linked(response, following)
