"""
docs/reference/api.md, written from the routes: `python -m leadline.web.reference`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from leadline.web.api import ROUTES
from leadline.web.api.route import BASE, Parameter, Route

PAGE = Path("docs") / "reference" / "api.md"
MADE = "<!-- generated from leadline/web by `python -m leadline.web.reference` -->"

API = f"""{MADE}
# The API

`GET` only, below `{BASE}`; `{BASE}/openapi.json` says the same to programs. Amounts are in
the unit named beside them; what was not measured is `null`, never 0. Answers carry an `ETag`:
`If-None-Match` gets 304. A list longer than `limit` ends with `next`, the `cursor` of the piece
that follows (and with a `Link` header, for CSV too). What cannot be asked is answered with
`application/problem+json` (RFC 9457) in one line; a parameter nobody knows is refused.

With `access: token` programs send `Authorization: Bearer …`. Everybody is told what their pages
would tell them.

"""


def api_page() -> str:
    return API + "\n".join(line for route in ROUTES for line in _route(route))


def _route(route: Route) -> Iterator[str]:
    yield f"## `{BASE}{route.path}`\n"
    yield f"{route.meaning}.\n"
    if route.parameters:
        yield "| Parameter | Means | Default |"
        yield "| --- | --- | --- |"
        yield from map(_parameter, route.parameters)
        yield ""


def _parameter(known: Parameter) -> str:
    default = f"`{known.default}`" if known.default else "needed" if known.required else "–"
    if known.choices:
        default += f" ({', '.join(known.choices)})"
    if known.most is not None:
        default += f" (at most {known.most})"
    example = f", as `{known.example}`" if known.example else ""
    return f"| `{known.name}` | {known.meaning}{example} | {default} |"


if __name__ == "__main__":
    PAGE.write_text(api_page(), encoding="utf-8")
