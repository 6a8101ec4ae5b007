"""
Answers for programs: JSON with everything an answer says, CSV with its rows.
"""

from __future__ import annotations

import csv
from io import StringIO

import orjson

from leadline.formats.times import format_time
from leadline.query import Answer
from leadline.store.plan import Scalar

# A spreadsheet takes a cell that begins so for a formula and runs it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_json(answer: Answer) -> bytes:
    period = answer.period
    document = {
        "question": str(answer.question),
        "period": {
            "text": period.text,
            "start": format_time(period.start) if period.start else None,
            "end": format_time(period.end) if period.end else None,
            "zone": str(period.zone),
        },
        "rows": list(answer.rows),
        "others": answer.others,
        "others_count": answer.others_count,
        "total": answer.total,
        "coverage": answer.coverage.share,
        "newest": answer.coverage.newest,
        "provisional": answer.provisional,
        "notes": list(answer.notes),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def to_csv(answer: Answer) -> str:
    """
    Rows, then others and the total, named so in the first column.
    """
    asked = answer.question
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*asked.keys, *asked.measures])
    for row in answer.rows:
        names = [safe_cell(answer.label(name, row[name])) for name in asked.keys]
        writer.writerow([*names, *(_figure(row.get(m)) for m in asked.measures)])
    for name, values in (("others", answer.others), ("total", answer.total)):
        if values is not None and asked.keys:
            blank = [""] * (len(asked.keys) - 1)
            writer.writerow([name, *blank, *(_figure(values.get(m)) for m in asked.measures)])
    return out.getvalue()


def safe_cell(text: str) -> str:
    """
    TEXT as one cell that no spreadsheet runs.
    """
    flat = " ".join(text.splitlines())
    return f"'{flat}" if flat.startswith(FORMULA) else flat


def _figure(value: Scalar | None) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) and abs(value) < 1000 else f"{value}"
