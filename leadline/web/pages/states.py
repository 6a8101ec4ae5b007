"""
The states of a node as files: the table of all of them, and the line they make.
"""

from __future__ import annotations

from datetime import datetime

from flask import request
from werkzeug.wrappers import Response

from leadline.errors import NothingKnownError
from leadline.formats.times import format_time
from leadline.render import Column, Table
from leadline.render.charts.spans import states
from leadline.reports.picture import Spec, clock_time
from leadline.reports.timeline import Span, apart
from leadline.web.asking import desk
from leadline.web.export import FORMS, as_file
from leadline.web.pages.course import DEFAULT, ends, place_of
from leadline.web.pages.fleet import told

MOST_DRAWN = 720  # pieces
COLUMNS = tuple(
    Column(name, name)
    for name in ("from", "to", "seconds", "state", "class", "reason", "by", "reservations")
)


def show(cluster: str, host: str, form: str) -> Response:
    start, end = ends(desk().period(request.args.get("period", "").strip() or DEFAULT))
    known = told(start, end, *place_of(cluster, host))
    if form not in FORMS or (cluster, host) not in known.changes:
        raise NothingKnownError(f"node {cluster}/{host}: no scheduler told of it in this period")
    spans = known.timeline((cluster, host))
    return as_file(form, f"{cluster}/{host}-states", _table(spans), lambda: _drawn(spans))


def _table(spans: list[Span]) -> Table:
    rows = tuple(
        {
            "from": _written(span.start),
            "to": _written(span.end),
            "seconds": span.seconds,
            "state": span.state or None,
            "class": span.time,
            "reason": span.reason or None,
            "by": (desk().scope.everything and span.reason_user) or None,
            "reservations": " ".join(span.reservations) or None,
        }
        for span in spans
    )
    return Table(COLUMNS, rows)


def _drawn(spans: list[Span]) -> Spec:
    zone = desk().site.zone

    def shown(seconds: float) -> str:
        return clock_time(datetime.fromtimestamp(seconds, zone), zone)

    return states(
        [
            {
                "from": shown(span.start),
                "to": shown(span.end),
                "state": f"{span.state} {span.reason}".strip(),
                "time": span.time,
            }
            for span in apart(spans, MOST_DRAWN)
        ]
    )


def _written(seconds: float) -> str:
    return format_time(datetime.fromtimestamp(seconds, desk().site.zone))
