"""
Grants with what was used of them, for programs and for the page of allocations.

Who sees only her own is told of the projects she works for, as a whole: a grant is spent by all.
"""

from __future__ import annotations

from collections.abc import Sequence

from werkzeug.wrappers import Response

from leadline.reports.allocations import COLUMNS, Allocation, rows
from leadline.reports.allocations import allocations as told
from leadline.reports.grants import Grant
from leadline.web.api.answers import listed
from leadline.web.api.constants import grants
from leadline.web.asking import TOTALS, desk
from leadline.web.paging import begin, piece


def allocations(all: str, limit: str, cursor: str, format: str) -> Response:
    first = begin(cursor)
    found = [dict(row) for row in rows(seen(everything=all == "1"))]
    return listed(piece(found, first, int(limit)), format, COLUMNS, "allocations")


def seen(*, everything: bool) -> Sequence[Allocation]:
    """
    Grants in force, or old and coming ones as well, of all projects or those the reader works for.
    """
    now = desk().now
    mine = [one for one in grants(now) if everything or one.start <= now < one.end]
    store, settings = desk().open(), desk().site.allocations
    return desk().once(
        ("allocations", tuple(_key(one) for one in mine), now),
        lambda: told(store, TOTALS, mine, now, settings),
    )


def _key(one: Grant) -> tuple[object, ...]:
    return one.project, one.places, one.start, one.end, one.measure
