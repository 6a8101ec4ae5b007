"""
The same questions for programs: JSON and CSV.
"""

from __future__ import annotations

from dataclasses import asdict

import orjson
from flask import Response, make_response, request
from werkzeug.wrappers import Response as AnyResponse

from leadline.errors import QuestionError
from leadline.query import DEFAULT_PERIOD, Question, parse_filters
from leadline.web.asking import desk
from leadline.web.export import to_csv, to_json
from leadline.web.links import read
from leadline.web.pages.jobs import LIMIT as MOST
from leadline.web.pages.jobs import job_list


def usage() -> AnyResponse:
    """
    /api/v1/usage: the question as the page asks it, or as one line in `q`.
    """
    form = request.args.get("format", "json")
    if form not in {"json", "csv"}:
        raise QuestionError(f"format {form[:20]}: write json or csv")
    answer = desk().ask(read(request.args))
    if form == "csv":
        response = make_response(to_csv(answer))
        response.headers["Content-Type"] = "text/csv; charset=utf-8"
        response.headers["Content-Disposition"] = 'attachment; filename="usage.csv"'
    else:
        response = make_response(to_json(answer))
        response.headers["Content-Type"] = "application/json"
    response.add_etag()
    return response.make_conditional(request)


def search() -> AnyResponse:
    """
    /api/v1/search: distinct command lines by `words`, with `where` and `period` as elsewhere.
    """
    words = request.args.get("words", "").strip()[:500]
    if not words:
        raise QuestionError("words: name what the command lines shall hold, ?words=gmx+mdrun")
    period = request.args.get("period", "").strip() or DEFAULT_PERIOD
    asked = Question(where=parse_filters(request.args.get("where", "")), period=period)
    found = desk().search(words, asked, limit())
    return told({"total": found.total, "hits": [asdict(hit) for hit in found.hits]})


def jobs() -> AnyResponse:
    """
    /api/v1/jobs: runs that ended in `period`, or run `now`, the newest first.
    """
    period = request.args.get("period", "").strip() or "last 24 hours"
    return told({"rows": job_list(request.args.get("where", ""), period, 0)[: limit()]})


def limit() -> int:
    text = request.args.get("limit", "50")
    if not text.isdigit() or not 1 <= int(text) <= MOST:
        raise QuestionError(f"limit {text[:20]}: write a number from 1 to {MOST}")
    return int(text)


def told(document: dict[str, object]) -> AnyResponse:
    response = make_response(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
    response.headers["Content-Type"] = "application/json"
    response.add_etag()
    return response.make_conditional(request)


def healthz() -> Response:
    """
    200 when the store answers, 503 when not; what it says is for people.
    """
    health = desk().health()
    response = make_response(
        {"ok": health.ok, "store": health.store, "problems": list(health.problems)}
    )
    response.status_code = 200 if health.ok else 503
    return response
