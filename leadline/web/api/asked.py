"""
Questions for programs: usage and search, as the pages ask them.
"""

from __future__ import annotations

from werkzeug.wrappers import Response

from leadline.query import Question, parse_filters
from leadline.reports.answers import found_json
from leadline.web.api.answers import as_csv, as_json, sent
from leadline.web.asking import desk
from leadline.web.export import to_csv, to_json
from leadline.web.links import read


def usage(format: str, **fields: str) -> Response:
    answer = desk().ask(read(fields))
    if format == "csv":
        return as_csv(to_csv(answer), "usage.csv")
    return sent(to_json(answer), "application/json")


def search(words: str, where: str, period: str, limit: str) -> Response:
    asked = Question(where=parse_filters(where), period=period)
    found = desk().search(words[:500], asked, int(limit))
    return as_json(found_json(found, desk().sure(asked)))
