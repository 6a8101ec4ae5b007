"""
What was used of each grant day by day, as files: the small lines of the page of allocations.
"""

from __future__ import annotations

from flask import request
from werkzeug.wrappers import Response

from leadline.errors import NothingKnownError
from leadline.reports.burndown import MOST_DRAWN, drawn, table
from leadline.web.api.allocations import seen
from leadline.web.asking import desk
from leadline.web.export import FORMS, as_file
from leadline.web.paging import begin


def show(form: str) -> Response:
    first, now = begin(request.args.get("cursor", "")), desk().now
    found = [one for one in seen(everything=request.args.get("all") == "1")[first:] if one.by_day]
    if form not in FORMS or not found:
        raise NothingKnownError("allocations: nothing was used of any of these grants")
    return as_file(
        form, "allocations-over-time", table(found, now), lambda: drawn(found[:MOST_DRAWN], now)
    )
