"""
The worker's face on the network: documents in, status out. JSON both ways, errors too.
"""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

from enrich.grants import Grant, Grants
from enrich.metrics import metrics_text
from enrich.receiver import Receiver, RefusedError
from leadline.formats.exposition import TYPE

Status = Callable[[], dict[str, object]]


def create_app(
    receiver: Receiver, grants: Grants, status: Status, healthy: Callable[[], bool], longest: int
) -> Flask:
    app = Flask("leadline.worker", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = longest

    def granted() -> Grant:
        grant = grants.of_header(request.headers.get("Authorization"))
        if grant is None:
            raise RefusedError(401, "token", "no token, or one nobody has; see clusters.*.token")
        return grant

    @app.post("/api/v1/documents")
    def documents() -> Response:
        grant = granted()  # before the body is read
        encoding = request.headers.get("Content-Encoding", "").strip().lower()
        return jsonify(receiver.take(request.get_data(cache=False), encoding, grant))

    @app.get("/api/v1/status")
    def show_status() -> Response:
        granted()
        return jsonify(status())

    @app.get("/metrics")
    def show_metrics() -> Response:
        granted()
        return Response(metrics_text(status()), headers={"Content-Type": TYPE})

    @app.get("/healthz")
    def health() -> tuple[Response, int]:
        well = healthy()
        return jsonify({"ok": well}), 200 if well else 503

    @app.errorhandler(RefusedError)
    def refused(error: RefusedError) -> Response:
        response = jsonify({"error": str(error), "code": error.code})
        response.status_code = error.status
        if error.retry_after is not None:
            response.headers["Retry-After"] = str(error.retry_after)
        if error.status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response

    @app.errorhandler(HTTPException)
    def other(error: HTTPException) -> Response:
        response = jsonify({"error": error.description, "code": error.name.lower()})
        response.status_code = error.code or 500
        return response

    return app
