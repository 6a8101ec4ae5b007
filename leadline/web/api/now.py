"""
What goes on now, for `leadline top` and whoever draws a wall of screens.
"""

from __future__ import annotations

from dataclasses import asdict

from werkzeug.wrappers import Response

from leadline.formats.times import format_time
from leadline.reports.now import now as look
from leadline.store.plan import Plan, Row
from leadline.web.api.answers import as_json
from leadline.web.api.route import TEXT, list_of, object_of
from leadline.web.api.schemas import ROW
from leadline.web.asking import desk

NOW = object_of(
    ("moment", "processes", "nodes", "gpus"),
    moment=TEXT,
    processes=list_of(ROW),
    nodes=list_of(ROW),
    gpus=list_of(ROW),
)


def now(cluster: str) -> Response:
    seen, moment = desk().scope, desk().now

    def named(plan: Plan) -> list[Row]:
        if seen.totals_only:  # who runs what is not for everybody
            return []
        return desk().once(("plan", plan, seen), lambda: desk().open().ask(plan, seen))

    found = look(named, desk().totals, moment, cluster or None)
    return as_json({"moment": format_time(moment), **asdict(found)})
