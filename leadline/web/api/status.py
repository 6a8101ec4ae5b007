"""
How the gathering itself is, for `leadline status` from anywhere.
"""

from __future__ import annotations

from dataclasses import asdict

from werkzeug.wrappers import Response

from leadline.formats.times import format_time
from leadline.reports.condition import condition
from leadline.web.api.answers import as_json
from leadline.web.api.route import TEXT, list_of, object_of
from leadline.web.api.schemas import ROW
from leadline.web.asking import desk

STATUS = object_of(
    ("moment", "store", "alerts", "notices", "shippers"),
    moment=TEXT,
    store={"type": "object", "additionalProperties": True},
    alerts=list_of(ROW),
    notices=list_of(ROW),
    shippers=list_of(ROW),
)


def status() -> Response:
    seen, now = desk().scope, desk().now
    found = desk().once(
        ("status", seen, now), lambda: condition(desk().open(), seen, desk().totals, now)
    )
    health = asdict(desk().health())
    return as_json({"moment": format_time(now), "store": health, **asdict(found)})
