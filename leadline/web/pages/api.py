"""
The same questions for programs: JSON and CSV.
"""

from __future__ import annotations

from flask import Response, make_response, request
from werkzeug.wrappers import Response as AnyResponse

from leadline.errors import QuestionError
from leadline.web.asking import desk
from leadline.web.export import to_csv, to_json
from leadline.web.links import read


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
