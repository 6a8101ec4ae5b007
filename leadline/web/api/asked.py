"""
Questions for programs: usage and search, as the pages ask them.
"""

from __future__ import annotations

from dataclasses import replace

from werkzeug.wrappers import Response

from leadline.query import Question, parse_filters
from leadline.reports.answers import found_json
from leadline.web.api.answers import as_csv, as_json, linked, sent
from leadline.web.asking import desk
from leadline.web.export import to_csv, to_json
from leadline.web.links import read
from leadline.web.paging import after, begin
from leadline.web.paging import cursor as cursor_of


def usage(format: str, **fields: str) -> Response:
    answer = desk().ask(read(fields))
    if format == "csv":
        return as_csv(to_csv(answer), "usage.csv")
    return sent(to_json(answer), "application/json")


def search(words: str, where: str, period: str, limit: str, cursor: str) -> Response:
    asked = Question(where=parse_filters(where), period=period)
    first = begin(cursor)
    found = desk().search(words[:500], asked, first + int(limit))
    shown = replace(found, hits=found.hits[first:])
    told = first + len(shown.hits)
    following = cursor_of(after(told)) if shown.hits and told < found.total else None
    response = as_json({**found_json(shown, desk().sure(asked)), "next": following})
    return linked(response, following)
