"""
Every address of the API. To add one: write its view, then its line here; checks and OpenAPI follow.
"""

from __future__ import annotations

from collections.abc import Sequence

from flask import Flask, request
from werkzeug.wrappers import Response

from leadline.query import DEFAULT_PERIOD
from leadline.web.api import (
    allocations,
    asked,
    constants,
    lists,
    names,
    now,
    openapi,
    schemas,
    status,
)
from leadline.web.api.openapi import FORMS
from leadline.web.api.route import ANYTHING, BASE, FORMAT, Parameter, Route

MOST = 1000
JSON_OR_CSV = Parameter(
    name=FORMAT,
    meaning="How to answer, unless Accept says",
    default="json",
    choices=("json", "csv"),
)
WHERE = Parameter(
    name="where", meaning="Filters, as on the usage page", example="cluster=fox, user!=root"
)
CLUSTER = Parameter(name="cluster", meaning="On this one only", example="fox")
CURSOR = Parameter(name="cursor", meaning="Where to go on: `next` of the answer before")


def limit(default: int, most: int = MOST) -> Parameter:
    return Parameter(
        name="limit", meaning="Rows at most", kind="integer", default=str(default), most=most
    )


def period(default: str = DEFAULT_PERIOD, meaning: str = "Which time") -> Parameter:
    return Parameter(name="period", meaning=meaning, default=default, example="2026-10")


ROUTES = (
    Route(
        path="/usage",
        name="usage",
        view=asked.usage,
        meaning="Any measure by any dimension over any period",
        answer=schemas.USAGE,
        parameters=(
            Parameter(
                name="q",
                meaning="The whole question in one line, instead of the other fields",
                example="core_hours_used by program during last 30 days top 10",
                alone=True,
            ),
            Parameter(name="measure", meaning="Measures, by commas", example="core_hours_used"),
            Parameter(name="by", meaning="Dimensions, or a bucket of time", default="program"),
            Parameter(name="and", meaning="A second dimension, or a bucket of time"),
            WHERE,
            period(),
            Parameter(name="top", meaning="Rows, at once", kind="integer", default="10", most=MOST),
            Parameter(name="order", meaning="What to order by", example="users ascending"),
            CURSOR,
            JSON_OR_CSV,
        ),
    ),
    Route(
        path="/search",
        name="search",
        view=asked.search,
        meaning="Distinct command lines by words, phrases and beginnings",
        answer=schemas.FOUND,
        parameters=(
            Parameter(name="words", meaning="What they hold", example="gmx+mdrun", required=True),
            WHERE,
            period(),
            limit(50, 100),
            CURSOR,
        ),
    ),
    Route(
        path="/jobs",
        name="jobs",
        view=lists.jobs,
        meaning="Runs that ended in the period, or run now, the newest first",
        answer=schemas.listed(schemas.JOB),
        parameters=(
            WHERE,
            period("last 24 hours", "When they ended; `now`: those that run"),
            Parameter(name="named", meaning="How its name begins, or its number", example="train"),
            Parameter(name="shortest", meaning="Minutes they ran at least", kind="integer"),
            limit(50),
            CURSOR,
            JSON_OR_CSV,
        ),
    ),
    Route(
        path="/jobs/<path:job>",
        name="job",
        view=lists.job,
        meaning="What happened with one job: asked, used, over time, advice",
        answer=ANYTHING,
        parameters=(
            Parameter(name="run", meaning="One run of an id that was used again"),
            Parameter(
                name="format",
                meaning="How to answer; all but json tell its use over time",
                default="json",
                choices=("json", "csv", "svg", "png", "vega"),
            ),
        ),
    ),
    Route(
        path="/nodes",
        name="nodes",
        view=lists.nodes,
        meaning="Nodes as the scheduler saw them: state with every flag, reason, availability",
        answer=schemas.listed(schemas.NODE),
        parameters=(WHERE, period("last 7 days"), limit(100), CURSOR, JSON_OR_CSV),
    ),
    Route(
        path="/findings",
        name="findings",
        view=lists.findings,
        meaning="What somebody should look at, the worst first",
        answer=schemas.listed(schemas.FINDING),
        parameters=(
            period("last 24 hours"),
            Parameter(name="kind", meaning="Kinds, by commas", example="idle GPUs"),
            CLUSTER,
            limit(100),
            CURSOR,
            JSON_OR_CSV,
        ),
    ),
    Route(
        path="/now",
        name="now",
        view=now.now,
        meaning="Who runs what where, how busy nodes and cards are, by the last minutes' samples",
        answer=now.NOW,
        parameters=(CLUSTER,),
    ),
    Route(
        path="/status",
        name="status",
        view=status.status,
        meaning="Alerts that fire, shippers and their complaints, the store",
        answer=status.STATUS,
    ),
    Route(
        path="/measures",
        name="measures",
        view=names.measures,
        meaning="What can be measured",
        answer=schemas.MEASURES,
    ),
    Route(
        path="/dimensions",
        name="dimensions",
        view=names.dimensions,
        meaning="What it can be told apart by",
        answer=schemas.DIMENSIONS,
    ),
    Route(
        path="/values",
        name="values",
        view=names.values,
        meaning="Values of a dimension that begin with, or hold, what was typed",
        answer=schemas.VALUES,
        parameters=(
            Parameter(name="dimension", meaning="Of what", example="user", required=True),
            Parameter(name="starts", meaning="What was typed", example="al"),
            period(),
            limit(20, 100),
        ),
    ),
    Route(
        path="/allocations",
        name="allocations",
        view=allocations.allocations,
        meaning="Grants in force: used, left, at which pace, and what their end will see",
        answer=schemas.listed(schemas.ALLOCATION),
        parameters=(
            Parameter(name="all", meaning="1: old and coming ones as well", choices=("", "1")),
            limit(200),
            CURSOR,
            JSON_OR_CSV,
        ),
    ),
    Route(
        path="/constants",
        name="constants",
        view=constants.constants,
        meaning="Grants, figures of the site, how many nodes, cores and cards there are",
        answer=schemas.CONSTANTS,
    ),
)


def add_api(app: Flask) -> None:
    for route in ROUTES:
        app.add_url_rule(BASE + route.path, f"api_{route.name}", _view(route))
    described = openapi.document(ROUTES, app.config["VERSION"])
    app.add_url_rule(f"{BASE}/openapi.json", "api_openapi", lambda: openapi.served(described))


def _view(route: Route):  # type: ignore[no-untyped-def]
    def view(**parts: str) -> Response:
        given = request.args.to_dict(flat=False)
        if len(route.forms) > 1 and not any(given.get(FORMAT, ())):
            given[FORMAT] = [accepted(route.forms)]
        return route.view(**parts, **route.read(given))

    return view


def accepted(forms: Sequence[str]) -> str:
    """
    The form that the request's Accept header likes best; JSON where it likes none of them.
    """
    kind = request.accept_mimetypes.best_match([FORMS[form] for form in forms])
    return next((form for form in forms if FORMS[form] == kind), forms[0])
