"""
Whether the store answers: 200 or 503, for who watches the service. What is wrong, in the engine's
own words, is told where everybody sees everything.
"""

from __future__ import annotations

from flask import Response, make_response

from leadline.web.asking import desk


def show() -> Response:
    health = desk().health()
    told: dict[str, object] = {"ok": health.ok, "store": health.store}
    if desk().scope.everything:
        told["problems"] = list(health.problems)
    response = make_response(told)
    response.status_code = 200 if health.ok else 503
    return response
