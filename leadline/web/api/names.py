"""
What can be asked, and the names a filter may hold: for forms that complete what is typed.
"""

from __future__ import annotations

from werkzeug.wrappers import Response

from leadline.query import DIMENSIONS, MEASURES, Question, dimension
from leadline.web.api.answers import as_json
from leadline.web.asking import desk

OFFERED = 500  # the greatest, among which what was typed is looked for


def measures() -> Response:
    return as_json(
        {
            "rows": [
                {"name": m.name, "title": m.title, "unit": m.unit, "meaning": m.sentence}
                for m in MEASURES
            ]
        }
    )


def dimensions() -> Response:
    rows = [{"name": d.name, "title": d.title, "meaning": d.sentence} for d in DIMENSIONS]
    return as_json({"rows": rows})


def values(dimension: str, starts: str, period: str, limit: str) -> Response:
    """
    The asker's own scope decides which names there are.
    """
    name = _canonical(dimension)
    answer = desk().ask(Question(("core_hours_used",), (name,), period=period, top=OFFERED))
    found = [str(row[name]) for row in answer.rows if row[name] is not None]
    begun = starts.lower()
    fits = [value for value in found if value.lower().startswith(begun)]
    fits += [value for value in found if begun in value.lower() and value not in fits]
    return as_json({"dimension": name, "values": fits[: int(limit)]})


def _canonical(name: str) -> str:
    return dimension(name).name
