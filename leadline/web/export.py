"""
Answers for programs: the same JSON and CSV the command line prints.
"""

from __future__ import annotations

import orjson

from leadline.query import Answer
from leadline.render import render
from leadline.reports.answers import as_json, as_table


def to_json(answer: Answer) -> bytes:
    return orjson.dumps(as_json(answer), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def to_csv(answer: Answer) -> str:
    return render(as_table(answer), "csv") + "\n"
