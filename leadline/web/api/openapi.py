"""
The API's own description, made of its routes: /api/v1/openapi.json.
"""

from __future__ import annotations

from collections.abc import Iterable

from werkzeug.wrappers import Response

from leadline.web.api import schemas
from leadline.web.api.answers import VEGA_LITE, as_json
from leadline.web.api.route import Parameter, Route, Schema
from leadline.web.problem import PROBLEM

FORMS = {
    "json": "application/json",
    "csv": "text/csv",
    "svg": "image/svg+xml",
    "png": "image/png",
    "vega": VEGA_LITE,
}
ABOUT = (
    "What really runs on the clusters. A question is asked by its parts or as one line; amounts "
    "are in the unit named beside them; what was not measured is null, never 0."
)


def document(routes: Iterable[Route], version: str) -> Schema:
    paths = {_path(route): {"get": _operation(route)} for route in routes}
    return {
        "openapi": "3.1.0",
        "info": {"title": "leadline", "version": version, "description": ABOUT},
        "servers": [{"url": ".", "description": "where this document lies"}],
        "paths": paths,
        "components": {
            "schemas": {"problem": schemas.PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def served(described: Schema) -> Response:
    return as_json(described)


def _path(route: Route) -> str:
    path = route.path
    for name in route.parts:
        begin, _, rest = path.partition("<")
        path = f"{begin}{{{name}}}{rest.partition('>')[2]}"
    return path


def _operation(route: Route) -> Schema:
    content: Schema = {FORMS[form]: {"schema": {"type": "string"}} for form in route.forms}
    content[FORMS["json"]] = {"schema": route.answer}
    refused = {
        "description": "What cannot be asked, in one line",
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/problem"}}},
    }
    within = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in route.parts
    ]
    return {
        "operationId": route.name,
        "summary": route.meaning,
        "parameters": [*within, *map(_parameter, route.parameters)],
        "responses": {
            "200": {
                "description": "The answer; its ETag saves sending it again",
                "headers": {"ETag": {"schema": {"type": "string"}}},
                "content": content,
            },
            "304": {"description": "As it was"},
            "default": refused,
        },
    }


def _parameter(known: Parameter) -> Schema:
    found: Schema = {
        "name": known.name,
        "in": "query",
        "description": known.meaning,
        "required": known.required,
        "schema": known.schema(),
    }
    if known.example:
        found["example"] = known.example
    return found
