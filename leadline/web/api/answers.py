"""
How the API answers: JSON or CSV with an ETag, long lists in pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import orjson
from flask import make_response, request
from werkzeug.wrappers import Response

from leadline.query.sure import Sure
from leadline.render import Column, Table, render
from leadline.render.table import Value
from leadline.reports.answers import sure_json
from leadline.web.paging import Piece, Rows, cursor, place_of

VEGA_LITE = "application/vnd.vegalite.v5+json"


def sent(body: bytes | str, kind: str, file: str = "") -> Response:
    """
    BODY, or 304 to who has it already.
    """
    response = make_response(body)
    response.headers["Content-Type"] = kind
    if file:
        response.headers["Content-Disposition"] = f'attachment; filename="{file}"'
    response.vary.add("Accept")
    response.add_etag()
    return response.make_conditional(request)


def as_json(document: object) -> Response:
    return sent(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE), "application/json")


def as_csv(text: str, file: str) -> Response:
    return sent(text, "text/csv; charset=utf-8", file)


def as_vega_lite(spec: bytes, file: str) -> Response:
    return sent(spec, VEGA_LITE, file)


def listed(
    piece: Piece, form: str, columns: Sequence[Column], name: str, sure: Sure | None = None
) -> Response:
    """
    A piece as JSON with its `next` cursor, or as CSV; both name the next address in `Link`.
    """
    following = cursor(piece.after) if piece.after else None
    if form == "csv":
        rows: tuple[dict[str, Value], ...] = tuple(dict(row) for row in piece.rows)  # type: ignore[arg-type]
        response = as_csv(render(Table(tuple(columns), rows), "csv") + "\n", f"{name}.csv")
    else:
        response = as_json(
            {"rows": piece.rows, "next": following, **(sure_json(sure) if sure else {})}
        )
    return linked(response, following)


def linked(response: Response, following: str | None) -> Response:
    """
    RESPONSE with the address of what follows the cursor, if something does.
    """
    if following is not None:
        fields = {**request.args.to_dict(), "cursor": following}
        address = f"{request.root_path}{request.path}?{urlencode(fields)}"
        response.headers["Link"] = f'<{address}>; rel="next"'
    return response


def cut(rows: Rows, keys: Sequence[str], limit: int, after: str) -> Piece:
    """
    The rows behind the cursor AFTER, of a list in the order of KEYS, all of them text.
    """
    place = place_of(after, [str] * len(keys))

    def key(row: Mapping[str, object]) -> list[str]:
        return [str(row[name]) for name in keys]

    rest = [row for row in sorted(rows, key=key) if place is None or key(row) > place]  # type: ignore[operator]
    shown = rest[:limit]
    return Piece(shown, key(shown[-1]) if len(rest) > limit else ())
