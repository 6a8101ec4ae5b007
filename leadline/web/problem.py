"""
What went wrong, told to a program: RFC 9457.
"""

from __future__ import annotations

import orjson
from flask import Response, make_response

PROBLEM = "application/problem+json"


def problem(code: int, title: str, detail: str) -> Response:
    told = {"type": "about:blank", "title": title, "status": code, "detail": detail}
    response = make_response(orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE))
    response.headers["Content-Type"] = PROBLEM
    response.status_code = code
    return response
