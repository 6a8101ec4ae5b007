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

`GET` and `HEAD` only, below `{BASE}`; `{BASE}/openapi.json` says the same to programs:

```
curl -H "Authorization: Bearer $TOKEN" \\
    'https://stats.example.org/leadline/api/v1/usage?by=user&period=2026-10&format=csv'
```

Amounts are in the unit named beside them; what was not measured is `null`, never 0. Where no
`format` is named, `Accept` chooses among those there are. Answers carry an `ETag`: `If-None-Match`
gets 304. A list longer than `limit` (usage: `top`) ends with `next`, the `cursor` of the piece that
follows (and with a `Link` header, for CSV too).

What is refused is told as `application/problem+json` (RFC 9457), in one line that names the way
out:

| Status | When |
| --- | --- |
| 400 | it cannot be asked; a parameter nobody knows, or given twice, is refused, not passed over |
| 401 | who asks is not known: no token, or a wrong one |
| 403 | who asks may not see it |
| 404 | no such address; a job or a node that nobody ever told of |
| 405 | another method; `Allow` names those there are |
| 414 | the question is longer than 4,000 characters |
| 503 | the store does not answer; ask again later |

Where pages are guarded a program shows a token of its own ([tokens](../web.md#tokens-of-programs)),
with `access: token` the secret. It is told what its pages would tell it.

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
