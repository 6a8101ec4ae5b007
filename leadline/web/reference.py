"""
docs/reference/api.md and metrics.md, written from the tables: `python -m leadline.web.reference`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from leadline.web.api import ROUTES
from leadline.web.api.route import BASE, Parameter, Route
from leadline.web.pages.metrics import METRICS

FOLDER = Path("docs") / "reference"
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

METRIC = f"""{MADE}
# Metrics

`/metrics` of `leadline serve`, for Prometheus: no names of people, asked for at most once in
some seconds however many scrape it. What was not measured is left out, never 0.

| Metric | Labels | Tells |
| --- | --- | --- |
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


def metrics_page() -> str:
    rows = [f"| `{name}` | – | {meaning} |" for name, meaning in METRICS.items()]
    return METRIC + "\n".join(rows) + "\n"


def files() -> dict[Path, str]:
    return {FOLDER / "api.md": api_page(), FOLDER / "metrics.md": metrics_page()}


if __name__ == "__main__":
    for page, text in files().items():
        page.write_text(text, encoding="utf-8")
