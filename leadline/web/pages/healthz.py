"""
Whether the store answers: 200 or 503, for who watches the service; what it says is for people.
"""

from __future__ import annotations

from flask import Response, make_response

from leadline.web.asking import desk


def show() -> Response:
    health = desk().health()
    response = make_response(
        {"ok": health.ok, "store": health.store, "problems": list(health.problems)}
    )
    response.status_code = 200 if health.ok else 503
    return response
